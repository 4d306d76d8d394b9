import { UserError } from "../core/errors.js";
import { Emitter } from "../onnx/emit.js";
import type { RawModel, RawNode } from "../onnx/format/raw-model.js";
import type { GraphBuilder } from "../onnx/graph.js";
import type { BlockOptions } from "../onnx/passes/attention-blocks.js";
import { FusingBuilder } from "../onnx/passes/fusions.js";
import { late } from "../onnx/passes/late.js";
import { type Dim, type DType, isExternal, type Value } from "../onnx/types.js";
import { emitInputs } from "./inputs.js";
import { addLora, isTarget, type LoraOptions, type LoraPair, type LoraSite, loraInputs, lowRank } from "./lora.js";
import { producersOf, projectionOf } from "./projection.js";
import { replaceRows, tableOf } from "./token-rows.js";
import { weightExpressions } from "./weight-expressions.js";

export interface BindOptions {
  /** Numbers for the symbolic dimensions, as {B: 8, N: 416}; absent: they stay symbols, in a graph of our own. */
  readonly dims?: Readonly<Record<string, number>>;
  /** Adds adapters; their A and B become graph inputs under PEFT's names. */
  readonly lora?: LoraOptions;
  /** `all`: every float weight becomes a graph input (full fine-tuning). */
  readonly weights?: "constant" | "input";
  /** No token sees one behind it in any batch that the graph is fed with: what lies there is not computed. */
  readonly causal?: BlockOptions | undefined;
  /** Gathers this many rows of the final hidden states before the head: a number, or a symbol. */
  readonly rows?: Dim;
}

export interface BoundModel {
  readonly g: GraphBuilder;
  readonly e: Emitter;
  /** What the model's graph returns by name; `logits` is [rows, V] where rows were asked for, else [B, N, V]. */
  readonly outputs: Readonly<Record<string, Value>>;
  /** [B*N, D] what goes into the output head, all rows of it; undefined where there is no such head. */
  readonly hidden: Value | undefined;
  /** Adapter matrices, or all weights. */
  readonly parameters: readonly Value[];
}

/** What may stand between the head's product and `logits`: layout, which gathered rows do without, and bias or scale. */
const LAYOUT = new Set(["Reshape", "Squeeze", "Unsqueeze", "Flatten"]);
const NORMALIZATIONS = new Set(["LayerNormalization", "SimplifiedLayerNormalization"]);
const POINTWISE = new Set(["Identity", "Cast", "Add", "Sub", "Mul", "Div", "Tanh"]);

interface Head {
  /** The product with the output head. */
  readonly product: RawNode;
  /** The nodes from there to `logits`. */
  readonly tail: ReadonlySet<RawNode>;
}

/** The node that multiplies by the output head: back from `logits` through a bias, a scale or a new layout. */
function headOf(model: RawModel): Head {
  const producers = producersOf(model);
  const tail = new Set<RawNode>();
  let node = producers.get("logits");
  while (node !== undefined && (LAYOUT.has(node.op) || POINTWISE.has(node.op))) {
    if (tail.has(node)) throw new UserError(`The graph ${model.name} goes in a circle at ${node.name}.`);
    tail.add(node);
    // an exporter may put the bias first
    const computed = (LAYOUT.has(node.op) ? node.inputs.slice(0, 1) : node.inputs)
      .map((input) => producers.get(input ?? ""))
      .filter((n) => n !== undefined && n.op !== "Constant");
    node = computed[0];
  }
  if (node === undefined || (node.op !== "Gemm" && node.op !== "MatMul")) {
    throw new UserError(
      `The output "logits" of the graph ${model.name} does not come from a Gemm or MatMul (found ${node?.op ?? "no such output"}).`,
      {
        hint: "The graph contract: inputs input_ids, position_ids, attention_bias; output logits = hidden x head.",
      },
    );
  }
  return { product: node, tail };
}

/** `model.layers.0.self_attn.q_proj` of the weight `model.layers.0.self_attn.q_proj.weight`. */
export function moduleOf(weight: string): string {
  return weight.endsWith(".weight") ? weight.slice(0, -".weight".length) : weight;
}

