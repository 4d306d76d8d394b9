/**
 * Attention by blocks of queries, each with the keys up to its own last row: what a causal layout never shows is not
 * computed, and no tensor of all scores [B, H, N, N] is held. Softmax is over the same keys as without blocks, since a
 * blocked key counts for nothing.
 */
import { Emitter } from "./emit.js";
import type { GraphBuilder } from "./graph.js";
import type { Node, Value } from "./types.js";

/** Scores [B, H, N, N] = q k + bias, and how they enter O = softmax(scores) v. */
interface Scores {
  /** [B, H, N, D] */
  readonly q: Value;
  /** [B, Hkv, D, N] */
  readonly kt: Value;
  /** [B, 1, N, N] */
  readonly bias: Value;
}

/** Least queries of a block: fewer make the products too small to be fast. */
const BLOCK = 64;
/** More blocks leave out little more, and make the graph larger. */
const MOST_BLOCKS = 8;

/**
 * O [B, Hkv, H / Hkv * N, D] = softmax(q k + bias) v of a causal `bias`, in blocks.
 * @param product its operands: softmax(q k + bias), under any shape, and v [B, Hkv, N, D].
 * @returns undefined where the product is another one, or too short.
 */
export function attentionInBlocks(g: GraphBuilder, [weights, v]: readonly (Value | undefined)[]): Value | undefined {
  const length = v?.shape[2];
  if (weights === undefined || v?.shape.length !== 4 || typeof length !== "number") return undefined;
  const blocks = Math.min(MOST_BLOCKS, Math.floor(length / BLOCK));
  const scores = blocks < 2 ? undefined : scoresOf(g, weights, v);
  if (scores === undefined) return undefined;
  const { q, kt, bias } = scores;
  const e = new Emitter(g);
  const [batch, heads] = q.shape as [number, number];
  const [kvHeads, width] = [v.shape[1] as number, v.shape[3] as number];
  // the first ones are the longer ones: lengths need not be multiples
  const sizes = Array.from({ length: blocks }, (_, i) => Math.ceil((length - i) / blocks));
  const queries = e.split(q, sizes, 2);
  const keys = e.split(kt, sizes, 3);
  const values = e.split(v, sizes, 2);
  let end = 0;
  const outputs = sizes.map((size, i) => {
    const start = end;
    end += size;
    // parts that are joined, not slices of the whole: their gradients are added part by part
    const upTo = (parts: readonly Value[], axis: number): Value =>
      i === 0 ? (parts[0] as Value) : e.concat(parts.slice(0, i + 1), axis);
    const stacked = (x: Value, last: number): Value =>
      heads === kvHeads ? x : e.reshape(x, [batch, kvHeads, (heads / kvHeads) * size, last]);
    const apart = (x: Value, last: number): Value => (heads === kvHeads ? x : e.reshape(x, [batch, heads, size, last]));
    const shown = e.slice(e.slice(bias, 2, start, end), 3, 0, end);
    const own = e.matmul(stacked(queries[i] as Value, width), upTo(keys, 3));
    const p = e.softmax(e.add(apart(own, end), shown));
    return apart(e.matmul(stacked(p, end), upTo(values, 2)), width);
  });
  return e.reshape(e.concat(outputs, 2), [...(weights.shape.slice(0, -1) as number[]), width]);
}

/** What attention weights are made of. */
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
