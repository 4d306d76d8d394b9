import { fail, misuse, UserError } from "../core/errors.js";
import { einsum } from "../onnx/einsum.js";
import { Emitter } from "../onnx/emit.js";
import type { RawModel, RawNode } from "../onnx/format/raw-model.js";
import type { GraphBuilder } from "../onnx/graph.js";
import type { BlockOptions } from "../onnx/passes/attention-blocks.js";
import { delayed } from "../onnx/passes/delayed.js";
import { FusingBuilder } from "../onnx/passes/fusions.js";
import { type Dim, type DType, isExternal, type Value } from "../onnx/types.js";
import { isImported, moduleOfPath } from "./imported.js";
import { emitInputs } from "./inputs.js";
import { addLora, isTarget, type LoraOptions, type LoraPair, type LoraSite, loraInputs, lowRank } from "./lora.js";
import { producersOf, projectionOf } from "./projection.js";
import { replaceRows, tableOf } from "./token-rows.js";
import { weightExpressions } from "./weight-expressions.js";

export interface BindOptions {
  /** Numbers for the symbolic dimensions, as {B: 8, N: 416}; absent: they stay symbols (only in a graph of ours). */
  readonly dims?: Readonly<Record<string, number>>;
  /** Adds adapters; their A and B become graph inputs under PEFT's names. */
  readonly lora?: LoraOptions;
  /** `all`: every float weight becomes a graph input (full fine-tuning). */
  readonly weights?: "constant" | "input";
  /** Set where no token sees a later one in any batch: the blocked upper part is then not computed. */
  readonly causal?: BlockOptions | undefined;
  /** Gathers this many rows of the final hidden states before the head: a number, or a symbol. */
  readonly rows?: Dim;
  /** The hidden states are the graph's input `hidden` [H, D], instead of being computed. */
  readonly fromHidden?: boolean;
  /** Knows the positions while the graph is built, 0 up to one below this number: a table that lacks one is refused. */
  readonly positions?: number;
}

export interface BoundModel {
  readonly g: GraphBuilder;
  readonly e: Emitter;
  /** Outputs of the model's graph by name; `logits` is [rows, V] with `rows`, else [B, N, V]. */
  readonly outputs: Readonly<Record<string, Value>>;
  /** [B*N, D] input of the output head, all rows; undefined where there is no such head. */
  readonly hidden: Value | undefined;
  /** Adapter matrices, or all weights. */
  readonly parameters: readonly Value[];
}

/** Operators allowed between the head's product and `logits`: layout, dropped for gathered rows, and bias or scale. */
const LAYOUT = new Set(["Reshape", "Squeeze", "Unsqueeze", "Flatten"]);
const NORMALIZATIONS = new Set(["LayerNormalization", "SimplifiedLayerNormalization"]);
const POINTWISE = new Set(["Identity", "Cast", "Add", "Sub", "Mul", "Div", "Tanh"]);

/** Name of the input or output of a graph with the hidden states before the head. */
export const HIDDEN = "hidden";

interface Head {
  /** The product with the output head. */
  readonly product: RawNode;
  /** The nodes from the product to `logits`. */
  readonly tail: ReadonlySet<RawNode>;
}

/** Finds the product with the output head: from `logits` back through a bias, a scale or a layout change. */
function headOf(model: RawModel): Head {
  const producers = producersOf(model);
  const tail = new Set<RawNode>();
  let node = producers.get("logits");
  while (node !== undefined && (LAYOUT.has(node.op) || POINTWISE.has(node.op))) {
    if (tail.has(node)) fail(`The graph ${model.name} goes in a circle at ${node.name}.`);
    tail.add(node);
    // an exporter may put the bias first
    const computed = (LAYOUT.has(node.op) ? node.inputs.slice(0, 1) : node.inputs)
      .map((input) => producers.get(input ?? ""))
      .filter((n) => n !== undefined && n.op !== "Constant");
    node = computed[0];
  }
  if (node === undefined || (node.op !== "Gemm" && node.op !== "MatMul"))
    fail(
      `The output "logits" of the graph ${model.name} does not come from a Gemm or MatMul (found ${node?.op ?? "no such output"}).`,
      { hint: "The graph contract: inputs input_ids, position_ids, attention_bias; output logits = hidden x head." },
    );
  return { product: node, tail };
}

/** Returns the module of a weight: `model.layers.0.self_attn.q_proj` of `model.layers.0.self_attn.q_proj.weight`. */
export function moduleOf(weight: string): string {
  return weight.endsWith(".weight") ? weight.slice(0, -".weight".length) : weight;
}

