import { BLOCKED } from "../attention/bias.js";
import type { Emitter } from "../onnx/emit.js";
import { i64 } from "../onnx/tensors.js";
import type { Tensor, Value } from "../onnx/types.js";

/**
 * Constrained decoding: where a blank accepts only the page's options, a token is drawn among those that continue or
 * end an option, and log p is renormalised over these. The tokens of a round are drawn in order from the logits of one
 * forward, each among those that its predecessors allow: the product of the terms is the path's probability.
 */

/** Columns of a table of token sets: powers of two, so that few graph sizes occur. */
const widthOf = (sets: readonly (readonly number[] | undefined)[]): number =>
  2 ** Math.ceil(Math.log2(Math.max(1, ...sets.map((set) => set?.length ?? 0))));

/** Converts sets of tokens to a table [R, M]; the rest of a row repeats its first token, or 0. */
export function tokenTable(sets: readonly (readonly number[] | undefined)[]): Tensor {
  const width = widthOf(sets);
  const table = new BigInt64Array(sets.length * width);
  sets.forEach((set, r) => {
    for (let i = 0; set !== undefined && i < width; i++) table[r * width + i] = BigInt(set[i] ?? set[0] ?? 0);
  });
  return i64([sets.length, width], table);
}

/**
 * Blocks the tokens that may not be drawn.
 * @param scaled [R, V] logits.
 * @param allowed [R, M] int64 tokens that may be drawn.
 * @param open [R] 1 where all tokens may be drawn, whatever `allowed` is.
 */
export function withoutOthers(e: Emitter, scaled: Value, allowed: Value, open: Value): Value {
  const blocked = e.expand(e.mul(e.unsqueeze(e.sub(1, open), [1]), BLOCKED), scaled.shape);
  const free = e.mul(e.cast(allowed, "float32"), 0);
  return e.add(scaled, e.g.op("ScatterElements", [blocked, allowed, free], { axis: 1 }));
}

/**
 * Draws one of several tokens.
 * @param logProbs of the tokens, up to a common constant; nats.
 * @param uniform in [0, 1); undefined: the most probable one.
 * @param explore probability with which each possible token is as likely as any other (epsilon-greedy; Sutton & Barto
 *   2018, 2.2).
 * @returns its index among them, and its log-probability under the policy, renormalised over them.
 */
export function drawAmong(
  logProbs: readonly number[],
  uniform: number | undefined,
  explore = 0,
): { readonly index: number; readonly logProb: number } {
  const best = Math.max(...logProbs);
  const weights = logProbs.map((logProb) => Math.exp(logProb - best));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let index = logProbs.indexOf(best);
  const explores = uniform !== undefined && uniform < explore;
  if (explores) {
    const possible = [...logProbs.keys()].filter((i) => Number.isFinite(logProbs[i]));
    index = possible[Math.floor((uniform / explore) * possible.length)] ?? index;
  }
  // what is left of the noise is even in [0, 1) again
  let rest =
    uniform === undefined || explores ? Number.POSITIVE_INFINITY : ((uniform - explore) / (1 - explore)) * total;
  for (let i = 0; i < weights.length && Number.isFinite(rest); i++) {
    rest -= weights[i] as number;
    // rounding at the end selects the most probable token
    if (rest < 0) {
      index = i;
      break;
    }
  }
  return { index, logProb: (logProbs[index] as number) - best - Math.log(total) };
}