/** All projections of a graph that `options.targets` names, in graph order; one that several layers share counts once. */
export function loraSites(model: RawModel, options: LoraOptions): LoraSite[] {
  const sites = new Map<string, LoraSite>();
  for (const node of model.nodes) {
    const site = siteOf(model, node, options);
    if (site !== undefined && !sites.has(site.module)) sites.set(site.module, site);
  }
  if (sites.size === 0) {
    const there = new Set(
      model.nodes.flatMap((node) => {
        const projection = projectionOf(model, node);
        const name = projection?.weight.value.name ?? "";
        // a matrix without a module's name (val_155) cannot be a target
        return name.endsWith(".weight") ? [moduleOf(name).split(".").at(-1) as string] : [];
      }),
    );
    throw new UserError(
      `None of the LoRA targets ${options.targets.join(", ")} is a projection of the model ${model.name}.`,
      { hint: `Set lora.targets to some of: ${[...there].join(", ")}.`, exitCode: 2 },
    );
  }
  return [...sites.values()];
}

function siteOf(model: RawModel, node: RawNode, options: LoraOptions): LoraSite | undefined {
  const table = options.tokens === undefined ? undefined : tableOf(model, node);
  if (table !== undefined) {
    const [inFeatures, outFeatures] = table.value.shape as [number, number];
    return { module: moduleOf(table.value.name), inFeatures, outFeatures, tokens: options.tokens as number[] };
  }
  const projection = projectionOf(model, node);
  if (projection === undefined) return undefined;
  const module = moduleOf(projection.weight.value.name);
  if (!isTarget(module, options)) return undefined;
  const [rows, columns] = projection.shape;
  return projection.transposed
    ? { module, inFeatures: columns, outFeatures: rows }
    : { module, inFeatures: rows, outFeatures: columns };
}

/**
 * Re-emits a model graph with all dimensions bound: shapes fold to constants, adapters are injected,
 * and only the wanted rows go through the head. The result is ready for a loss, a sampler head and `backward`.
 */
