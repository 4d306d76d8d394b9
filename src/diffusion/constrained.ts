import type { Emitter } from "../onnx/emit.js";
import { i64 } from "../onnx/tensors.js";
import type { Tensor, Value } from "../onnx/types.js";
import { BLOCKED } from "./buffer.js";

/**
 * Constrained decoding: where a blank may hold one of the page's options only, a token is drawn among those that continue
 * one of them, or end it, and log p is renormalised over these. The tokens of a round are drawn one after the other, each
 * among what the ones before it leave, from the logits of one forward: the product of the terms is the path's probability.
 */

/** Columns of a table of token sets: powers of two, so that few sizes of graphs meet. */
function widthOf(sets: readonly (readonly number[] | undefined)[]): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, ...sets.map((set) => set?.length ?? 0))));
}

/** Sets of tokens as a table [R, M]; the rest of a row repeats its first token, or 0. */
export function tokenTable(sets: readonly (readonly number[] | undefined)[]): Tensor {
  const width = widthOf(sets);
  const table = new BigInt64Array(sets.length * width);
  sets.forEach((set, r) => {
    for (let i = 0; set !== undefined && i < width; i++) table[r * width + i] = BigInt(set[i] ?? set[0] ?? 0);
  });
  return i64([sets.length, width], table);
}

/**
 * Blocks what may not be drawn.
 * @param scaled [R, V] logits.
 * @param allowed [R, M] int64 tokens that may be drawn.
 * @param open [R] 1 where all may be drawn, whatever `allowed` says.
 */
export function withoutOthers(e: Emitter, scaled: Value, allowed: Value, open: Value): Value {
  const blocked = e.expand(e.mul(e.unsqueeze(e.sub(1, open), [1]), BLOCKED), scaled.shape);
  const free = e.mul(e.cast(allowed, "float32"), 0);
  return e.add(scaled, e.g.op("ScatterElements", [blocked, allowed, free], { axis: 1 }));
}

/**
 * Draws one of some tokens.
 * @param logProbs of them, up to a common summand; nats.
 * @param uniform in [0, 1); undefined: the most probable one.
 * @returns its place among them, and its log-probability among them alone.
 */
export function drawAmong(
  logProbs: readonly number[],
  uniform: number | undefined,
): { readonly index: number; readonly logProb: number } {
  const best = Math.max(...logProbs);
  const weights = logProbs.map((logProb) => Math.exp(logProb - best));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let index = logProbs.indexOf(best);
  let rest = (uniform ?? Number.POSITIVE_INFINITY) * total;
  for (let i = 0; i < weights.length && Number.isFinite(rest); i++) {
    rest -= weights[i] as number;
    // rounding at the end leaves the most probable one
    if (rest < 0) {
      index = i;
      break;
    }
  }
  return { index, logProb: (logProbs[index] as number) - best - Math.log(total) };
}
