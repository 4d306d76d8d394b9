/**
 * The old baseline: GRPO (Shao et al. 2024) on autoregressive log-probabilities of the final text, as if the model had
 * written it from left to right. It did not: these are not the probabilities the text was sampled with. Kept because the
 * success criterion compares with it.
 *
 *   l_i  = log p(y_i | prompt, y_<i), the logits shifted by one
 *   loss = mean over tokens of max(-A rho_i, -A clip(rho_i, 1 - eps, 1 + eps)) + beta k3_i
 */
import { z } from "zod";
import type { Batch } from "../../diffusion/batch.js";
import type { Trajectory } from "../../diffusion/trajectory.js";
import { clippedLoss, clippedOptions } from "../clipped.js";
import { episodeCredit } from "../credit.js";
import type { LayoutContext, Loss, LossInputs, Objective } from "../objective.js";
import { RATIO_OBJECTIVE } from "../surrogate.js";

const schema = z.strictObject({
  ...clippedOptions,
});

export type GrpoOptions = z.infer<typeof schema>;

export const objective: Objective<GrpoOptions> = {
  name: "grpo",
  description: "the old baseline: clipped ratio per token of the final text read from left to right",
  schema,
  learnsFrom: "rollouts",
  scoring: "text",
  needs: (o) => ({ reference: o.kl_coeff > 0 }),
  credit: episodeCredit,

  layout: (trajectories: readonly Trajectory[], _: GrpoOptions, context: LayoutContext): Batch =>
    context.textTerms(trajectories),

  ...RATIO_OBJECTIVE,
  loss: (inputs: LossInputs, o: GrpoOptions): Loss => clippedLoss(inputs, o),
};
