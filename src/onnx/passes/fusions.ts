import { type Attribute, DTYPE_OF_CODE, type Node, type Value } from "../types.js";
/**
 * Rewrites while a graph is emitted: a node that completes a known pattern becomes one operator of ONNX Runtime, in our
 * own graphs and in imported ones alike. The replaced nodes lose their reader and are removed as dead.
 */

import { Emitter } from "../emit.js";
import { GraphBuilder } from "../graph.js";
import { attentionInBlocks, type BlockOptions } from "./attention-blocks.js";

type Inputs = readonly (Value | undefined)[];
type Attributes = Readonly<Record<string, Attribute>>;
/** @returns the replacement of the node's output, or undefined where the pattern does not match. */
type Fusion = (g: GraphBuilder, inputs: Inputs, attributes: Attributes) => Value | undefined;

/** A graph builder that fuses. */
export class FusingBuilder extends GraphBuilder {
  /** @param causal set where `attention_bias` [B, 1, N, N] blocks all later tokens: attention is computed in blocks. */
  constructor(
    name: string,
    private readonly causal: BlockOptions | undefined = undefined,
  ) {
    super(name);
  }

  override node(
    op: string,
    inputs: Inputs,
    attributes: Attributes = {},
    options: { domain?: string; count?: number; name?: string } = {},
  ): Value[] {
    const fusion = FUSIONS[op];
    const path = options.name?.replace(/^\//, "");
    const fuse = (): Value | undefined =>
      op === "MatMul" && this.causal !== undefined
        ? attentionInBlocks(this, inputs, this.causal)
        : fusion?.(this, inputs, attributes);
    const fused = path === undefined ? fuse() : this.scope(path, fuse);
    return fused === undefined ? super.node(op, inputs, attributes, options) : [fused];
  }
}

/** A product's operands, in both orders. */
const orders = ([a, b]: Inputs): [Value, Value][] =>
  a === undefined || b === undefined
    ? []
    : [
        [a, b],
        [b, a],
      ];

/** Returns the producer of a value, if it is one of these ops. */
function behind(g: GraphBuilder, value: Value | undefined, ...ops: readonly string[]): Node | undefined {
  const node = value && g.producer(value);
  return node !== undefined && ops.includes(node.op) ? node : undefined;
}

/** Returns the number in a known scalar. */
const numberOf = (value: Value | undefined): number | undefined =>
  value?.shape.every((d) => d === 1) ? (value.content?.[0] as number | undefined) : undefined;

const isLast = (axis: unknown, value: Value): boolean => Number(axis) === -1 || Number(axis) === value.shape.length - 1;

/** x sigmoid(x) (SiLU) as QuickGelu, which computes both in one pass. */
const silu: Fusion = (g, inputs) => {
  for (const [x, s] of orders(inputs)) {
    const by = behind(g, s, "Sigmoid");
    if (by?.inputs[0]?.name === x.name && x.dtype === "float32") return g.op("QuickGelu", [x], { alpha: 1 });
  }
  return undefined;
};

/** w * (x * 1 / sqrt(mean(x^2) + eps)) (RMSNorm) as SimplifiedLayerNormalization; the gradient reuses its statistic. */
const rmsNorm: Fusion = (g, inputs) => {
  for (const [w, normalised] of orders(inputs)) {
    if (w.shape.length !== 1 || w.shape[0] !== normalised.shape.at(-1) || w.dtype !== "float32") continue;
    for (const [x, inverse] of orders(behind(g, normalised, "Mul")?.inputs ?? [])) {
      const epsilon = epsilonOfInverse(g, inverse, x);
      if (epsilon !== undefined) return g.op("SimplifiedLayerNormalization", [x, w], { axis: -1, epsilon });
    }
  }
  return undefined;
};

/** Returns eps, where `inverse` is 1 / sqrt(mean(x^2) + eps) over the last axis. */
function epsilonOfInverse(g: GraphBuilder, inverse: Value, x: Value): number | undefined {
  const by = behind(g, inverse, "Reciprocal", "Div");
  if (by?.op === "Div" && numberOf(by.inputs[0]) !== 1) return undefined;
  const root = behind(g, by?.inputs.at(-1), "Sqrt");
  for (const [mean, eps] of orders(behind(g, root?.inputs[0], "Add")?.inputs ?? [])) {
    const epsilon = numberOf(eps);
    const by = behind(g, mean, "ReduceMean");
    const axes = by?.inputs[1]?.content;
    if (epsilon === undefined || axes?.length !== 1 || !isLast(axes[0], x) || by?.attributes.keepdims === 0) continue;
    const square = behind(g, by?.inputs[0], "Pow", "Mul");
    if (square?.inputs[0]?.name !== x.name) continue;
    const isSquare = square.op === "Mul" ? square.inputs[1]?.name === x.name : numberOf(square.inputs[1]) === 2;
    if (isSquare) return epsilon;
  }
  return undefined;
}

/** Rotary embedding as [a cos - b sin | b cos + a sin] of the halves a and b of x, cos and sin of half a head. */
const rotatedHalves: Fusion = (g, inputs, { axis }) => {
  const [first, second] = inputs;
  if (inputs.length !== 2 || first === undefined || !isLast(axis, first)) return undefined;
  const of = (value: Value | undefined, op: string): [Value, Value, Value, Value] | undefined => {
    const [p, q] = (behind(g, value, op)?.inputs ?? []).map((v) => behind(g, v, "Mul")?.inputs as [Value, Value]);
    return p === undefined || q === undefined ? undefined : [...p, ...q];
  };
  const [a, cos, b, sin] = of(first, "Sub") ?? [];
  const [b2, cos2, a2, sin2] = of(second, "Add") ?? [];
  const same = a?.name === a2?.name && b?.name === b2?.name && cos?.name === cos2?.name && sin?.name === sin2?.name;
  const x = same ? halved(g, a, b) : undefined;
  return x === undefined ? undefined : rotary(g, x, cos as Value, sin as Value);
};

/** Rotary embedding as x cos + [-b | a] sin, cos and sin equal in both halves, as in transformers. */
const rotatedWhole: Fusion = (g, inputs) => {
  for (const [plain, turned] of orders(inputs)) {
    for (const [x, cos] of orders(behind(g, plain, "Mul")?.inputs ?? [])) {
      for (const [turn, sin] of orders(behind(g, turned, "Mul")?.inputs ?? [])) {
        const by = behind(g, turn, "Concat");
        const [minus, a] = by?.inputs ?? [];
        if (by?.inputs.length !== 2 || !isLast(by.attributes.axis, turn)) continue;
        if (halved(g, a, behind(g, minus, "Neg")?.inputs[0])?.name !== x.name) continue;
        if (!isDoubled(g, cos) || !isDoubled(g, sin)) continue;
        const half = (v: Value): Value =>
          new Emitter(g).slice(v, v.shape.length - 1, 0, (x.shape.at(-1) as number) / 2);
        return rotary(g, x, half(cos), half(sin));
      }
    }
  }
  return undefined;
};

/** Returns the value whose last axis was split into the equal halves a and b. */
function halved(g: GraphBuilder, a: Value | undefined, b: Value | undefined): Value | undefined {
  const [first, second] = [behind(g, a, "Split", "Slice"), behind(g, b, "Split", "Slice")];
  const x = first?.inputs[0];
  const size = x?.shape.at(-1);
  if (typeof size !== "number" || a?.shape.at(-1) !== size / 2 || b?.shape.at(-1) !== size / 2) return undefined;
  if (first?.op === "Split") {
    const isPair = first.outputs[0]?.name === a.name && first.outputs[1]?.name === b.name;
    return isPair && isLast(first.attributes.axis ?? 0, x as Value) ? x : undefined;
  }
  const cutAt = (by: Node | undefined): unknown => {
    const [, start, , axes, steps] = by?.inputs ?? [];
    const isPlain =
      axes?.content?.length === 1 && isLast(axes.content[0], x as Value) && (steps?.content?.[0] ?? 1) === 1;
    return by?.op === "Slice" && by.inputs[0]?.name === x?.name && isPlain ? start?.content?.[0] : undefined;
  };
  return cutAt(first) === 0 && cutAt(second) === size / 2 ? x : undefined;
}

/** Tells whether both halves of a value's last axis are equal: a function of one vector written twice. */
function isDoubled(g: GraphBuilder, value: Value): boolean {
  const by = g.producer(value);
  const [first, second] = by?.inputs ?? [];
  if (by === undefined || first === undefined) return false;
  if (by.op === "Concat")
    return by.inputs.length === 2 && isLast(by.attributes.axis, value) && first.name === second?.name;
  if (by.op === "Mul") return orders(by.inputs).some(([v, scale]) => numberOf(scale) !== undefined && isDoubled(g, v));
  const isPointwise = ["Cos", "Sin", "Cast", "Unsqueeze", "Identity"].includes(by.op);
  return isPointwise && first.shape.at(-1) === value.shape.at(-1) && isDoubled(g, first);
}

/** Tells whether a value depends on constants and integers alone, so that no gradient passes through it. */
function isFixed(g: GraphBuilder, value: Value): boolean {
  const by = g.producer(value);
  if (by === undefined) return g.initializers.has(value.name) || !value.dtype.startsWith("float");
  return by.inputs.every((v) => v === undefined || isFixed(g, v));
}

/**
 * Emits the rotation of x [B, N, H, hd] by cos and sin [B, N, 1, hd / 2], or x [B, H, N, hd] by [B or 1, 1, N, hd / 2].
 * The operator looks up angles in a table: here every token has its own row, so that positions are arbitrary.
 */
function rotary(g: GraphBuilder, x: Value, cos: Value, sin: Value): Value | undefined {
  const e = new Emitter(g);
  const [heads, width] = [x.shape[2], x.shape[3]];
  const isPlain = x.shape.length === 4 && x.dtype === "float32" && cos.shape.join() === sin.shape.join();
  if (!isPlain || cos.shape.length !== 4 || typeof width !== "number" || !isFixed(g, cos) || !isFixed(g, sin))
    return undefined;
  const table = (v: Value): Value => e.reshape(v, [-1, width / 2]);
  if (typeof heads === "number" && cos.shape[2] === 1 && cos.shape[0] === x.shape[0] && cos.shape[1] === x.shape[1]) {
    // all tokens as one sequence: token n uses row n of the table
    const flat = e.reshape(x, [1, -1, heads * width]);
    const turned = g.op("RotaryEmbedding", [flat, g.ints([0]), table(cos), table(sin)], { num_heads: heads });
    return e.reshapeTo(turned, g.op("Shape", [x]));
  }
  const [batch, , length] = x.shape;
  const rows = cos.shape[0];
  if (typeof batch !== "number" || typeof length !== "number" || cos.shape[1] !== 1 || cos.shape[2] !== length)
    return undefined;
  if (rows !== 1 && rows !== batch) return undefined;
  const ids = Array.from({ length: batch * length }, (_, i) => (rows === 1 ? i % length : i));
  return g.op("RotaryEmbedding", [x, g.constant("int64", [batch, length], ids), table(cos), table(sin)]);
}

/** Removes a cast to a value's own type. */
const noCast: Fusion = (_, [x], { to }) => (x !== undefined && DTYPE_OF_CODE[Number(to)] === x.dtype ? x : undefined);

/** The op that completes a pattern -> its fusion. */
const FUSIONS: Readonly<Record<string, Fusion>> = {
  Add: rotatedWhole,
  Cast: noCast,
  Concat: rotatedHalves,
  Mul: (...call) => silu(...call) ?? rmsNorm(...call),
};
