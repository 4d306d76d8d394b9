import type { Scoring } from "../diffusion/layout/scorings.js";
import type { Loss, LossInputs } from "./objective.js";
import {
  clipBounds,
  ratioMetrics,
  ratioObjective,
  type SurrogateOptions,
  surrogateOf,
  withEntropy,
} from "./surrogate.js";

/**
 * The clipped surrogate (surrogate.ts) with one ratio per response, per token (GSPO, arXiv 2507.18071; ESPO, arXiv
 * 2512.03759), with the k2 penalty to the reference and, with a positive weight, the entropy bonus:
 *
 *   rho  = exp((v - v_old) / L)
 *   loss = sum_s weight_s [ -min(rho A, clip(rho, 1 - eps_low, 1 + eps_high) A) + beta (v - v_ref)^2 / (2 L) ]
 */
export function sequenceLoss(inputs: LossInputs, o: SurrogateOptions & { readonly kl_coeff: number }): Loss {
  const { e, logProb, old, reference, advantage, weight, units } = inputs;
  const ratio = e.exp(e.div(e.sub(logProb, old), units));
  const surrogate = surrogateOf(e, { ratio, logProb: e.div(logProb, units), advantage }, o);
  const difference = e.sub(logProb, reference);
  const k2 = e.div(e.mul(e.mul(difference, difference), 0.5), units);
  const average = (v: typeof ratio): typeof ratio => e.total(e.mul(weight, v));
  const loss = {
    loss: average(o.kl_coeff > 0 ? e.add(surrogate, e.mul(k2, o.kl_coeff)) : surrogate),
    metrics: {
      kl: { value: average(k2), reduce: "sum" },
      ...ratioMetrics(inputs, ratio, clipBounds(o)),
      elbo_per_token: { value: average(e.div(logProb, units)), reduce: "sum" },
    },
  } as const;
  return withEntropy(loss, inputs, o.entropy_coeff);
}

/** The members that objectives with this loss share. */
export const sequenceObjective = (scoring: Scoring) => ({ ...ratioObjective(scoring), loss: sequenceLoss });