/** Finds the projections of a graph that `options.targets` names, in graph order; one shared by layers counts once. */
export function loraSites(model: RawModel, options: LoraOptions): LoraSite[] {
  const sites = new Map<string, LoraSite>();
  const readers = new Map<string, Set<string>>();
  for (const node of model.nodes) {
    const site = siteOf(model, node, options);
    if (site === undefined) continue;
    if (!sites.has(site.module)) sites.set(site.module, site);
    readers.set(site.module, (readers.get(site.module) ?? new Set()).add(moduleOfPath(node.name) ?? ""));
  }
  const merged = [...readers.values()].find((modules) => modules.size > 1);
  if (merged !== undefined && isImported(model))
    misuse(`${[...merged].join(" and ")} have one weight in the graph of ${model.name}, and each needs an adapter.`, {
      hint: "The exporter wrote equal weights once, as those of a model before its training: export the trained model, or leave these out of lora.targets.",
    });
  if (sites.size === 0) {
    const existing = new Set(
      model.nodes.flatMap((node) => {
        const projection = projectionOf(model, node);
        const name = projection?.weight.value.name ?? "";
        // a matrix without a module's name (val_155) cannot be a target
        return name.endsWith(".weight") ? [moduleOf(name).split(".").at(-1) as string] : [];
      }),
    );
    misuse(`None of the LoRA targets ${options.targets.join(", ")} is a projection of the model ${model.name}.`, {
      hint: `Set lora.targets to some of: ${[...existing].join(", ")}.`,
    });
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
 * Re-emits a model graph with all dimensions bound: shapes fold to constants, adapters are injected, and only the
 * gathered rows go through the head. The result is ready for a loss, a sampler head and `backward`.
 */
export function bindModel(model: RawModel, name: string, options: BindOptions): BoundModel {
  return new Binding(model, name, options).bind();
}

class Binding {
  private readonly g: FusingBuilder;
  private readonly e: Emitter;
  private readonly parameters: Value[] = [];
  private readonly adapters = new Map<string, LoraPair>();
  private readonly values: Map<string, Value>;
  private readonly rows: Value | undefined;
  private readonly head: ReturnType<typeof headOf> | undefined;
  private readonly expressions: ReturnType<typeof weightExpressions>;
  private readonly lows = new Map<RawNode, Value>();
  /** Values after the head; with rows gathered, nodes off the path to `logits` (the shape of [B, N, V]) are dropped. */
  private readonly ofHead = new Set<string>();
  private hidden: Value | undefined;

  constructor(
    private readonly model: RawModel,
    name: string,
    private readonly options: BindOptions,
  ) {
    this.g = new FusingBuilder(name, options.causal);
    this.e = new Emitter(this.g);
    this.values = emitInputs(this.e, model, boundDimension(model, options.dims), options.positions);
    this.rows = options.rows === undefined ? undefined : this.g.input("rows", "int64", [options.rows]);
    this.head = model.outputs.some((output) => output.name === "logits") ? headOf(model) : undefined;
    this.expressions = weightExpressions(model);
  }

  bind(): BoundModel {
    const { g, e, model, values, parameters, adapters } = this;
    for (const node of model.nodes)
      if (!node.outputs.some((output) => this.expressions.packed.has(output))) this.emit(node);
    return {
      g,
      e,
      outputs: Object.fromEntries(
        model.outputs.flatMap(({ name }) => {
          const value = values.get(name);
          const isHalf = value?.dtype === "float16" || value?.dtype === "bfloat16";
          return value === undefined ? [] : [[name, isHalf ? e.cast(value, "float32") : value] as const];
        }),
      ),
      hidden: this.hidden,
      parameters: [...parameters, ...[...adapters.values()].flatMap(({ a, b }) => [a, b])],
    };
  }

  /** Emits a node of the file, with its adapter. */
  private emit(node: RawNode): void {
    const { g, e, model, values, head, rows, ofHead } = this;
    const afterHead = rows !== undefined && node.inputs.some((input) => ofHead.has(input ?? ""));
    if (afterHead || node === head?.product) for (const output of node.outputs) ofHead.add(output);
    if (afterHead && !head?.tail.has(node)) return;
    if (node === head?.product && this.options.fromHidden === true) {
      const name = node.inputs[0] as string;
      const { dtype, shape } = values.get(name) as Value;
      values.set(name, e.cast(g.input(HIDDEN, "float32", ["H", shape.at(-1) as Dim]), dtype));
    }
    const inputs = node.inputs.map((input) =>
      input === undefined || (afterHead && !ofHead.has(input) && LAYOUT.has(node.op))
        ? undefined
        : this.operand(node, input),
    );
    if (afterHead && LAYOUT.has(node.op)) {
      values.set(node.outputs[0] as string, inputs[0] as Value);
      return;
    }
    if (node === head?.product) {
      const { dtype } = inputs[0] as Value;
      this.hidden = e.cast(flatRows(e, inputs[0] as Value), "float32");
      if (rows !== undefined) inputs[0] = e.cast(e.gather(this.hidden, rows), dtype);
    }
    const outputs = emitNode(g, e, model, node, inputs, (name) => this.read(name));
    this.adapt(node, inputs, outputs);
    node.outputs.forEach((output, i) => {
      if (output !== "" && outputs[i] !== undefined) values.set(output, outputs[i] as Value);
    });
  }

  private operand(node: RawNode, input: string): Value {
    const { g, model } = this;
    if (this.expressions.packed.has(input)) {
      // under the consumer's path, so that it is recomputed together with its layer
      const value = g.scope(pathOf(node), () => this.unpack(input, this.otherOperand(node)));
      g.rematerializeBy(value, (behind) => this.unpack(input, behind));
      return value;
    }
    return this.read(input) ?? fail(`The graph ${model.name} uses "${input}" at ${node.name} before it is made.`);
  }

  /** Replaces rows of a table, or adds the low-rank product of a projection. */
  private adapt(node: RawNode, inputs: readonly (Value | undefined)[], outputs: Value[]): void {
    const { g, e, model, options } = this;
    const { lora } = options;
    const site = lora === undefined ? undefined : siteOf(model, node, lora);
    if (site?.tokens !== undefined) {
      const { rows, y } = g.scope(`${pathOf(node)}/rows`, () =>
        replaceRows(g, site, inputs[1] as Value, outputs[0] as Value),
      );
      this.parameters.push(rows);
      outputs[0] = y;
    } else if (site !== undefined && lora !== undefined) {
      const [x, y] = [inputs[0] as Value, outputs[0] as Value];
      outputs[0] = g.scope(`${pathOf(node)}/lora`, () => {
        // adapters are float32 in a model that computes in 16 bits too
        const rows = e.cast(flatRows(e, y), "float32");
        const added = addLora(g, this.adapterOf(site, lora), this.lowOf(node, x, lora), rows, lora);
        return e.cast(y.shape.length === 2 ? added : e.reshape(added, y.shape), y.dtype);
      });
    }
  }

  private read(name: string): Value | undefined {
    const { g, model, values } = this;
    const made = values.get(name);
    if (made !== undefined) return made;
    const initializer = model.initializers.get(name);
    if (initializer === undefined) return undefined;
    const { dtype, shape } = initializer.value;
    let value: Value;
    if (this.options.weights === "input" && isExternal(initializer.data)) {
      if (dtype !== "float32") throw notTrainable(model, name, dtype);
      value = g.input(name, dtype, shape as number[]);
      this.parameters.push(value);
    } else {
      // names of another program's file get a prefix: a weight may have the name of an input of ours
      const given = isExternal(initializer.data) && !isImported(model) ? name : `/imported/${name}`;
      value = g.initializer(given, dtype, shape as number[], initializer.data);
    }
    values.set(name, value);
    return value;
  }

  /** Emits a value that is computed from weights so that it runs after `behind`, and no earlier. */
  private unpack(name: string, behind: Value): Value {
    const { g, e, model } = this;
    const initializer = model.initializers.get(name);
    if (initializer !== undefined) {
      const value = this.read(name) as Value;
      return isExternal(initializer.data) ? delayed(e, value, behind) : value;
    }
    const made = this.expressions.nodes.get(name) as RawNode;
    const [data, target] = made.inputs.map((input) => model.initializers.get(input ?? ""));
    if (made.op === "Reshape" && data !== undefined && target !== undefined && isExternal(data.data)) {
      const shape = this.read(target.value.name)?.content;
      if (shape !== undefined) return delayed(e, this.read(data.value.name) as Value, behind, shape);
    }
    const inputs = made.inputs.map((input) => (input === undefined ? undefined : this.unpack(input, behind)));
    const { operands, attributes } = modernise(g, made, inputs);
    const outputs = g.node(made.op, operands, attributes, { domain: made.domain });
    return outputs[made.outputs.indexOf(name)] as Value;
  }

  /** Returns the other operand of a packed weight's product; the weight is unpacked after it. */
  private otherOperand(node: RawNode): Value {
    const { model, expressions, values } = this;
    const other = node.inputs.find(
      (name) => name !== undefined && !model.initializers.has(name) && !expressions.nodes.has(name),
    );
    return values.get(other ?? model.inputs[0]?.name ?? "") as Value;
  }

  /** Returns a site's adapter; layers that share a weight share its adapter. */
  private adapterOf(site: LoraSite, lora: LoraOptions): LoraPair {
    const pair = this.adapters.get(site.module) ?? loraInputs(this.g, site, lora);
    this.adapters.set(site.module, pair);
    return pair;
  }

  /** Returns x A^T of a site, computed together with all sites that read the same x. */
  private lowOf(node: RawNode, x: Value, lora: LoraOptions): Value {
    const { g, e, model, head, lows } = this;
    if (!lows.has(node)) {
      // the head reads gathered rows
      const isReader = (n: RawNode): boolean =>
        n === node || (n.inputs[0] === node.inputs[0] && n !== head?.product && node !== head?.product);
      const readers = model.nodes.flatMap((n) => {
        const site = isReader(n) ? siteOf(model, n, lora) : undefined;
        return site === undefined ? [] : [{ n, pair: this.adapterOf(site, lora) }];
      });
      const pairs = readers.map(({ pair }) => pair);
      lowRank(g, pairs, e.cast(flatRows(e, x), "float32")).forEach((low, i) => {
        lows.set((readers[i] as { n: RawNode }).n, low);
      });
    }
    return lows.get(node) as Value;
  }
}

const pathOf = (node: RawNode): string => node.name.replace(/^\//, "");

/** Returns a function from a graph's dimension to its size. */
function boundDimension(model: RawModel, dims: BindOptions["dims"]): (d: Dim) => Dim {
  if (dims === undefined) return (d) => d;
  const aliases = dimensionAliases(model, dims);
  return (d) =>
    typeof d === "number"
      ? d
      : (dims[d] ??
        aliases[d] ??
        fail(
          `The graph ${model.name} has the dimension "${d}", which nothing binds; known: ${Object.keys(dims).join(", ")}.`,
        ));
}

/** Maps an imported graph's names of batch and length: the dimensions of input_ids are B and N. */
function dimensionAliases(model: RawModel, dims: NonNullable<BindOptions["dims"]>): Record<string, number> {
  const aliases: Record<string, number> = {};
  const shape = model.inputs.find((i) => i.name === "input_ids")?.shape ?? [];
  (["B", "N"] as const).forEach((ours, axis) => {
    const [theirs, size] = [shape[axis], dims[ours]];
    if (size === undefined || theirs === undefined) return;
    if (typeof theirs === "string") aliases[theirs] = size;
    else if (theirs !== size)
      fail(`The graph ${model.name} only takes input_ids of [${shape.join(", ")}], not ${ours} = ${size}.`, {
        hint: "Export it with dynamic batch and length (dynamic_shapes, or dynamic_axes of the older exporter).",
      });
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
    // multiplied in its own layout: a transposed copy of the weight would stay in memory
    const x = inputs[0] as Value;
    const weight = read(projection.weight.value.name) as Value;
    return g.scope(pathOf(node), () => {
      const y = e.gemm(flatRows(e, x), weight, { transB: true });
      return [e.reshape(y, [...x.shape.slice(0, -1), y.shape[1] as number])];
    });
  }
  if (node.op === "Einsum")
    return [g.scope(pathOf(node), () => einsum(e, String(node.attributes.equation), inputs as Value[]))];
  const { operands, attributes } = modernise(g, node, inputs);
  // statistics that the file does not output are added here: the backward pass reuses them
  const count = NORMALIZATIONS.has(node.op) ? {} : { count: node.outputs.length };
  return [...g.node(node.op, operands, attributes, { domain: node.domain, ...count, name: node.name })];
}

function notTrainable(model: RawModel, name: string, dtype: DType): UserError {
  return new UserError(
    `All weights of the model ${model.name} are to be trained, but ${name} is stored as ${dtype}; only float32 can be.`,
    { hint: "Train an adapter, or export the model again with --quantize none.", exitCode: 2 },
  );
}

/** Converts the forms of opsets 17 to 20 to our opset's: axes of reductions, the parts of Split. */
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

/** Reshapes [..., D] to [M, D]. */
function flatRows(e: Emitter, v: Value): Value {
  return v.shape.length === 2 ? v : e.reshape(v, [-1, v.shape.at(-1) as number]);
}
