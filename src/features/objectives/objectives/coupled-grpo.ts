/**
 * Coupled-GRPO (DiffuCoder, arXiv 2506.20639): token ratios of the finished text under a random mask and its
 * complement, which together predict every token once; policy, old policy and reference share the masks.
 *
 *   rho_i = exp(l_i - l_old_i),   l_i = log p(y_i | y outside the mask that covers i)
 *   loss  = mean over tokens of max(-A rho_i, -A clip(rho_i, 1 - eps, 1 + eps)) + beta k3_i
 *
 * The official code (apple/ml-diffucoder/src/open_r1/coupled_grpo.py) draws the share t of masked tokens from U(.2, .8)
 * and takes for l_i the mean of two: l_i under the mask times 1 / t (under the complement 1 / (1 - t)), and l_i with
 * the whole response masked. Neither is done here: a weight inside a ratio becomes an exponent of it, and the pair
 * needs no third pass. Mask sizes are drawn as in the bound (elbo.ts).
 */
import { z } from "zod";
import { clippedObjective, clippedOptions } from "../../../rl/clipped.js";
import { advantageOptions } from "../../../rl/credit.js";
import { perTerm } from "../../../rl/layouts.js";
import type { Objective } from "../../../rl/objective.js";

const schema = z.strictObject({
  ...clippedOptions,
  ...advantageOptions("leave_one_out"),
  mc_samples: z.int().min(1).max(1024).default(1).describe("pairs of masks a response"),
});

export const objective: Objective<z.infer<typeof schema>> = {
  ...clippedObjective("masks"),
  name: "coupled-grpo",
  description: "clipped ratio per token of the finished text under a mask and its complement",
  schema,
  layout: (trajectories, o, context) =>
    perTerm(context.boundTerms(trajectories, { samples: o.mc_samples, coupled: true })),
};
