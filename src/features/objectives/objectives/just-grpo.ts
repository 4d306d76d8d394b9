/**
 * JustGRPO (arXiv 2601.15165): trains a diffusion language model as if it were autoregressive, from left to right, one
 * token per round, which makes its likelihood exact; any order of unmasking may be used afterwards.
 *
 *   loss = mean over g of -(1/L) sum_t min(rho_t A, clip(rho_t, 1 - eps, 1 + eps) A),  A = (R - mean) / (std + 1e-4)
 *
 * The official code (LeapLabTHU/JustGRPO, grpo.py) divides by the canvas instead of the response's own length, takes
 * the unbiased standard deviation, and needs a forward per position; here std is the population's, plus 1e-8
 * (advantages.ts). Meant for `sampler: {kind: unmask, order: left-to-right, slot_size: 1, rounds: <response_length>}`,
 * the order of its sampling: one packed sequence scores a whole response. With any other order it is the same loss on
 * the tokens as they were revealed.
 */
import { z } from "zod";
import { clippedObjective, clippedOptions } from "../../../rl/clipped.js";
import { countEqually } from "../../../rl/layouts.js";
import type { Objective } from "../../../rl/objective.js";

const schema = z.strictObject({
  ...clippedOptions,
  kl_coeff: clippedOptions.kl_coeff.default(0).describe("beta: weight of the k3 penalty to the reference adapter"),
});

export const objective: Objective<z.infer<typeof schema>> = {
  ...clippedObjective("steps"),
  name: "just-grpo",
  description:
    "clipped ratio per token of responses that are written from left to right, every response counting the same",
  schema,
  layout(trajectories, _, context) {
    const batch = context.stepTerms(trajectories, { level: "token" });
    return countEqually(batch, (s) => String(batch.owner[s]));
  },
};
