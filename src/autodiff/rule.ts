import { UserError } from "../core/errors.js";
import { Emitter } from "../onnx/emit.js";
import type { GraphBuilder } from "../onnx/graph.js";
import type { Node, Value } from "../onnx/types.js";

/** Emits a gradient. A fused thunk adds to `accumulated` itself (Gemm's C), the others are added by the walk. */
export interface Thunk {
  (accumulated?: Value): Value;
  readonly fused?: true;
}

export class RuleContext {
  readonly e: Emitter;
  constructor(
    readonly g: GraphBuilder,
    readonly node: Node,
    private readonly gradients: readonly (Value | undefined)[],
  ) {
    this.e = new Emitter(g);
  }

  x(i = 0): Value {
    const v = this.node.inputs[i];
    if (v === undefined) throw new Error(`${this.node.op} has no input ${i} (at ${this.node.name})`);
    return v;
  }

  /** An input as a gradient needs it: a weight that is decoded where it is used is decoded once more. */
  again(i: number): Value {
    return this.g.again(this.x(i), this.dy);
  }

  y(i = 0): Value {
    return this.node.outputs[i] as Value;
  }

  /** The gradient of the first output. */
  get dy(): Value {
    return this.dyOf(0);
  }

  dyOf(i: number): Value {
    const given = this.gradients[i];
    if (given !== undefined) return given;
    const y = this.y(i);
    return this.e.zeros(y.shape, y.dtype);
  }

  int(name: string, fallback: number): number {
    const v = this.node.attributes[name];
    return v === undefined ? fallback : Number(v);
  }

  ints(input: number, attribute: string): readonly number[] | undefined {
    const content = this.node.inputs[input]?.content as readonly number[] | undefined;
    if (content !== undefined) return content;
    const v = this.node.attributes[attribute];
    return Array.isArray(v) ? (v as readonly number[]).map(Number) : undefined;
  }

  /** Ends the walk for a form of the op that has no rule. */
  refuse(form: string): never {
    throw new UserError(`No gradient rule for ${this.node.op} ${form} at ${this.node.name}.`, {
      hint: "Leave the modules before it out of lora.targets, or export the model without it.",
    });
  }

  /** For ops whose further outputs (statistics) have no gradient of their own. */
  firstOutputOnly(): void {
    if (this.gradients.slice(1).some((g) => g !== undefined)) this.refuse("through an output beside the first");
  }
}

export type Rule = (c: RuleContext) => readonly (Thunk | null)[];
/** Marks a thunk that adds to what is accumulated itself. */
export const fused = (build: (accumulated?: Value) => Value): Thunk => Object.assign(build, { fused: true as const });
