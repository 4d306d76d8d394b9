import { fail } from "../core/errors.js";
import { Emitter } from "../onnx/emit.js";
import type { GraphBuilder } from "../onnx/graph.js";
import type { Node, Value } from "../onnx/types.js";

/**
 * Emits a gradient. A fused thunk adds to `accumulated` itself (Gemm's C); for the others the walk adds. Where a
 * gradient further back is cheaper than the input's own, `of` names the value whose gradient this is.
 */
export interface Thunk {
  (accumulated?: Value): Value;
  readonly fused?: true;
  readonly of?: Value;
}

/** A node of the forward pass, and the same node as its gradient reads it, possibly with recomputed values. */
export interface Source {
  readonly node: Node;
  readonly read: Node;
}

export class RuleContext {
  readonly e: Emitter;
  constructor(
    readonly g: GraphBuilder,
    readonly node: Node,
    private readonly gradients: readonly (Value | undefined)[],
    private readonly forward: Node,
    private readonly reread: (node: Node) => Node,
  ) {
    this.e = new Emitter(g);
  }

  x(i = 0): Value {
    const v = this.node.inputs[i];
    if (v === undefined) throw new Error(`${this.node.op} has no input ${i} (at ${this.node.name})`);
    return v;
  }

  /** Returns an input for a gradient; a weight that is decoded at its use is decoded once more. */
  rematerialized(i: number): Value {
    return this.g.rematerialize(this.x(i), this.dy);
  }

  y(i = 0): Value {
    return this.node.outputs[i] as Value;
  }

  /** Returns the producer of an input, skipping ops that only change its layout or replace its NaN. */
  source(i = 0): Source | undefined {
    const of = (v: Value | undefined): Node | undefined => v && this.g.producer(v);
    let node = of(this.forward.inputs[i]);
    while (node !== undefined) {
      if (node.op === "Reshape") node = of(node.inputs[0]);
      else if (node.op === "Where" && of(node.inputs[0])?.op === "IsNaN") node = of(node.inputs[2]);
      else return { node, read: this.reread(node) };
    }
    return undefined;
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

  /** Rejects a form of the op that has no rule. @throws UserError. */
  refuse(form: string): never {
    fail(`No gradient rule for ${this.node.op} ${form} at ${this.node.name}.`, {
      hint: "Leave the modules before it out of lora.targets, or export the model without it.",
    });
  }

  /** Rejects gradients of an op's further outputs (statistics), which have no rule. */
  firstOutputOnly(): void {
    if (this.gradients.slice(1).some((g) => g !== undefined)) this.refuse("through an output beside the first");
  }
}

export type Rule = (c: RuleContext) => readonly (Thunk | null)[];
/** Marks a thunk as the gradient of `value`, which lies further back than the input. */
export const gradientOf = (value: Value, build: () => Value): Thunk => Object.assign(build, { of: value });
/** Marks a thunk that adds to the accumulated gradient itself. */
export const fused = (build: (accumulated?: Value) => Value): Thunk => Object.assign(build, { fused: true as const });
