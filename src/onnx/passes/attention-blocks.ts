/**
 * Attention by blocks of queries, each with the keys up to its own last row: keys that a causal mask blocks are not
 * computed, and no tensor of all scores [B, H, N, N] is stored. Softmax is over the same keys as without blocks, since
 * a blocked key has weight 0.
 */
import { Emitter } from "../emit.js";
import type { GraphBuilder } from "../graph.js";
import { sizeOf } from "../shapes.js";
import type { Node, Value } from "../types.js";

/** Scores [B, H, N, N] = q k + bias of O = softmax(scores) v. */
interface Scores {
  /** [B, H, N, D] */
  readonly q: Value;
  /** [B, Hkv, D, N] */
  readonly kt: Value;
  /** [B, 1, N, N] */
  readonly bias: Value;
}

/** Least queries per block: smaller products are slow. */
const BLOCK = 64;
/** Most blocks: more save little work, and enlarge the graph. */
const MOST_BLOCKS = 6;
/** Least size in bytes at which a block's weights are not kept for the backward pass: no cache holds them either. */
const LARGE = 4 * 2 ** 20;

export interface BlockOptions {
  /** Most scores B H N N that are computed in one piece; default 0. Blocks save work, and cost nodes. */
  readonly whole?: number;
  /** Set where gradients will read the graph: large weights are recomputed for them. */
  readonly recompute: boolean;
}

/**
 * Emits O [B, Hkv, H / Hkv * N, D] = softmax(q k + bias) v with a causal `bias`, in blocks.
 * @param product its operands: softmax(q k + bias), under any shape, and v [B, Hkv, N, D].
 * @returns undefined where it is another product, or too short.
 */
export function attentionInBlocks(
  g: GraphBuilder,
  [weights, v]: readonly (Value | undefined)[],
  { recompute, whole = 0 }: BlockOptions,
): Value | undefined {
  const length = v?.shape[2];
  if (weights === undefined || v?.shape.length !== 4 || typeof length !== "number") return undefined;
  const most = Math.min(MOST_BLOCKS, Math.floor(length / BLOCK));
  // equal sizes where possible: otherwise CUDA's Split and Concat copy a table with a number per row to the device
  const even = Array.from({ length: most }, (_, i) => most - i).find((n) => n > 1 && length % n === 0);
  const blocks = even ?? most;
  const scores = blocks < 2 ? undefined : scoresOf(g, weights, v);
  if (scores === undefined) return undefined;
  const { q, kt, bias } = scores;
  const e = new Emitter(g);
  const [batch, heads] = q.shape as [number, number];
  if (sizeOf([batch, heads, length, length]) <= whole) return undefined;
  const [kvHeads, width] = [v.shape[1] as number, v.shape[3] as number];
  // the first ones are longer: lengths need not be multiples
  const sizes = Array.from({ length: blocks }, (_, i) => Math.ceil((length - i) / blocks));
  const queries = e.split(q, sizes, 2);
  const keys = prefixes(e, kt, sizes, 3);
  const values = prefixes(e, v, sizes, 2);
  const outputs = sizes.map((size, i) => {
    const start = sizes.slice(0, i).reduce((sum, n) => sum + n, 0);
    const end = start + size;
    const stacked = (x: Value, last: number): Value =>
      heads === kvHeads ? x : e.reshape(x, [batch, kvHeads, (heads / kvHeads) * size, last]);
    const perHead = (x: Value, last: number): Value =>
      heads === kvHeads ? x : e.reshape(x, [batch, heads, size, last]);
    const shown = shownTo(e, bias, start, end);
    const [rows, key] = [stacked(queries[i] as Value, width), keys[i] as Value];
    const s = e.add(perHead(e.matmul(rows, key), end), shown);
    const p = e.softmax(s);
    const seen = stacked(p, end);
    const o = perHead(e.matmul(seen, values[i] as Value), width);
    if (!recompute || 4 * sizeOf(p.shape) < LARGE) return o;
    // log of the denominator: the largest score has the weight exp(score - lse)
    const lse = e.sub(e.maxOver(s, [-1]), e.log(e.maxOver(p, [-1])));
    g.rematerializeBy(seen, (behind) => {
      // exp([q | -lse] [k | 1] + bias): an expression unlike the forward pass's, because equal ones would be merged
      const column = e.neg(e.add(stacked(lse, 1), zeroOf(e, behind)));
      const shifted = e.matmul(e.concat([rows, column], 3), e.withOnes(g.rematerialize(key, behind), 2));
      return stacked(e.exp(e.add(perHead(shifted, end), shown)), end);
    });
    // 0, but depends on lse, so that lse is computed with the output and frees the scores and weights early
    return e.add(o, e.indicator(g.op("IsNaN", [lse])));
  });
  return e.reshape(e.concat(outputs, 2), [...weights.shape.slice(0, -1), width]);
}

