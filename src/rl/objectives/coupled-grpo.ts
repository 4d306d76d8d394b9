/**
 * Coupled-GRPO (DiffuCoder, arXiv 2506.20639): token ratios of the finished text under a random mask and its complement,
 * which together predict every token once; the same masks for policy, old and reference.
 *
 *   rho_i = exp(l_i - l_old_i),   l_i = log p(y_i | y outside the mask that covers i)
 *   loss  = mean over tokens of max(-A rho_i, -A clip(rho_i, 1 - eps, 1 + eps)) + beta k3_i
 */
import { z } from "zod";
import { clippedLoss, clippedOptions } from "../clipped.js";
import { advantageOptions, episodeCredit } from "../credit.js";
import { perTerm } from "../layouts.js";
import type { Objective } from "../objective.js";

const schema = z.strictObject({
  ...clippedOptions,
  ...advantageOptions("leave_one_out"),
  mc_samples: z.int().min(1).default(1).describe("pairs of masks a response"),
});

export type CoupledGrpoOptions = z.infer<typeof schema>;

export const objective: Objective<CoupledGrpoOptions> = {
  name: "coupled-grpo",
  description: "clipped ratio per token of the finished text under a mask and its complement",
  schema,
  learnsFrom: "rollouts",
  scoring: "bound",
  needs: (o) => ({ reference: o.kl_coeff > 0 }),
  credit: episodeCredit,
  layout: (trajectories, o, context) =>
    perTerm(context.boundTerms(trajectories, { samples: o.mc_samples, coupled: true })),
  loss: clippedLoss,
};
