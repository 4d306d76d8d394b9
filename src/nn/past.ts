import type { Emitter } from "../onnx/emit.js";
import type { Dim, Value } from "../onnx/types.js";

/** Name of the input that says which keys and values each row of the attention sees. */
export const KEYS = "keys";

/** The keys and values that the tokens of a graph see, where these are not just those of their own sequence. */
export interface Keys {
  /** Sizes of the attention: rows, queries of a row. */
  readonly rows: readonly [Dim, Dim];
  /** x [B, N, H, D] of a graph's tokens: the queries [A, Q, H, D] of the attention's rows. */
  queriesOf(x: Value): Value;
  /** x [B, N, H, D] of a graph's tokens, by the layer's name: [A, W, H, D] of all that each row sees. */
  seen(name: string, x: Value): Value;
  /** [A*Q, D] of the rows as [B*N, D] of the tokens. */
  toTokens(x: Value): Value;
}

/**
 * Keys and values of the same forward. Tokens stand one behind the other, without padding; the attention has rows of
 * them: `queries` [A, Q] and `keys` [A, W] say which tokens, as b*N+n, and `places` [B, N] where each one's result is, as
 * a*Q+q. So a prompt that several sequences begin with is read once.
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

/** Names of a graph's inputs and outputs that carry keys and values from one forward to the next. */
export const PAST = "past/";
export const PRESENT = "present/";

/**
 * Keys and values of tokens that an earlier forward computed, in rows of tokens as in {@link SharedKeys}: the graph's own
 * outputs `present/<name>` [A*W, H, D], all rows one behind the other, come back as its inputs `past/<name>` [C, H, D].
 * `keys` [A, W] says which of them each row sees: an index of the C old ones, or b*N+n - B*N, which is below 0, for a new
 * token. So they stand in the order of the sequence, as in a forward over all of it, and sums over them are the same to
 * the last bit.
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
