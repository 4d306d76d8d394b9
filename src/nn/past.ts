import type { Emitter } from "../onnx/emit.js";
import type { Value } from "../onnx/types.js";

/** Names of a graph's inputs and outputs that carry keys and values from one forward to the next. */
export const PAST = "past/";
export const PRESENT = "present/";

/**
 * Keys and values of tokens that an earlier forward computed: the graph's own outputs `present/<name>` [B*W, H, D], all
 * sequences one behind the other, come back as its inputs `past/<name>` [C, H, D]. `keys` [B, W] says which rows each
 * sequence sees: an index of the C old rows, or b*N+n - B*N, which is below 0, for a new token. So they stand in the order
 * of the sequence, as in a forward over all of it, and sums over them are the same to the last bit.
 */
export class Past {
  private readonly keys: Value;

  constructor(private readonly e: Emitter) {
    this.keys = e.g.input("keys", "int64", ["B", "W"]);
  }

  /** x [B, N, H, D] of the new tokens: [B, W, H, D] of all that each sequence sees. */
  withOld(name: string, x: Value): Value {
    const { e } = this;
    const [heads, width] = x.shape.slice(2) as [number, number];
    const past = e.g.input(`${PAST}${name}`, "float32", ["C", heads, width]);
    const all = e.gather(e.concat([past, e.reshape(x, [-1, heads, width])], 0), this.keys);
    e.g.output(`${PRESENT}${name}`, e.reshape(all, [-1, heads, width]));
    return all;
  }
}
