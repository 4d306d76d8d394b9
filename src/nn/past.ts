import type { Emitter } from "../onnx/emit.js";
import type { Dim, Value } from "../onnx/types.js";
import { type AttentionShapes, attention } from "./layers.js";

/** Name of the input that selects the keys and values of each attention row. */
export const KEYS = "keys";

/** The keys and values that a graph's tokens see, where these are not only those of their own sequence. */
export interface Keys {
  /**
   * Emits the attention of a layer.
   * @param name of the layer. @param q [B, N, H, D], already scaled. @param k, v [B, N, Hkv, D] of this forward.
   * @returns [B*N, H*D]
   */
  attend(name: string, q: Value, k: Value, v: Value, shapes: AttentionShapes): Value;
}

/**
 * Keys and values of the same forward. Tokens are concatenated without padding and gathered in attention rows:
 * `queries` [A, Q] and `keys` [A, W] are token indices b*N+n, and `places` [B, N] is the index a*Q+q of each token's
 * result. A prompt that starts several sequences is thus read once.
 */
export class SharedKeys implements Keys {
  protected readonly keys: Value;
  private readonly bias: Value;
  private readonly queries: Value;
  private readonly places: Value;

  constructor(protected readonly e: Emitter) {
    this.bias = e.g.input("attention_bias", "float32", ["A", 1, "Q", "W"]);
    this.keys = e.g.input(KEYS, "int64", ["A", "W"]);
    this.queries = e.g.input("queries", "int64", ["A", "Q"]);
    this.places = e.g.input("places", "int64", ["B", "N"]);
  }

  attend(name: string, q: Value, k: Value, v: Value, shapes: AttentionShapes): Value {
    const { e } = this;
    const rows = this.gathered(q, this.queries);
    const context = attention(e, rows, this.seen(`${name}/key`, k), this.seen(`${name}/value`, v), this.bias, shapes);
    return e.reshape(e.gather(context, this.places), [-1, context.shape[1] as number]);
  }

  /** Gathers the keys or values [A, W, H, D] of each row, by their name, with x [B, N, H, D] of this forward. */
  protected seen(_name: string, x: Value): Value {
    return this.gathered(x, this.keys);
  }

  private gathered(x: Value, tokens: Value): Value {
    return this.e.gather(this.e.reshape(x, [-1, ...x.shape.slice(2)]), tokens);
  }
}

/** Prefixes of a graph's inputs and outputs that carry keys and values from one forward to the next. */
export const PAST = "past/";
export const PRESENT = "present/";

/** Lists the keys and values of an earlier forward that a graph reads, with their heads and the heads' width. */
export function pastInputs(inputs: readonly { readonly name: string; readonly shape: readonly Dim[] }[]) {
  return inputs
    .filter(({ name }) => name.startsWith(PAST))
    .map(({ name, shape: [, , heads, width] }) => ({ name, heads: heads as number, width: width as number }));
}

/**
 * Reads keys and values of an earlier forward, gathered in rows as in {@link SharedKeys}. The outputs `present/<name>`
 * [A, W, H, D] of one forward are the inputs `past/<name>` [C, V, H, D] of the next. `keys` [A, W] selects the keys of
 * each row. An index from 0 on is one of the C*V old keys; the new token n of sequence b has the negative index
 * b*N+n - B*N. Keys are thus in the order of the sequence, and sums over them have the same bits as in a forward over
 * the whole sequence.
 */
export class Past extends SharedKeys {
  override seen(name: string, x: Value): Value {
    const { e } = this;
    const [heads, width] = x.shape.slice(2) as [number, number];
    const [past, fresh] = [pastOf(e, name, x), x].map((v) => e.reshape(v, [-1, heads, width])) as [Value, Value];
    const all = e.gather(e.concat([past, fresh], 0), this.keys);
    e.g.output(`${PRESENT}${name}`, all);
    return all;
  }
}

/**
 * Keys and values of an earlier forward that stay where they are: `past/<name>` has a lane of V keys for each sequence,
 * and those of the new tokens, the last of their sequence, are written behind the kept ones, in the same memory. Every
 * new token sees all before it. The tokens of the sequences are concatenated: `starts` [A + 1] are the first one of
 * each, and T; `kept` [A] the numbers of kept keys, `lanes` [A, 1] the lanes, and `longest` [2] the most new tokens and
 * the most keys of a sequence. One operator of ONNX Runtime for CUDA, in 16 bits, does all that.
 */
export class Lanes implements Keys {
  private readonly layout: readonly Value[];

  constructor(private readonly e: Emitter) {
    const { g } = e;
    this.layout = LANE_INPUTS.map(({ name, shape }) => g.input(name, "int32", shape));
  }

  attend(name: string, q: Value, k: Value, v: Value, { heads, kvHeads, headDim }: AttentionShapes): Value {
    const { e } = this;
    const [starts, kept, lanes, longest] = this.layout;
    const flat = (x: Value, n: number): Value => e.reshape(x, [-1, n * headDim]);
    const past = [pastOf(e, `${name}/key`, k), pastOf(e, `${name}/value`, v)];
    const none = Array.from({ length: 8 }, () => undefined);
    const [context, keys, values] = e.g.node(
      "PagedAttention",
      [flat(q, heads), flat(k, kvHeads), flat(v, kvHeads), ...past, starts, kept, lanes, ...none, longest],
      { num_heads: heads, kv_num_heads: kvHeads, scale: 1 },
    ) as [Value, Value, Value];
    e.g.output(`${PRESENT}${name}/key`, keys);
    e.g.output(`${PRESENT}${name}/value`, values);
    return context;
  }
}

const LANE_INPUTS = [
  { name: "starts", shape: ["S"] },
  { name: "kept", shape: ["A"] },
  { name: "lanes", shape: ["A", 1] },
  { name: "longest", shape: [2] },
] as const;

/** Declares the keys or values of an earlier forward, for x [B, N, H, D] of this one. */
function pastOf({ g }: Emitter, name: string, x: Value): Value {
  return g.input(`${PAST}${name}`, "float32", ["C", "V", ...x.shape.slice(2)]);
}
