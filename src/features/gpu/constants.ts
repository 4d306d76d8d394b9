import { PAST, PRESENT } from "../../attention/keys.js";
import { isLora } from "../../nn/lora.js";
import { contentOf } from "../../onnx/evaluate.js";
import type { RawModel, RawNode } from "../../onnx/format/raw-model.js";
import { OPS } from "../../onnx/ops.js";
import { sizeOf } from "../../onnx/shapes.js";
import { DTYPE_OF_CODE, type DType, isExternal, type Value } from "../../onnx/types.js";

/** Most elements of a weight whose cast is kept beside it. */
const SMALL = 2 ** 20;

/** Operators that lay the matrices of an adapter out for a product. */
const LAYING = new Set(["Cast", "Concat", "Pad"]);

/** A value that follows from parameters or from small weights alone: runs with the same ones need not compute it. */
export interface Constant {
  /** Its name, now an input of the graph. */
  readonly value: Value;
  /** The parameters or weights that it follows from. */
  readonly sources: readonly string[];
  /** Names what is computed from the sources, whatever their names are. */
  readonly key: string;
}

/** Constants that change together, and the graph that computes them. */
export interface Constants {
  readonly made: readonly Constant[];
  readonly model: RawModel;
}

interface WithoutConstants {
  readonly model: RawModel;
  readonly constants: readonly Constants[];
  /** Inputs that the graph no longer has. */
  readonly unread: ReadonlySet<string>;
}

/** Tensors of constants, kept for as long as the first of their sources. */
export class MadeConstants<T> {
  private readonly made = new Map<T, Map<string, { readonly tensor: T; readonly others: readonly T[] }>>();

  constructor(private readonly free: (tensor: T) => void) {}

  /**
   * Returns a group's tensors by name.
   * @param find returns a source.
   * @param compute computes the group; called where a source is new.
   */
  of(
    { made }: Constants,
    find: (name: string) => T,
    compute: () => ReadonlyMap<string, T>,
  ): readonly (readonly [string, T])[] {
    const known = made.map((constant) => this.known(constant, find));
    if (known.includes(undefined)) {
      const computed = compute();
      for (const { value, key, sources } of made) {
        const [first, ...others] = sources.map(find) as [T, ...T[]];
        const ofFirst = this.made.get(first) ?? new Map();
        const before = ofFirst.get(key)?.tensor;
        if (before !== undefined) this.free(before);
        this.made.set(first, ofFirst.set(key, { tensor: computed.get(value.name) as T, others }));
      }
    }
    return made.map((constant) => [constant.value.name, this.known(constant, find) as T]);
  }

  private known({ key, sources: [first, ...rest] }: Constant, find: (name: string) => T): T | undefined {
    const { tensor, others } = this.made.get(find(first as string))?.get(key) ?? {};
    return others?.every((other, i) => other === find(rest[i] as string)) ? tensor : undefined;
  }

  /** Frees what follows from a tensor. */
  forget(source: T): void {
    const all = this.made.get(source);
    this.made.delete(source);
    for (const { tensor } of all?.values() ?? []) this.free(tensor);
  }
}

interface Computed extends Constant {
  readonly nodes: readonly RawNode[];
  readonly ofWeights: boolean;
}

/**
 * Takes what follows from an adapter's matrices or from small weights out of a graph, such as casts to 16 bits: the
 * results become inputs, which are computed once for each of their values, not in every run.
 */
export function withoutConstants(model: RawModel): WithoutConstants {
  const computed = computedOf(model);
  const inside = new Set([...computed.values()].flatMap(({ nodes }) => nodes));
  const nodes = model.nodes.filter((node) => !inside.has(node));
  const read = new Set([...nodes.flatMap((node) => node.inputs), ...model.outputs.map(({ name }) => name)]);
  const all = [...computed.values()].filter(({ value }) => read.has(value.name));
  // an input that no node reads would be copied to the host in every run
  const unread = new Set(all.flatMap(({ sources }) => sources.filter((name) => !read.has(name))));
  const inputs = model.inputs.filter(({ name }) => !unread.has(name));
  return {
    model: { ...model, nodes, inputs: [...inputs, ...all.map(({ value }) => value)] },
    constants: [true, false].flatMap((ofWeights) => {
      const made = all.filter((one) => one.ofWeights === ofWeights);
      return made.length === 0 ? [] : [{ made, model: modelOf(made, model) }];
    }),
    unread,
  };
}

/**
 * Gives the keys and values of earlier rounds and of this one (attention/keys.ts) the 16 bits in which a graph reads and
 * computes them, and names them where they are computed, without a copy.
 */
