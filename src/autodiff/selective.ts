import { Emitter } from "../onnx/emit.js";
import type { GraphBuilder } from "../onnx/graph.js";
import { delayed } from "../onnx/passes/delayed.js";
import { isStatic, sizeOf } from "../onnx/shapes.js";
import { BYTES, type Node, type Value } from "../onnx/types.js";
import { layerOf } from "./recompute.js";

/** Default least size in bytes of a result to recompute: no cache holds it until the backward pass. */
export const LARGE = 4 * 2 ** 20;

/** Ops that only change a result's shape. */
const VIEWS: ReadonlySet<string> = new Set(["Reshape"]);
/** Ops between the keys and queries of an attention and its softmax. */
const SCORES: ReadonlySet<string> = new Set(["MatMul", "Add"]);

/**
 * Selective recomputation (Korthikanti et al. 2022, arXiv 2205.05198, section 5): large results that cost little are
 * recomputed where a gradient reads them. Only results whose operands are kept anyway, for their own gradients, qualify:
 * activation functions, normalisations, products of two activations, and an attention's weights and transposed result.
 */
export class SelectiveRecompute {
  private readonly e: Emitter;
  private readonly made = new Map<string, Value>();
  /** The gradient that reached a layer first, for which all that is recomputed in the layer waits. */
  private readonly first = new Map<string, Value>();

  /** @param large least size of a result in bytes. */
  constructor(
    private readonly g: GraphBuilder,
    private readonly large: number,
  ) {
    this.e = new Emitter(g);
  }

  /** Returns a node of the forward pass that reads the recomputed values, available once `behind` is known. */
  node(node: Node, behind: Value): Node {
    const { stack = "", index = "" } = layerOf(node.name) ?? {};
    const layer = `${stack}.${index}`;
    const first = (stack === "" ? undefined : this.first.get(layer)) ?? behind;
    this.first.set(layer, first);
    const recomputed = (v: Value): Value => this.recompute(v, first);
    return { ...node, inputs: node.inputs.map((v) => v && recomputed(v)), outputs: node.outputs.map(recomputed) };
  }

  /** @param isScore for what a softmax reads. */
  private recompute(value: Value, behind: Value, isScore = false): Value {
    const earlier = this.made.get(value.name);
    if (earlier !== undefined) return earlier;
    const node = this.g.producer(value);
    if (node === undefined || this.g.isRecorded(value)) return value;
    const isView = VIEWS.has(node.op);
    if (!isView && !this.isCheap(node, value) && !(isScore && SCORES.has(node.op))) return value;
    const inputs = node.inputs.map((v) => v && this.recompute(v, behind, isScore || node.op === "Softmax"));
    const waits = inputs.some((v, i) => v !== node.inputs[i]);
    if (isView && !waits) return value;
    // one delayed operand is enough: then the node is not merged with its equal, and cannot run earlier
    const [first] = inputs;
    if (!waits && first !== undefined) inputs[0] = delayed(this.e, first, behind);
    const made = this.g.scope("again", () => this.g.node(node.op, inputs, node.attributes, { domain: node.domain }));
    this.made.set(value.name, made[0] as Value);
    return made[0] as Value;
  }

  private isCheap({ op, inputs, outputs }: Node, value: Value): boolean {
    if (outputs[0]?.name !== value.name) return false;
    // a shape with open sizes counts as large
    if (isStatic(value.shape) && sizeOf(value.shape) * BYTES[value.dtype] < this.large) return false;
    if (op === "QuickGelu" || op === "SimplifiedLayerNormalization") return true;
    if (op === "Softmax") return this.isProduct(inputs[0], ["Add", "Reshape"]);
    if (op === "Transpose") return this.isProduct(inputs[0], ["Reshape"]);
    const activations = inputs.filter(
      (v) => v?.shape.join() === value.shape.join() && this.g.producer(v) !== undefined,
    );
    return op === "Mul" && activations.length === 2;
  }

  /** Tells whether a value is a product of matrices, apart from these ops. */
  private isProduct(value: Value | undefined, through: readonly string[]): boolean {
    let node = value && this.g.producer(value);
    while (node !== undefined && through.includes(node.op)) node = node.inputs[0] && this.g.producer(node.inputs[0]);
    return node?.op === "MatMul";
  }
}
