import { fail, messageOf } from "../core/errors.js";
import { contentOf, evaluated } from "./evaluate.js";
import { int64 } from "./format/proto-common.js";
import { floatToBfloat16, floatToFloat16 } from "./half.js";
import type { Inferred } from "./infer.js";
import { Names } from "./names.js";
import { MICROSOFT_OPS, OPS } from "./ops.js";
import { formatShape, isStatic, sizeOf } from "./shapes.js";
import {
  ARRAYS,
  type Attribute,
  type Dim,
  type DType,
  type ExternalData,
  type Graph,
  type Initializer,
  isExternal,
  type Node,
  type TypedArray,
  type Value,
} from "./types.js";

/** The opset of every graph that this program writes. */
const OPSET = 21;

type Attributes = Readonly<Record<string, Attribute>>;

/** Makes the typed array of a dtype from numbers. */
export function typedArray(dtype: DType, values: readonly number[]): TypedArray {
  if (dtype === "float16") return floatToFloat16(Float32Array.from(values));
  if (dtype === "bfloat16") return floatToBfloat16(Float32Array.from(values));
  return dtype === "int64" ? BigInt64Array.from(values, int64) : ARRAYS[dtype].from(values);
}

/**
 * Builds a graph node by node: every value's dtype and shape is known at once, names are paths, equal constants are
 * shared, and integer shape arithmetic with a known result never becomes a node.
 */
export class GraphBuilder {
  private readonly inputs: Value[] = [];
  private readonly outputs: Value[] = [];
  private readonly nodeList: Node[] = [];
  private readonly initializerMap = new Map<string, Initializer>();
  private readonly constants = new Map<string, Value>();
  /** Shapes with symbols, as computed values. */
  private readonly shapes = new Map<string, Value>();
  private readonly names: Names;
  private readonly producers = new Map<string, Node>();
  private readonly recipes = new Map<string, (behind: Value) => Value>();
  private path: string[] = [];
  /** Names of the values made by {@link stopGradient}. */
  readonly stopped = new Set<string>();

  constructor(readonly name: string) {
    this.names = new Names(name);
  }

  get nodes(): readonly Node[] {
    return this.nodeList;
  }

  get initializers(): ReadonlyMap<string, Initializer> {
    return this.initializerMap;
  }

  input(name: string, dtype: DType, shape: readonly Dim[]): Value {
    this.names.claim(name);
    const value: Value = { name, dtype, shape };
    this.inputs.push(value);
    return value;
  }

  /** Declares a weight, in memory or in an external file, or a constant of a file (`/...`, which may get a number). */
  initializer(given: string, dtype: DType, shape: readonly number[], data: TypedArray | ExternalData): Value {
    if (!given.startsWith("/")) this.names.claim(given);
    const name = given.startsWith("/") ? this.names.fresh(given) : given;
    const content = isExternal(data) ? undefined : contentOf({ dtype, shape }, data);
    const value: Value = { name, dtype, shape, ...(content && { content }) };
    this.initializerMap.set(name, { value, data });
    return value;
  }

  /** Adds an unnamed constant; equal constants are shared. */
  constant(dtype: DType, shape: readonly number[], values: readonly number[]): Value {
    // join() writes -0 as 0
    const written = values.map((v) => (Object.is(v, -0) ? "-0" : v)).join(",");
    const key = `${dtype}${formatShape(shape)}${written}`;
    const made = this.constants.get(key);
    if (made !== undefined) return made;
    if (values.length !== sizeOf(shape))
      throw new Error(`constant of shape ${formatShape(shape)} with ${values.length} values`);
    const value = this.initializer(`/constants/${this.constants.size}`, dtype, shape, typedArray(dtype, values));
    this.constants.set(key, value);
    return value;
  }

  scalar(x: number, dtype: DType = "float32"): Value {
    return this.constant(dtype, [], [x]);
  }

  /** Returns a copy of `x` at which gradients stop (autodiff/backward.ts). */
  stopGradient(x: Value): Value {
    const copy = this.op("Identity", [x]);
    this.stopped.add(copy.name);
    return copy;
  }

  /** Returns a 1-D int64 value: axes, or a shape; computed from the graph's inputs where dimensions are symbols. */
  ints(values: readonly Dim[]): Value {
    if (isStatic(values)) return this.constant("int64", [values.length], values);
    return this.cached(values.join(), () => {
      const parts = values.map((d) => (typeof d === "number" ? this.ints([d]) : this.open(d)));
      return parts.length === 1 ? (parts[0] as Value) : this.op("Concat", parts, { axis: 0 });
    });
  }

  /** Returns the number [1] of a symbol: a dimension of an input, or a product of several. */
  private open(symbol: string): Value {
    return this.cached(`${symbol} `, () => {
      const factors = symbol.split("*");
      if (factors.length > 1) {
        const parts = factors.map((f) => (Number.isNaN(Number(f)) ? this.open(f) : this.ints([Number(f)])));
        return { ...parts.reduce((a, b) => this.op("Mul", [a, b])), content: [symbol] };
      }
      const input = this.inputs.find(({ shape }) => shape.includes(symbol));
      if (input === undefined) throw new Error(`no input of the graph ${this.name} has the dimension ${symbol}`);
      const axis = input.shape.indexOf(symbol);
      return this.op("Shape", [input], { start: axis, end: axis + 1 });
    });
  }

