import type { Batch } from "../diffusion/layout/batch.js";
import { countEqually } from "./layouts.js";

/** Weights and corrections of an objective's segments, beside its loss; the options are in surrogate.ts. */
export interface WeighingOptions {
  readonly length_norm: "own" | "segment" | "response" | number;
  readonly importance_cap: number | null;
  /** Makes a segment's log-probability of those of its terms; default: their sum. */
  readonly reduction?: "sum" | "mean";
}

/**
 * Returns a batch with segments weighted by `length_norm`. `segment`: the mean over all of a step, DAPO's token level
 * (arXiv 2503.14476) where a ratio covers a token; `response`: the mean over responses of their means, as in GRPO
 * (arXiv 2402.03300); a number C: the sum over a response divided by C (Dr. GRPO, arXiv 2503.20783).
 */
export function normalised(batch: Batch, norm: WeighingOptions["length_norm"]): Batch {
  if (norm === "own") return batch;
  if (norm === "response") {
    // over a random subset of a response's segments, the mean estimates the mean of all
    const { sampled: _, ...rest } = batch;
    return countEqually(rest, (s) => String(batch.owner[s]));
  }
  const { share: _, ...rest } = batch;
  return rest;
}

/** Returns the divisor of a step's shares. @param sum of all shares. @param responses of the step. */
export const totalShare = (sum: number, responses: number, norm: WeighingOptions["length_norm"] | undefined): number =>
  typeof norm === "number" ? norm * responses : sum;

/**
 * Truncated importance sampling (Ionides 2008; for the sampler's rounding: Yao et al. 2025, "Your efficient RL
 * framework secretly brings you off-policy RL training"): weights another policy's samples for the current one,
 *
 *   w_s = min(exp(old_s - logProb_s), C)          of the segment's n tokens: times n in the exponent where it is a mean
 *
 * where ratios and clipping then start from `old`. 1 where both are the same policy.
 * @param batch `logProb` [S] under the policy that sampled.
 * @param old [S] log-probabilities under the policy before the update.
 * @returns [S] factors of the advantages.
 */
export function importanceWeights(
  { logProb, owner, units }: Pick<Batch, "logProb" | "owner" | "units">,
  old: Float32Array,
  { importance_cap: cap, reduction }: WeighingOptions,
): Float32Array {
  return Float32Array.from(owner, (b, s) => {
    const before = old[s] as number;
    const change = (before - (logProb?.[s] ?? before)) * (reduction === "mean" ? (units[s] as number) : 1);
    return b < 0 ? 0 : Math.min(Math.exp(change), cap ?? Number.POSITIVE_INFINITY);
  });
}
