import { PAST } from "../../attention/keys.js";
import { floatToBfloat16, floatToFloat16 } from "../../onnx/half.js";
import { Names } from "../../onnx/names.js";
import type { HalfDType } from "../../onnx/precision.js";
import { sameShape, sizeOf } from "../../onnx/shapes.js";
import { DTYPE_CODE, type Graph, type Initializer, isExternal, type Node, type Value } from "../../onnx/types.js";

/** Ops computed in 16 bits (their kernels sum in float32). */
const PRODUCTS: ReadonlySet<string> = new Set(["Gemm", "MatMul", "MatMulBnb4", "PagedAttention"]);

/** Ops whose result is in 16 bits if all their inputs of its size are. */
const FOLLOWING: ReadonlySet<string> = new Set([
  ...["Reshape", "Transpose", "Split", "Concat", "Slice", "Squeeze", "Unsqueeze", "Flatten", "Expand", "Identity"],
  ...["Add", "Sub", "Mul", "Neg", "Sigmoid", "Softmax", "ReduceSum", "ReduceMean", "QuickGelu", "Where"],
  ...["Gather", "RotaryEmbedding", "SimplifiedLayerNormalization"],
]);

/** Ops whose first input alone decides: the others are tables and weights, or indices. */
const BY_FIRST: ReadonlySet<string> = new Set(["Gather", "RotaryEmbedding", "SimplifiedLayerNormalization"]);

/** Ops with statistics as further outputs. */
const NORMS: ReadonlySet<string> = new Set(["SimplifiedLayerNormalization"]);

/** Ops whose operands may be broadcast; only operands of the output's shape decide. */
const BROADCAST: ReadonlySet<string> = new Set(["Add", "Sub", "Mul", "Where"]);

/** Most elements of a weight, such as a norm's or the scales of a 4-bit matrix, whose cast is made once and kept. */
const SMALL = 2 ** 20;

const ROUNDED = { bfloat16: floatToBfloat16, float16: floatToFloat16 } as const;

/** A node of a repeated layer, or of its gradient: `/model/layers.3/...`, `/grad/model/layers.3/...`. */
const LAYER = /\/[A-Za-z_]\w*[./]\d+\//;

/**
 * Converts the layers' products, and the ops between them, to 16 bits. Normalisations, the residual stream, the head,
 * the loss and gradients of parameters stay in float32 (mixed precision, Micikevicius et al. 2018, arXiv 1710.03740;
 * bfloat16 needs no loss scale, Kalamkar et al. 2019, arXiv 1905.12322). Inputs and outputs keep their
 * types: parameters are rounded before each product.
 */
export function halfTrunk(graph: Graph, half: HalfDType): Graph {
  return new HalfTrunk(graph, half).convert();
}

class HalfTrunk {
  private readonly nodes: Node[] = [];
  /** Values of the old graph that are now in 16 bits -> their new values. */
  private readonly halved = new Map<string, Value>();
  private readonly casts = new Map<string, Value>();
  private readonly sources = new Map<string, Value>();
  private readonly initializers: Map<string, Initializer>;
  /**
   * Nodes of layers that reshape values of all layers, such as angles, and nodes that choose between numbers or repeat
   * one, such as the attention's bias, by their result.
   */
  private readonly views = new Map<string, Node>();
  /** Results of nodes in layers. */
  private readonly inLayers = new Set<string>();
  private readonly outputs: ReadonlySet<string>;
  private readonly names: Names;

  constructor(
    private readonly graph: Graph,
    private readonly half: HalfDType,
  ) {
    this.outputs = new Set(graph.outputs.map((v) => v.name));
    this.names = Names.of(graph);
    this.initializers = new Map(graph.initializers);
  }

  convert(): Graph {
    for (const node of this.graph.nodes) this.add(node);
    return { ...this.graph, nodes: this.nodes, initializers: this.initializers };
  }

  private add(node: Node): void {
    const inputs = node.inputs;
    if (node.op === "Cast" && node.outputs[0] !== undefined && inputs[0] !== undefined)
      this.sources.set(node.outputs[0].name, this.halved.get(inputs[0].name) ?? inputs[0]);
    const inLayer = LAYER.test(node.name);
    const isOfAll = inLayer && node.op === "Reshape" && !this.inLayers.has(inputs[0]?.name ?? "");
    if (isOfAll || this.isOfNumbers(node)) this.views.set(this.output(node).name, node);
    if (inLayer) for (const { name } of node.outputs) this.inLayers.add(name);
    if (!inLayer || !this.runsInHalf(node)) {
      // a shape needs no cast
      const given = (v: Value): Value => (node.op === "Shape" ? (this.halved.get(v.name) ?? v) : this.as(v, "float32"));
      this.nodes.push({ ...node, inputs: inputs.map((v) => v && given(v)) });
      return;
    }
    const [, , c] = inputs;
    // a gradient is added to the sum in float32
    if (node.op === "Gemm" && c !== undefined && !this.isHalf(c) && sameShape(c.shape, this.output(node).shape)) {
      const { beta: _, ...attributes } = node.attributes;
      const output = this.output(node);
      const product = this.fresh(output, this.half);
      this.nodes.push(this.inHalf({ ...node, inputs: inputs.slice(0, 2), attributes }, [product]));
      const name = this.names.fresh(`${node.name}/accumulate`);
      const added = { name, op: "Add", domain: "", outputs: [output], attributes: {} };
      this.nodes.push({ ...added, inputs: [c, this.cast(product, "float32")] });
      return;
    }
    // a normalisation's second output is its statistic, which stays in float32
    const stays = (v: Value, i: number): boolean => v.dtype !== "float32" || (i > 0 && NORMS.has(node.op));
    const outputs = node.outputs.map((v, i) => (stays(v, i) ? v : this.fresh(v, this.half)));
    this.nodes.push(this.inHalf(node, outputs));
    node.outputs.forEach((v, i) => {
      const made = outputs[i] as Value;
      if (made === v) return;
      this.halved.set(v.name, made);
      if (this.outputs.has(v.name)) this.nodes.push(this.castNode(made, v));
    });
  }