/** Slices of a graph's bias, shared by all layers. */
const slices = new WeakMap<GraphBuilder, Map<string, Value>>();

/** Returns the bias of queries [start, end) for the keys up to `end`. */
function shownTo(e: Emitter, bias: Value, start: number, end: number): Value {
  const made = slices.get(e.g) ?? new Map<string, Value>();
  slices.set(e.g, made);
  const key = `${start} ${end}`;
  const shown = made.get(key) ?? e.slice(e.slice(bias, 2, start, end), 3, 0, end);
  made.set(key, shown);
  return shown;
}

/** Returns the prefixes of x along an axis: 1, 2, ... parts. Concatenated, not sliced: gradients add up by part. */
function prefixes(e: Emitter, x: Value, sizes: readonly number[], axis: number): Value[] {
  const parts = e.split(x, sizes, axis);
  return parts.map((part, i) => {
    if (i === 0) return part;
    const joined = e.concat(parts.slice(0, i + 1), axis);
    // sliced again for the backward pass: all prefixes together are several times x
    e.g.rematerializeBy(joined, () => e.slice(x, axis, 0, joined.shape[axis] as number));
    return joined;
  });
}

/** A zero [1] that depends on a value. */
const zeroOf = (e: Emitter, value: Value): Value => e.clip(e.slice(e.reshape(value, [-1]), 0, 0, 1), 0, 0);

/** Finds the scores behind attention weights. */
function scoresOf(g: GraphBuilder, weights: Value, v: Value): Scores | undefined {
  const behind = (value: Value | undefined, op: string): Node | undefined => {
    let node = value && g.producer(value);
    while (node?.op === "Reshape" && op !== "Reshape") node = g.producer(node.inputs[0] as Value);
    return node?.op === op ? node : undefined;
  };
  const softmax = behind(weights, "Softmax");
  const sum = behind(softmax?.inputs[0], "Add");
  const bias = sum?.inputs.find((x) => x?.name === "attention_bias");
  const scaled = sum?.inputs.find((x) => x !== bias);
  const [inner, scale] = behind(scaled, "Mul")?.inputs ?? [scaled];
  const product = behind(inner, "MatMul");
  if (scale !== undefined && !scale.shape.every((d) => d === 1)) return undefined;
  const [rows, kt] = product?.inputs ?? [];
  const isLast = [-1, 3].includes(Number(softmax?.attributes.axis ?? -1));
  if (softmax === undefined || bias === undefined || rows === undefined || kt === undefined || !isLast)
    return undefined;
  const [batch, heads, length] = softmax.outputs[0]?.shape ?? [];
  // heads that share keys were stacked along the queries
  const stacking = behind(rows, "Reshape");
  const q = rows.shape[1] === heads ? rows : stacking?.inputs[0];
  const width = v.shape[3];
  const fits = (x: Value | undefined, ...shape: unknown[]): boolean => x?.shape.join() === shape.join();
  const isPlain =
    fits(bias, batch, 1, length, length) &&
    fits(q, batch, heads, length, kt.shape[2]) &&
    fits(kt, batch, v.shape[1], width, length) &&
    fits(v, batch, kt.shape[1], length, width);
  if (!isPlain) return undefined;
  return { q: scale === undefined ? (q as Value) : g.op("Mul", [q, scale]), kt, bias };
}