export function bindModel(model: RawModel, name: string, options: BindOptions): BoundModel {
  const g = new FusingBuilder(name, options.causal);
  const e = new Emitter(g);
  const parameters: Value[] = [];
  const adapters = new Map<string, LoraPair>();
  const { dims } = options;
  const aliases = dims === undefined ? {} : dimensionAliases(model, dims);
  const bound = (d: Dim): Dim => {
    if (typeof d === "number" || dims === undefined) return d;
    const n = dims[d] ?? aliases[d];
    if (n === undefined)
      throw new UserError(
        `The graph ${model.name} has the dimension "${d}", which nothing binds; known: ${Object.keys(dims).join(", ")}.`,
      );
    return n;
  };
  const values = emitInputs(e, model, bound);
  const rows = options.rows === undefined ? undefined : g.input("rows", "int64", [options.rows]);
  const head = model.outputs.some(({ name }) => name === "logits") ? headOf(model) : undefined;
  let hidden: Value | undefined;
  const read = (initializerName: string): Value | undefined => {
    const known = values.get(initializerName);
    if (known !== undefined) return known;
    const initializer = model.initializers.get(initializerName);
    if (initializer === undefined) return undefined;
    const { dtype, shape } = initializer.value;
    let value: Value;
    if (options.weights === "input" && isExternal(initializer.data)) {
      if (dtype !== "float32") throw notTrainable(model, initializerName, dtype);
      value = g.input(initializerName, dtype, shape as number[]);
      parameters.push(value);
    } else {
      // constants of the file get a prefix of their own, so that they cannot meet the builder's
      const own = isExternal(initializer.data) ? initializerName : `/imported/${initializerName}`;
      value = g.initializer(own, dtype, shape as number[], initializer.data);
    }
    values.set(initializerName, value);
    return value;
  };

  const expressions = weightExpressions(model);
  /** Emits a value that is made from weights so that it is computed behind `behind`, and no earlier. */
  const unpack = (name: string, behind: Value): Value => {
    const initializer = model.initializers.get(name);
    if (initializer !== undefined) {
      const value = read(name) as Value;
      return isExternal(initializer.data) ? late(e, value, behind) : value;
    }
    const made = expressions.nodes.get(name) as RawNode;
    const [data, target] = made.inputs.map((input) => model.initializers.get(input ?? ""));
    if (made.op === "Reshape" && data !== undefined && target !== undefined && isExternal(data.data)) {
      const shape = read(target.value.name)?.content;
      if (shape !== undefined) return late(e, read(data.value.name) as Value, behind, shape as number[]);
    }
    const inputs = made.inputs.map((input) => (input === undefined ? undefined : unpack(input, behind)));
    const { operands, attributes } = modernise(g, made, inputs);
    const outputs = g.node(made.op, operands, attributes, { domain: made.domain });
    return outputs[made.outputs.indexOf(name)] as Value;
  };
  /** What a packed weight is unpacked behind: the operand that it meets. */
  const companion = (node: RawNode): Value => {
    const own = node.inputs.find(
      (name) => name !== undefined && !model.initializers.has(name) && !expressions.nodes.has(name),
    );
    return values.get(own ?? model.inputs[0]?.name ?? "") as Value;
  };

  /** Layers that share a weight share its adapter. */
  const adapterOf = (site: LoraSite, lora: LoraOptions): LoraPair => {
    const pair = adapters.get(site.module) ?? loraInputs(g, site, lora);
    adapters.set(site.module, pair);
    return pair;
  };
  const lows = new Map<RawNode, Value>();
  /** x A^T of a site, computed together with that of all sites which read the same x. */
  const lowOf = (node: RawNode, x: Value, lora: LoraOptions): Value => {
    if (!lows.has(node)) {
      // the head reads gathered rows
      const isReader = (n: RawNode): boolean =>
        n === node || (n.inputs[0] === node.inputs[0] && n !== head?.product && node !== head?.product);
      const readers = model.nodes.flatMap((n) => {
        const site = isReader(n) ? siteOf(model, n, lora) : undefined;
        return site === undefined ? [] : [{ n, pair: adapterOf(site, lora) }];
      });
      const pairs = readers.map(({ pair }) => pair);
      lowRank(g, pairs, flatRows(e, x)).forEach((low, i) => {
        lows.set((readers[i] as { n: RawNode }).n, low);
      });
    }
    return lows.get(node) as Value;
  };
  // with rows gathered, what else hangs on the head (the shape of [B, N, V] logits) has no meaning
  const ofHead = new Set<string>();
  for (const node of model.nodes) {
    if (node.outputs.some((output) => expressions.packed.has(output))) continue;
    const afterHead = rows !== undefined && node.inputs.some((input) => ofHead.has(input ?? ""));
    if (afterHead || node === head?.product) for (const output of node.outputs) ofHead.add(output);
    if (afterHead && !head?.tail.has(node)) continue;
    const inputs = node.inputs.map((input) => {
      if (input === undefined || (afterHead && !ofHead.has(input) && LAYOUT.has(node.op))) return undefined;
      if (expressions.packed.has(input)) {
        // under the consumer's path: where its layer is computed again, so is this
        const value = g.scope(node.name.replace(/^\//, ""), () => unpack(input, companion(node)));
        g.remember(value, (behind) => unpack(input, behind));
        return value;
      }
      const value = read(input);
      if (value === undefined)
        throw new UserError(`The graph ${model.name} uses "${input}" at ${node.name} before it is made.`);
      return value;
    });
    if (afterHead && LAYOUT.has(node.op)) {
      values.set(node.outputs[0] as string, inputs[0] as Value);
      continue;
    }
    if (node === head?.product) {
      hidden = flatRows(e, inputs[0] as Value);
      if (rows !== undefined) inputs[0] = e.gather(hidden, rows);
    }
    const outputs = emitNode(g, e, model, node, inputs, read);
    const { lora } = options;
    const site = lora === undefined ? undefined : siteOf(model, node, lora);
    if (site?.tokens !== undefined) {
      const { rows, y } = g.scope(`${node.name.replace(/^\//, "")}/rows`, () =>
        replaceRows(g, site, inputs[1] as Value, outputs[0] as Value),
      );
      parameters.push(rows);
      outputs[0] = y;
    } else if (site !== undefined && lora !== undefined) {
      const [x, y] = [inputs[0] as Value, outputs[0] as Value];
      outputs[0] = g.scope(`${node.name.replace(/^\//, "")}/lora`, () => {
        const added = addLora(g, adapterOf(site, lora), lowOf(node, x, lora), flatRows(e, y), lora);
        return y.shape.length === 2 ? added : e.reshape(added, y.shape as number[]);
      });
    }
    node.outputs.forEach((output, i) => {
      if (output !== "" && outputs[i] !== undefined) values.set(output, outputs[i] as Value);
    });
  }
  return {
    g,
    e,
    outputs: Object.fromEntries(
      model.outputs.flatMap(({ name }) => {
        const value = values.get(name);
        return value === undefined ? [] : [[name, value] as const];
      }),
    ),
    hidden,
    parameters: [...parameters, ...[...adapters.values()].flatMap(({ a, b }) => [a, b])],
  };
}

/** An imported graph names its batch and length as it likes: the dimensions of input_ids are B and N. */
function dimensionAliases(model: RawModel, dims: NonNullable<BindOptions["dims"]>): Record<string, number> {
  const aliases: Record<string, number> = {};
  const shape = model.inputs.find((i) => i.name === "input_ids")?.shape ?? [];
  (["B", "N"] as const).forEach((ours, axis) => {
    const [theirs, size] = [shape[axis], dims[ours]];
    if (size === undefined || theirs === undefined) return;
    if (typeof theirs === "string") aliases[theirs] = size;
    else if (theirs !== size)
      throw new UserError(
        `The graph ${model.name} only takes input_ids of [${shape.join(", ")}], not ${ours} = ${size}.`,
        {
          hint: "Export it with dynamic batch and length (dynamic_shapes, or dynamic_axes of the older exporter).",
        },
      );
  });
  return aliases;
}

/** Emits one node of the file. */
function emitNode(
  g: GraphBuilder,
  e: Emitter,
  model: RawModel,
  node: RawNode,
  inputs: readonly (Value | undefined)[],
  read: (name: string) => Value | undefined,
): Value[] {
  const projection = projectionOf(model, node);
  if (projection?.throughTranspose) {
    // multiplied as it lies: a transposed copy of the weight would be held in memory
    const x = inputs[0] as Value;
    const weight = read(projection.weight.value.name) as Value;
    return g.scope(node.name.replace(/^\//, ""), () => {
      const y = e.gemm(flatRows(e, x), weight, { transB: true });
      return [e.reshape(y, [...(x.shape.slice(0, -1) as number[]), y.shape[1] as number])];
    });
  }
  const { operands, attributes } = modernise(g, node, inputs);
  // statistics that the file does not save are saved here: the backward pass reuses them
  const count = NORMALIZATIONS.has(node.op) ? {} : { count: node.outputs.length };
  return [...g.node(node.op, operands, attributes, { domain: node.domain, ...count, name: node.name })];
}

function notTrainable(model: RawModel, name: string, dtype: DType): UserError {
  return new UserError(
    `All weights of the model ${model.name} are to be trained, but ${name} is stored as ${dtype}; only float32 can be.`,
    { hint: "Train an adapter, or export the model again with --quantize none.", exitCode: 2 },
  );
}

/** Writes what opsets 17 to 20 say differently as our opset says it: axes of reductions, the parts of Split. */
function modernise(
  g: GraphBuilder,
  node: RawNode,
  inputs: readonly (Value | undefined)[],
): { operands: readonly (Value | undefined)[]; attributes: RawNode["attributes"] } {
  const { axes, ...rest } = node.attributes;
  if (node.op.startsWith("Reduce") && Array.isArray(axes))
    return { operands: [inputs[0], g.ints((axes as readonly number[]).map(Number))], attributes: rest };
  if (node.op === "Split" && inputs[1] === undefined && node.attributes.num_outputs === undefined) {
    return { operands: inputs, attributes: { ...node.attributes, num_outputs: node.outputs.length } };
  }
  return { operands: inputs, attributes: node.attributes };
}

/** [..., D] as [M, D]. */
function flatRows(e: Emitter, v: Value): Value {
  return v.shape.length === 2 ? v : e.reshape(v, [-1, v.shape.at(-1) as number]);
}
