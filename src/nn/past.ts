import type { Emitter } from "../onnx/emit.js";
import type { Value } from "../onnx/types.js";

/** Names of a graph's inputs and outputs that carry keys and values from one forward to the next. */
export const PAST = "past/";
export const PRESENT = "present/";

/**
 * Keys and values of tokens that an earlier forward computed: the graph's own outputs `present/<name>` [C', H, D], all
 * sequences one behind the other, come back as its inputs `past/<name>` [C, H, D], and `kept` [B, P] says which of their
 * rows each sequence sees in front of its new tokens.
 */
export class Past {
  private readonly kept: Value;

  constructor(private readonly e: Emitter) {
    this.kept = e.g.input("kept", "int64", ["B", "P"]);
  }

  /** x [B, N, H, D] of the new tokens behind the kept ones: [B, P+N, H, D]. */
  before(name: string, x: Value): Value {
    const { e } = this;
    const [heads, width] = x.shape.slice(2) as [number, number];
    const past = e.g.input(`${PAST}${name}`, "float32", ["C", heads, width]);
    const all = e.concat([e.gather(past, this.kept), x], 1);
    e.g.output(`${PRESENT}${name}`, e.reshape(all, [-1, heads, width]));
    return all;
  }
}