  private runsInHalf(node: Node): boolean {
    const floats = node.inputs.filter((v): v is Value => v?.dtype === "float32");
    if (floats.length === 0 || this.output(node).dtype !== "float32") return false;
    if (PRODUCTS.has(node.op)) return true;
    if (!FOLLOWING.has(node.op)) return false;
    const [first] = node.inputs as [Value];
    // keys and values of earlier rounds were in 16 bits
    if (first.name.startsWith(PAST)) return true;
    if (BY_FIRST.has(node.op)) return this.isHalf(first);
    const computed = floats.filter(
      (v) => !this.graph.initializers.has(v.name) && !this.isOfNumbers(this.views.get(v.name)),
    );
    const { shape } = this.output(node);
    const deciding = BROADCAST.has(node.op) ? computed.filter((v) => sameShape(v.shape, shape)) : computed;
    if (deciding.length === 0) return false;
    // a norm's gradient reads its result, of which the products have a copy in 16 bits
    const hasHalf = (v: Value): boolean => this.isHalf(v) || this.casts.has(`${v.name} ${this.half}`);
    return deciding.some((v) => this.isHalf(v)) && deciding.every(node.op === "Mul" ? hasHalf : (v) => this.isHalf(v));
  }

  private output(node: Node): Value {
    return node.outputs[0] as Value;
  }

  private isHalf(v: Value): boolean {
    return (this.halved.get(v.name) ?? v).dtype === this.half;
  }

  private inHalf(node: Node, outputs: readonly Value[]): Node {
    return { ...node, inputs: node.inputs.map((v) => v && this.as(v, this.half)), outputs };
  }

  /** Casts a value to a float type, unless it has that type or is not a float. */
  private as(v: Value, dtype: "float32" | HalfDType): Value {
    const now = this.halved.get(v.name) ?? v;
    if (now.dtype === dtype || (now.dtype !== "float32" && now.dtype !== this.half)) return now;
    // a weight stored in 16 bits is used directly
    const source = this.sources.get(v.name);
    if (source?.dtype === dtype) return source;
    // values that were not float32 in the old graph stay as they are
    if (dtype === "float32" && v.dtype !== "float32") return now;
    return this.cast(now, dtype);
  }

  private cast(v: Value, dtype: "float32" | HalfDType): Value {
    const key = `${v.name} ${dtype}`;
    const known = this.casts.get(key);
    if (known !== undefined) return known;
    const made = this.fresh(v, dtype);
    const view = this.views.get(v.name);
    const number = this.number(v);
    if (number !== undefined) this.initializers.set(made.name, { value: made, data: ROUNDED[this.half](number) });
    // one cast for all layers
    else if (view !== undefined)
      this.nodes.push({
        ...view,
        name: this.names.fresh(`${view.name}/${dtype}`),
        inputs: view.inputs.map((input) => input && this.as(input, dtype)),
        outputs: [made],
      });
    else this.nodes.push(this.castNode(v, made));
    // a cached cast of a large weight would stay in memory from the forward to the backward pass
    const weight = this.graph.initializers.get(v.name);
    if (weight === undefined || !isExternal(weight.data) || sizeOf(v.shape as number[]) <= SMALL)
      this.casts.set(key, made);
    return made;
  }

  /** Tells whether a node chooses between numbers of the graph, or repeats one: 16 bits of it cost nothing. */
  private isOfNumbers(node: Node | undefined): boolean {
    const numbers = node?.op === "Where" ? node.inputs.slice(1) : node?.op === "Expand" ? node.inputs.slice(0, 1) : [];
    return numbers.length > 0 && numbers.every((v) => this.number(v) !== undefined);
  }

  /** Returns a float32 constant of the graph itself. */
  private number(v: Value | undefined): Float32Array | undefined {
    const data = this.graph.initializers.get(v?.name ?? "")?.data;
    return data instanceof Float32Array ? data : undefined;
  }

  private castNode(from: Value, to: Value): Node {
    const attributes = { to: DTYPE_CODE[to.dtype] };
    return { name: this.names.fresh("/cast"), op: "Cast", domain: "", inputs: [from], outputs: [to], attributes };
  }

  private fresh({ name, shape }: Value, dtype: Value["dtype"]): Value {
    return { name: this.names.fresh(`${name}/${dtype}`), dtype, shape };
  }
}
