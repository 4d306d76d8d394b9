import { UserError } from "../core/errors.js";
import { Emitter } from "../onnx/emit.js";
import { GraphBuilder } from "../onnx/graph.js";
import type { RawModel, RawNode } from "../onnx/proto.js";
import { type Dim, isExternal, type Value } from "../onnx/types.js";
import { addLora, isTarget, type LoraOptions, type LoraSite } from "./lora.js";

export interface BindOptions {
  /** Numbers for the symbolic dimensions, as {B: 8, N: 416}. */
  readonly dims: Readonly<Record<string, number>>;
  /** Adds adapters; their A and B become graph inputs under PEFT's names. */
  readonly lora?: LoraOptions;
  /** `all`: every float weight becomes a graph input (full fine-tuning). */
  readonly weights?: "constant" | "input";
  /** Gathers this many rows of the final hidden states before the head. */
  readonly rows?: number;
}

export interface BoundModel {
  readonly g: GraphBuilder;
  readonly e: Emitter;
  /** [rows, V] where rows were asked for, else [B, N, V]. */
  readonly logits: Value;
  /** The graph input `rows` [R] int64: flat indices b * N + n. */
  readonly rows: Value | undefined;
  /** Adapter matrices, or all weights. */
  readonly parameters: readonly Value[];
}

const THROUGH = new Set(["Identity", "Reshape", "Cast"]);

/** The node that multiplies by the output head: back from `logits` through what only renames or reshapes. */
function headOf(model: RawModel): RawNode {
  const producer = new Map(model.nodes.flatMap((n) => n.outputs.map((o) => [o, n] as const)));
  let node = producer.get("logits");
  while (node !== undefined && THROUGH.has(node.op)) node = producer.get(node.inputs[0] ?? "");
  if (node === undefined || (node.op !== "Gemm" && node.op !== "MatMul")) {
    throw new UserError(
      `The output "logits" of the graph ${model.name} does not come from a Gemm or MatMul (found ${node?.op ?? "no such output"}).`,
      {
        hint: "The graph contract: inputs input_ids, position_ids, attention_bias; output logits = hidden x head.",
      },
    );
  }
  return node;
}

/** `model.layers.0.self_attn.q_proj` of the weight `model.layers.0.self_attn.q_proj.weight`. */
function moduleOf(weight: string): string {
  return weight.endsWith(".weight") ? weight.slice(0, -".weight".length) : weight;
}

/** All projections of a graph that `options.targets` names, in graph order. */
export function loraSites(model: RawModel, options: LoraOptions): LoraSite[] {
  const sites: LoraSite[] = [];
  for (const node of model.nodes) {
    const site = siteOf(model, node, options);
    if (site !== undefined) sites.push(site);
  }
  if (sites.length === 0) {
    throw new UserError(
      `None of the LoRA targets ${options.targets.join(", ")} is a projection of the model ${model.name}.`,
      { exitCode: 2 },
    );
  }
  return sites;
}

function siteOf(model: RawModel, node: RawNode, options: LoraOptions): LoraSite | undefined {
  if (node.op !== "Gemm" && node.op !== "MatMul") return undefined;
  const weight = model.initializers.get(node.inputs[1] ?? "");
  if (weight === undefined || weight.value.shape.length !== 2) return undefined;
  const module = moduleOf(weight.value.name);
  if (!isTarget(module, options)) return undefined;
  const [rows, columns] = weight.value.shape as [number, number];
  const transposed = node.op === "Gemm" && Number(node.attributes.transB ?? 0) === 1;
  return transposed
    ? { module, inFeatures: columns, outFeatures: rows }
    : { module, inFeatures: rows, outFeatures: columns };
}

/**
 * Re-emits a model graph with all dimensions bound: shapes fold to constants, adapters are injected,
 * and only the wanted rows go through the head. The result is ready for a loss, a sampler head and `backward`.
 */
export function bindModel(model: RawModel, name: string, options: BindOptions): BoundModel {
  const g = new GraphBuilder(name);
  const e = new Emitter(g);
  const values = new Map<string, Value>();
  const parameters: Value[] = [];
  const bound = (d: Dim): number => {
    const n = typeof d === "number" ? d : options.dims[d];
    if (n === undefined)
      throw new UserError(
        `The graph ${model.name} has the dimension "${d}", which nothing binds; known: ${Object.keys(options.dims).join(", ")}.`,
      );
    return n;
  };
  for (const input of model.inputs) values.set(input.name, g.input(input.name, input.dtype, input.shape.map(bound)));
  const rows = options.rows === undefined ? undefined : g.input("rows", "int64", [options.rows]);
  const head = headOf(model);
  const read = (initializerName: string): Value | undefined => {
    const known = values.get(initializerName);
    if (known !== undefined) return known;
    const initializer = model.initializers.get(initializerName);
    if (initializer === undefined) return undefined;
    const { dtype, shape } = initializer.value;
    let value: Value;
    if (options.weights === "input" && isExternal(initializer.data)) {
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

  let headLogits: Value | undefined;
  for (const node of model.nodes) {
    const inputs = node.inputs.map((input) => {
      if (input === undefined) return undefined;
      const value = read(input);
      if (value === undefined)
        throw new UserError(`The graph ${model.name} uses "${input}" at ${node.name} before it is made.`);
      return value;
    });
    if (node === head && rows !== undefined) {
      const x = inputs[0] as Value;
      const flat = x.shape.length === 2 ? x : e.reshape(x, [-1, x.shape.at(-1) as number]);
      inputs[0] = e.gather(flat, rows);
    }
    const { operands, attributes } = modernise(g, node, inputs);
    const outputs = [
      ...g.node(node.op, operands, attributes, { domain: node.domain, count: node.outputs.length, name: node.name }),
    ];
    const site = options.lora === undefined ? undefined : siteOf(model, node, options.lora);
    if (site !== undefined && options.lora !== undefined) {
      const lora = options.lora;
      outputs[0] = g.scope(`${node.name.replace(/^\//, "")}/lora`, () =>
        withLora(g, e, site, inputs[0] as Value, outputs[0] as Value, lora, parameters),
      );
    }
    node.outputs.forEach((output, i) => {
      if (output !== "" && outputs[i] !== undefined) values.set(output, outputs[i] as Value);
    });
    if (node === head) headLogits = outputs[0];
    if (node === head && rows !== undefined) break;
  }
  const logits = rows === undefined ? values.get("logits") : headLogits;
  if (logits === undefined) throw new UserError(`The graph ${model.name} has no output "logits".`);
  return { g, e, logits, rows, parameters };
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

function withLora(
  g: GraphBuilder,
  e: Emitter,
  site: LoraSite,
  x: Value,
  y: Value,
  options: LoraOptions,
  parameters: Value[],
): Value {
  const flat = (v: Value): Value => (v.shape.length === 2 ? v : e.reshape(v, [-1, v.shape.at(-1) as number]));
  const added = addLora(g, site, flat(x), flat(y), options);
  parameters.push(...added.parameters);
  return y.shape.length === 2 ? added.y : e.reshape(added.y, y.shape as number[]);
}