  private cached(key: string, make: () => Value): Value {
    const value = this.shapes.get(key) ?? make();
    this.shapes.set(key, value);
    return value;
  }

  /** Runs `build` with `name` appended to the path of all nodes it makes. */
  scope<T>(name: string, build: () => T): T {
    const outer = this.path;
    this.path = [...outer, name];
    try {
      return build();
    } finally {
      this.path = outer;
    }
  }

  /** Adds a node and returns all its outputs. `count` limits them where trailing outputs are optional. */
  node(
    op: string,
    inputs: readonly (Value | undefined)[],
    attributes: Attributes = {},
    options: { domain?: string; count?: number; name?: string } = {},
  ): Value[] {
    const rule = OPS[op];
    let name = options.name ?? this.names.fresh(`/${[...this.path, op].join("/")}`);
    if (rule === undefined)
      fail(`Unknown op ${op} at ${name}.`, {
        hint: "Export the model with the other exporter (dynamo=True or False) or another attn_implementation, which may do without it; docs/extending.md says how an operator is added.",
      });
    let inferred: readonly Inferred[];
    try {
      inferred = evaluated({ op, inputs, attributes }, rule({ op, inputs, attributes }));
    } catch (error) {
      throw new Error(`${messageOf(error)} (at ${name})`, { cause: error });
    }
    const folded = inferred.length === 1 ? this.fold(inferred[0] as Inferred) : undefined;
    if (folded !== undefined) return [folded];
    const kept = inferred.slice(0, options.count ?? inferred.length);
    if (options.name !== undefined) name = this.names.fresh(options.name);
    const outputs = kept.map((o, i): Value => ({ name: this.names.fresh(`${name}:${i}`), ...o }));
    const domain = options.domain ?? (MICROSOFT_OPS.has(op) ? "com.microsoft" : "");
    const node: Node = { name, op, domain, inputs, outputs, attributes };
    this.nodeList.push(node);
    for (const output of outputs) this.producers.set(output.name, node);
    return outputs;
  }

  /** Returns the producer of a value; undefined for inputs and constants. */
  producer(value: Value): Node | undefined {
    return this.producers.get(value.name);
  }

  /** Adds a node and returns its first output. */
  op(op: string, inputs: readonly (Value | undefined)[], attributes: Attributes = {}): Value {
    const odd = inputs.findIndex((input) => input !== undefined && typeof input?.name !== "string");
    if (odd >= 0) throw new TypeError(`${op}: operand ${odd + 1} is no value of a graph`);
    return this.node(op, inputs, attributes)[0] as Value;
  }

  /**
   * Records how a value is emitted again at its use, such as a weight that is decoded there.
   * @param make emits the same value, computed only after its argument.
   */
  rematerializeBy(value: Value, make: (behind: Value) => Value): void {
    this.recipes.set(value.name, make);
  }

  /** Tells whether it is recorded how a value is emitted again. */
  isRecorded(value: Value): boolean {
    return this.recipes.has(value.name);
  }

  /** Emits a recorded value again after `behind`, so that the first need not be kept; others are returned unchanged. */
  rematerialize(value: Value, behind: Value): Value {
    return this.recipes.get(value.name)?.(behind) ?? value;
  }

  /** Declares a graph output under its own name. */
  output(name: string, value: Value): Value {
    this.names.claim(name);
    const out: Value = { name, dtype: value.dtype, shape: value.shape };
    this.nodeList.push({
      name: this.names.fresh(`/outputs/${name}`),
      op: "Identity",
      domain: "",
      inputs: [value],
      outputs: [out],
      attributes: {},
    });
    this.outputs.push(out);
    return out;
  }

  build(metadata?: Readonly<Record<string, string>>): Graph {
    return live({
      name: this.name,
      opset: OPSET,
      inputs: this.inputs,
      outputs: this.outputs,
      nodes: this.nodeList,
      initializers: this.initializerMap,
      ...(metadata === undefined ? {} : { metadata }),
    });
  }

  /** Replaces a value whose integers are all known by a constant. */
  private fold(value: Inferred): Value | undefined {
    if (value.content === undefined || value.shape.length > 1 || !isStatic(value.content)) return undefined;
    if (value.dtype !== "int64" && value.dtype !== "int32") return undefined;
    return this.constant(value.dtype, value.shape as readonly number[], value.content);
  }
}

/** Returns the graph without the nodes that no output needs. */
export function live(graph: Graph): Graph {
  const needed = new Set(graph.outputs.map((v) => v.name));
  const nodes: Node[] = [];
  for (const node of [...graph.nodes].reverse()) {
    if (!node.outputs.some((v) => needed.has(v.name))) continue;
    nodes.push(node);
    for (const input of node.inputs) if (input !== undefined) needed.add(input.name);
  }
  const initializers = new Map([...graph.initializers].filter(([name]) => needed.has(name)));
  return { ...graph, nodes: nodes.reverse(), initializers };
}
