import { z } from "zod";
import type { Scoring } from "../diffusion/layout/scorings.js";
import { advantageOptions } from "./credit.js";
import type { Loss, LossInputs } from "./objective.js";
import {
  clipBounds,
  outside,
  ratioMetrics,
  ratioObjective,
  ratioOptions,
  type SurrogateOptions,
  surrogateOf,
  withEntropy,
} from "./surrogate.js";

/** Options of every objective with this loss. */
export const clippedOptions = {
  kl_coeff: z.number().min(0).default(0.04).describe("beta: weight of the k3 penalty to the reference adapter"),
  ...ratioOptions(0.2),
  ...advantageOptions("group"),
};

/** d is clamped to +- this before the exponential of k3. */
const PENALTY_CLAMP = 10;

/**
 * The clipped surrogate (surrogate.ts) on segments, with the k3 penalty to the reference (Schulman 2020):
 *
 *   rho  = exp(l - l_old)                                   l - l_old within +- ratio_clamp, where there is one
 *   loss = sum_s weight_s [ max(-A rho, -A clip(rho, 1 - eps_low, 1 + eps_high)) + beta k3 ] (- entropy bonus)
 *   k3   = exp(d) - d - 1,  d = clamp(l_ref - l, +-10)
 */
export function clippedLoss(
  inputs: LossInputs,
  o: SurrogateOptions & { readonly kl_coeff: number; readonly ratio_clamp?: number | null },
): Loss {
  const { e, logProb, old, reference, advantage, weight } = inputs;
  const clamp = o.ratio_clamp ?? undefined;
  const change = e.sub(logProb, old);
  const ratio = e.exp(clamp === undefined ? change : e.clip(change, -clamp, clamp));
  const surrogate = surrogateOf(e, { ratio, logProb, advantage }, o);
  const difference = e.sub(reference, logProb);
  const d = e.clip(difference, -PENALTY_CLAMP, PENALTY_CLAMP);
  const k3 = e.sub(e.sub(e.exp(d), d), 1);
  const average = (v: typeof ratio): typeof ratio => e.total(e.mul(weight, v));
  const loss = {
    loss: average(o.kl_coeff > 0 ? e.add(surrogate, e.mul(k3, o.kl_coeff)) : surrogate),
    metrics: {
      kl: { value: average(k3), reduce: "sum" },
      ...ratioMetrics(inputs, ratio, clipBounds(o)),
      kl_clamped_fraction: { value: average(outside(e, difference, [-PENALTY_CLAMP, PENALTY_CLAMP])), reduce: "sum" },
    },
  } as const;
  return withEntropy(loss, inputs, o.entropy_coeff);
}

/** The members that objectives with this loss share. */
export const clippedObjective = (scoring: Scoring) => ({ ...ratioObjective(scoring), loss: clippedLoss });
