import type { Emitter } from "../onnx/emit.js";
import type { Dim, Value } from "../onnx/types.js";

export interface AttentionShapes {
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
}

/** Emits a layer's attention: q [B, N, H, D], already scaled, k and v [B, N, Hkv, D]; returns [B*N, H*D]. */
export type Attend = (layer: string, q: Value, k: Value, v: Value, shapes: AttentionShapes) => Value;

/**
 * The keys and values that a graph's tokens see: those of their own sequence, or of all sequences of the same forward,
 * or also those of an earlier forward, gathered in rows (rows.ts) or in place.
 */
export type KeysOf = "sequence" | "shared" | "past" | "lanes";

/** Name of the input that selects the keys and values of each row. */
export const KEYS = "keys";

/** Prefixes of a graph's inputs and outputs that carry keys and values from one forward to the next. */
export const PAST = "past/";
export const PRESENT = "present/";

/** Declares the inputs of a graph's attention by the source of its keys. */
export function attentionOver(of: KeysOf, e: Emitter): Attend {
  if (of === "lanes") return inLanes(e);
  if (of !== "sequence") return inRows(e, of === "past");
  const bias = e.g.input("attention_bias", "float32", ["B", 1, "N", "N"]);
  return (_, q, k, v, shapes) => attention(e, q, k, v, bias, shapes);
}

/**
 * Gathers tokens in rows: `queries` [A, Q] are token indices b*N+n, and `places` [B, N] is the index a*Q+q of each
 * token's result. `keys` [A, W] are token indices, too. With a past, the outputs `present/<name>` [A, W, H, D] of one
 * forward are the inputs `past/<name>` [C, V, H, D] of the next: a key from 0 on is one of the C*V old ones, and that of
 * the new token t is t - B*N. Keys are thus in the order of the sequence, and sums over them have the same bits as in a
 * forward over the whole sequence.
 */
function inRows(e: Emitter, hasPast: boolean): Attend {
  const { g } = e;
  const bias = g.input("attention_bias", "float32", ["A", 1, "Q", "W"]);
  const keys = g.input(KEYS, "int64", ["A", "W"]);
  const queries = g.input("queries", "int64", ["A", "Q"]);
  const places = g.input("places", "int64", ["B", "N"]);
  const flat = (x: Value): Value => e.reshape(x, [-1, ...x.shape.slice(2)]);
  const seen = (name: string, x: Value): Value => {
    if (!hasPast) return e.gather(flat(x), keys);
    const all = e.gather(e.concat([flat(pastOf(e, name, x)), flat(x)], 0), keys);
    g.output(`${PRESENT}${name}`, all);
    return all;
  };
  return (layer, q, k, v, shapes) => {
    const rows = e.gather(flat(q), queries);
    const context = attention(e, rows, seen(`${layer}/key`, k), seen(`${layer}/value`, v), bias, shapes);
    return e.reshape(e.gather(context, places), [-1, context.shape[1] as number]);
  };
}

/**
 * Leaves keys and values of an earlier forward where they are: `past/<name>` has a lane of V keys for each sequence, and
 * those of the new tokens, the last of their sequence, are written behind the kept ones, in the same memory. Every new
 * token sees all before it. The tokens of the sequences are concatenated: `starts` [A + 1] are the first one of each,
 * and T; `kept` [A] the numbers of kept keys, `lanes` [A, 1] the lanes, and `longest` [2] the most new tokens and the
 * most keys of a sequence. One operator of ONNX Runtime for CUDA, in 16 bits, does all that.
 */
function inLanes(e: Emitter): Attend {
  const { g } = e;
  const input = (name: string, ...shape: Dim[]): Value => g.input(name, "int32", shape);
  const [starts, kept, lanes] = [input("starts", "S"), input("kept", "A"), input("lanes", "A", 1)];
  const longest = input("longest", 2);
  return (layer, q, k, v, { heads, kvHeads, headDim }) => {
    const flat = (x: Value, n: number): Value => e.reshape(x, [-1, n * headDim]);
    const past = [pastOf(e, `${layer}/key`, k), pastOf(e, `${layer}/value`, v)];
    const none = Array.from({ length: 8 }, () => undefined);
    const [context, keys, values] = g.node(
      "PagedAttention",
      [flat(q, heads), flat(k, kvHeads), flat(v, kvHeads), ...past, starts, kept, lanes, ...none, longest],
      { num_heads: heads, kv_num_heads: kvHeads, scale: 1 },
    ) as [Value, Value, Value];
    g.output(`${PRESENT}${layer}/key`, keys);
    g.output(`${PRESENT}${layer}/value`, values);
    return context;
  };
}

/** Declares the keys or values of an earlier forward, for x [B, N, H, D] of this one. */
const pastOf = ({ g }: Emitter, name: string, x: Value): Value =>
  g.input(`${PAST}${name}`, "float32", ["C", "V", ...x.shape.slice(2)]);

/** Lists the keys and values of an earlier forward that a graph reads, with their heads and the heads' width. */
export function pastInputs(inputs: readonly { readonly name: string; readonly shape: readonly Dim[] }[]) {
  return inputs
    .filter(({ name }) => name.startsWith(PAST))
    .map(({ name, shape: [, , heads, width] }) => ({ name, heads: heads as number, width: width as number }));
}

/**
 * Grouped-query attention with an additive bias.
 * q [B, N, H, hd] (already scaled), k and v [B, S, Hkv, hd], bias [B, 1, N, S]; returns [B*N, H*hd].
 * The heads of a group are stacked along the query axis, so that K and V are never repeated.
 */
export function attention(e: Emitter, q: Value, k: Value, v: Value, bias: Value, s: AttentionShapes): Value {
  const grouped = s.heads !== s.kvHeads;
  const stack = (x: Value, last: number): Value => (grouped ? e.reshape(x, [0, s.kvHeads, -1, last]) : x);
  const qh = stack(e.transpose(q, [0, 2, 1, 3]), s.headDim);
  const kt = e.transpose(k, [0, 2, 3, 1]);
  const vh = e.transpose(v, [0, 2, 1, 3]);
  const scores = e.matmul(qh, kt);
  const perHead = grouped ? e.reshape(scores, [0, s.heads, -1, 0]) : scores;
  const weights = e.softmax(e.add(perHead, bias));
  const context = e.matmul(grouped ? e.reshape(weights, [0, s.kvHeads, -1, 0]) : weights, vh);
  const unstacked = grouped ? e.reshape(context, [0, s.heads, -1, 0]) : context;
  return e.reshape(e.transpose(unstacked, [0, 2, 1, 3]), [-1, s.heads * s.headDim]);
}