export function withHalfKeys(model: RawModel): RawModel {
  const half = new Map<string, DType>();
  const instead = new Map<string, string>();
  const renamed = (name: string | undefined): string => instead.get(name ?? "") ?? name ?? "";
  const nodes = [...model.nodes].reverse().filter(({ op, inputs, outputs, attributes }) => {
    const [from = "", to] = [inputs[0], renamed(outputs[0])];
    const dtype = DTYPE_OF_CODE[Number(attributes.to)];
    const isRead = op === "Cast" && from.startsWith(PAST) && dtype !== undefined;
    if (isRead) {
      half.set(from, dtype);
      instead.set(to, from);
    }
    const isKept = (op === "Cast" || op === "Identity") && to.startsWith(PRESENT);
    if (isKept) instead.set(from, to);
    return !isRead && !isKept;
  });
  const [dtype] = half.values();
  if (dtype === undefined) return model;
  const stored = (value: Value): Value =>
    value.name.startsWith(PAST) || value.name.startsWith(PRESENT) ? { ...value, dtype } : value;
  return {
    ...model,
    nodes: nodes.reverse().map((node) => ({
      ...node,
      inputs: node.inputs.map((name) => name && renamed(name)),
      outputs: node.outputs.map(renamed),
    })),
    inputs: model.inputs.map(stored),
    outputs: model.outputs.map(stored),
  };
}

/** Returns the outputs of a graph that PagedAttention writes over its keys and values, with these inputs. */
export function writtenInPlace({ nodes }: RawModel): ReadonlyMap<string, string> {
  return new Map(
    nodes
      .filter(({ op }) => op === "PagedAttention")
      .flatMap(({ inputs, outputs }) => [1, 2].map((i) => [outputs[i] ?? "", inputs[i + 2] ?? ""] as const)),
  );
}

/** Returns all values of a graph that follow from its parameters or small weights alone, by name. */
function computedOf(model: RawModel): Map<string, Computed> {
  const computed = new Map<string, Computed>();
  const given = givenOf(model);
  const outputs = new Set(model.outputs.map(({ name }) => name));
  for (const node of model.nodes) {
    const { op, attributes, outputs: names } = node;
    const [name = ""] = names;
    if (!LAYING.has(op) || outputs.has(name)) continue;
    const operands = node.inputs.map((input = "") => computed.get(input) ?? given.get(input));
    const known = operands.filter((operand) => operand !== undefined);
    const sources = known.flatMap((operand) => operand.sources);
    if (known.length < operands.length || sources.length === 0) continue;
    const ofWeights = known.some((operand) => operand.ofWeights);
    const [made] = OPS[op]?.({ op, inputs: known.map(({ value }) => value), attributes }) ?? [];
    // what else follows from weights is kept as it is stored
    const isHalf = made?.dtype === "bfloat16" || made?.dtype === "float16";
    if (made === undefined || (ofWeights && !isHalf)) continue;
    const key = `${op}${JSON.stringify(attributes)}(${known.map((operand) => operand.key)})`;
    const nodes = [...new Set([...known.flatMap((operand) => operand.nodes), node])];
    computed.set(name, { value: { name, ...made }, sources, key, nodes, ofWeights });
  }
  return computed;
}

/** Returns the parameters, small weights and numbers of a graph, by name. */
function givenOf({ inputs, initializers }: RawModel): Map<string, Computed> {
  const given = new Map<string, Computed>();
  for (const value of inputs)
    if (isLora(value.name, "A") || isLora(value.name, "B"))
      given.set(value.name, { value, sources: [value.name], key: "", nodes: [], ofWeights: false });
  for (const [name, { value, data }] of initializers) {
    const content = isExternal(data) ? undefined : contentOf(value as Value & { shape: number[] }, data);
    if (content !== undefined)
      given.set(name, { value: { ...value, content }, sources: [], key: `${content}`, nodes: [], ofWeights: false });
    else if (isExternal(data) && sizeOf(value.shape as number[]) <= SMALL)
      given.set(name, { value, sources: [name], key: "", nodes: [], ofWeights: true });
  }
  return given;
}

/** Returns a graph of constants from their sources. */
function modelOf(made: readonly Computed[], { opset, inputs, initializers }: RawModel): RawModel {
  const nodes = [...new Set(made.flatMap((one) => one.nodes))];
  const sources = new Set(made.flatMap((one) => one.sources));
  const weights = [...initializers].filter(([name]) => sources.has(name)).map(([, { value }]) => value);
  const read = new Set(nodes.flatMap((node) => node.inputs));
  return {
    name: "constants",
    opset,
    inputs: [...inputs.filter(({ name }) => sources.has(name)), ...weights],
    outputs: made.map(({ value }) => value),
    nodes,
    initializers: new Map([...initializers].filter(([name]) => read.has(name) && !sources.has(name))),
    metadata: {},
  };
}
