import type { Emitter } from "../onnx/emit.js";
import type { Dim, Value } from "../onnx/types.js";

/** Name of the input that selects the keys and values of each attention row. */
export const KEYS = "keys";

/** The keys and values that a graph's tokens see, where these are not only those of their own sequence. */
export interface Keys {
  /** Sizes of the attention: rows, and queries per row. */
  readonly rows: readonly [Dim, Dim];
  /** Gathers the queries [A, Q, H, D] of the attention's rows from x [B, N, H, D]. */
  queriesOf(x: Value): Value;
  /** Gathers the keys or values [A, W, H, D] of each row, by the layer's name, with x [B, N, H, D] of this forward. */
  seen(name: string, x: Value): Value;
  /** Reorders results [A*Q, D] of the rows to [B*N, D] of the tokens. */
  toTokens(x: Value): Value;
}

/**
 * Keys and values of the same forward. Tokens are concatenated without padding and gathered in attention rows:
 * `queries` [A, Q] and `keys` [A, W] are token indices b*N+n, and `places` [B, N] is the index a*Q+q of each token's
 * result. A prompt that starts several sequences is thus read once.
 */
export class SharedKeys implements Keys {
  readonly rows = ["A", "Q"] as const;
  protected readonly keys: Value;
  private readonly queries: Value;
  private readonly places: Value;

  constructor(protected readonly e: Emitter) {
    this.keys = e.g.input(KEYS, "int64", ["A", "W"]);
    this.queries = e.g.input("queries", "int64", ["A", "Q"]);
    this.places = e.g.input("places", "int64", ["B", "N"]);
  }

  queriesOf(x: Value): Value {
    return this.gathered(x, this.queries);
  }

  seen(_name: string, x: Value): Value {
    return this.gathered(x, this.keys);
  }

  toTokens(x: Value): Value {
    return this.e.reshape(this.e.gather(x, this.places), [-1, x.shape[1] as number]);
  }

  private gathered(x: Value, tokens: Value): Value {
    return this.e.gather(this.e.reshape(x, [-1, ...x.shape.slice(2)]), tokens);
  }
}

/** Prefixes of a graph's inputs and outputs that carry keys and values from one forward to the next. */
export const PAST = "past/";
export const PRESENT = "present/";

/**
 * Reads keys and values of an earlier forward, gathered in rows as in {@link SharedKeys}. The outputs `present/<name>`
 * [A*W, H, D] of one forward are the inputs `past/<name>` [C, H, D] of the next. `keys` [A, W] selects the keys of each
 * row. An index from 0 on is one of the C old keys; the new token n of sequence b has the negative index b*N+n - B*N.
 * Keys are thus in the order of the sequence, and sums over them have the same bits as in a forward over the whole
 * sequence.
 */
export class Past extends SharedKeys {
  override seen(name: string, x: Value): Value {
    const { e } = this;
    const [heads, width] = x.shape.slice(2) as [number, number];
    const past = e.g.input(`${PAST}${name}`, "float32", ["C", heads, width]);
    const all = e.gather(e.concat([past, e.reshape(x, [-1, heads, width])], 0), this.keys);
    e.g.output(`${PRESENT}${name}`, e.reshape(all, [-1, heads, width]));
    return all;
  }
}
