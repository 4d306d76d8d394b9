import type { Emitter } from "../onnx/emit.js";
import type { Value } from "../onnx/types.js";

/** Name of the input [B, W] that says which keys and values each sequence sees. */
export const KEYS = "keys";

/** The keys and values that the tokens of a graph see, where these are not just those of their own sequence. */
export interface Keys {
  /** x [B, N, H, D] of a graph's tokens, by the layer's name: [B, W, H, D] of all that each sequence sees. */
  seen(name: string, x: Value): Value;
}

/**
 * Keys and values of the same forward: `keys` [B, W] says which tokens each sequence sees, as b*N+n. So a prompt that
 * several sequences begin with is read once.
 */
export class SharedKeys implements Keys {
  private readonly keys: Value;

  constructor(private readonly e: Emitter) {
    this.keys = e.g.input(KEYS, "int64", ["B", "W"]);
  }

  seen(_name: string, x: Value): Value {
    return this.e.gather(this.e.reshape(x, [-1, ...(x.shape.slice(2) as number[])]), this.keys);
  }
}

/** Names of a graph's inputs and outputs that carry keys and values from one forward to the next. */
export const PAST = "past/";
export const PRESENT = "present/";

/**
 * Keys and values of tokens that an earlier forward computed: the graph's own outputs `present/<name>` [B*W, H, D], all
 * sequences one behind the other, come back as its inputs `past/<name>` [C, H, D]. `keys` [B, W] says which rows each
 * sequence sees: an index of the C old rows, or b*N+n - B*N, which is below 0, for a new token. So they stand in the order
 * of the sequence, as in a forward over all of it, and sums over them are the same to the last bit.
 */
export class Past implements Keys {
  private readonly keys: Value;

  constructor(private readonly e: Emitter) {
    this.keys = e.g.input(KEYS, "int64", ["B", "W"]);
  }

  seen(name: string, x: Value): Value {
    const { e } = this;
    const [heads, width] = x.shape.slice(2) as [number, number];
    const past = e.g.input(`${PAST}${name}`, "float32", ["C", heads, width]);
    const all = e.gather(e.concat([past, e.reshape(x, [-1, heads, width])], 0), this.keys);
    e.g.output(`${PRESENT}${name}`, e.reshape(all, [-1, heads, width]));
    return all;
  }
}
