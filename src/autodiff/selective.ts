import { Emitter } from "../onnx/emit.js";
import type { GraphBuilder } from "../onnx/graph.js";
import { delayed } from "../onnx/passes/delayed.js";
import { isStatic, sizeOf } from "../onnx/shapes.js";
import { BYTES, type Node, type Value } from "../onnx/types.js";

/** Default least size in bytes of a result to recompute: no cache holds it until the backward pass. */
export const LARGE = 4 * 2 ** 20;

/**
 * Selective recomputation (Korthikanti et al. 2022, arXiv 2205.05198, section 5): large results that cost one pass over
 * memory are recomputed where a gradient reads them. Only results whose operands are kept anyway, for their own
 * gradients, qualify: activation functions, normalisations, and products of two activations.
 */
export class SelectiveRecompute {
  private readonly e: Emitter;
  private readonly made = new Map<string, Value>();

  /** @param large least size of a result in bytes. */
  constructor(
    private readonly g: GraphBuilder,
    private readonly large: number,
  ) {
    this.e = new Emitter(g);
  }

  /** Returns a node of the forward pass that reads the recomputed values, available once `behind` is known. */
  node(node: Node, behind: Value): Node {
    const recomputed = (v: Value): Value => this.recompute(v, behind);
    return { ...node, inputs: node.inputs.map((v) => v && recomputed(v)), outputs: node.outputs.map(recomputed) };
  }

  private recompute(value: Value, behind: Value): Value {
    const known = this.made.get(value.name);
    if (known !== undefined) return known;
    const node = this.g.producer(value);
    if (node === undefined || !this.isCheap(node, value)) return value;
    let waits = false;
    const inputs = node.inputs.map((v) => {
      const recomputed = v && this.recompute(v, behind);
      waits ||= recomputed !== v;
      return recomputed;
    });
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
    const activations = inputs.filter(
      (v) => v?.shape.join() === value.shape.join() && this.g.producer(v) !== undefined,
    );
    return op === "Mul" && activations.length === 2;
  }
}
