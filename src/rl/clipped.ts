import { z } from "zod";
import { advantageOptions } from "./credit.js";
import type { Loss, LossInputs } from "./objective.js";
import { clipBounds, ratioOptions, type SurrogateOptions, surrogateOf, withEntropy } from "./surrogate.js";

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
  const { e, value, old, reference, advantage, weight } = inputs;
  const clamp = o.ratio_clamp ?? undefined;
  const change = e.sub(value, old);
  const ratio = e.exp(clamp === undefined ? change : e.clip(change, -clamp, clamp));
  const surrogate = surrogateOf(e, { ratio, logProb: value, advantage }, o);
  const difference = e.sub(reference, value);
  const d = e.clip(difference, -PENALTY_CLAMP, PENALTY_CLAMP);
  const k3 = e.sub(e.sub(e.exp(d), d), 1);
  const real = e.indicator(e.greater(weight, 0));
  const average = (v: typeof ratio): typeof ratio => e.total(e.mul(weight, v));
  const outside = (v: typeof ratio, low: number, high: number): typeof ratio =>
    e.indicator(e.g.op("Or", [e.less(v, low), e.greater(v, high)]));
  const loss = {
    loss: average(o.kl_coeff > 0 ? e.add(surrogate, e.mul(k3, o.kl_coeff)) : surrogate),
    metrics: {
      kl: { value: average(k3), reduce: "sum" },
      ratio_mean: { value: average(ratio), reduce: "sum" },
      ratio_max: { value: e.maxOver(e.mul(real, ratio), [0], false), reduce: "max" },
      ratio_error: { value: e.maxOver(e.mul(real, e.g.op("Abs", [e.sub(ratio, 1)])), [0], false), reduce: "max" },
      clip_fraction: { value: average(outside(ratio, ...clipBounds(o))), reduce: "sum" },
      kl_clamped_fraction: { value: average(outside(difference, -PENALTY_CLAMP, PENALTY_CLAMP)), reduce: "sum" },
    },
  } as const;
  return withEntropy(loss, inputs, o.entropy_coeff);
}
