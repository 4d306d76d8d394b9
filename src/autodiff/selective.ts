import { Emitter } from "../onnx/emit.js";
import type { GraphBuilder } from "../onnx/graph.js";
import { late } from "../onnx/passes/late.js";
import { isStatic, sizeOf } from "../onnx/shapes.js";
import { BYTES, type Node, type Value } from "../onnx/types.js";

/** Results from this size on, in bytes, are worth computing again: no cache holds them until the backward pass. */
export const LARGE = 4 * 2 ** 20;

/**
 * Selective recomputation (Korthikanti et al. 2022, arXiv 2205.05198, section 5): large results that cost one pass over
 * memory are computed again where a gradient reads them. Only those count whose operands are kept anyway, because their
 * own gradient reads them: activation functions, normalisations, and products of two activations.
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

  /** A node of the forward pass, reading what is computed again once `behind` is known. */
  node(node: Node, behind: Value): Node {
    const again = (v: Value): Value => this.again(v, behind);
    return { ...node, inputs: node.inputs.map((v) => v && again(v)), outputs: node.outputs.map(again) };
  }

  private again(value: Value, behind: Value): Value {
    const known = this.made.get(value.name);
    if (known !== undefined) return known;
    const node = this.g.producer(value);
    if (node === undefined || !this.isCheap(node, value)) return value;
    let waits = false;
    const inputs = node.inputs.map((v) => {
      const again = v && this.again(v, behind);
      waits ||= again !== v;
      return again;
    });
    // one operand that waits is enough: equal nodes are not merged, and this one cannot run before
    const [first] = inputs;
    if (!waits && first !== undefined) inputs[0] = late(this.e, first, behind);
    const made = this.g.scope("again", () => this.g.node(node.op, inputs, node.attributes, { domain: node.domain }));
    this.made.set(value.name, made[0] as Value);
    return made[0] as Value;
  }

  private isCheap({ op, inputs, outputs }: Node, value: Value): boolean {
    if (outputs[0]?.name !== value.name) return false;
    // open sizes may be any
    if (isStatic(value.shape) && sizeOf(value.shape) * BYTES[value.dtype] < this.large) return false;
    if (op === "QuickGelu" || op === "SimplifiedLayerNormalization") return true;
    const activations = inputs.filter(
      (v) => v?.shape.join() === value.shape.join() && this.g.producer(v) !== undefined,
    );
    return op === "Mul" && activations.length === 2;
  }
}
