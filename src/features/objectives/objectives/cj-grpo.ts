/**
 * CJ-GRPO, GRPO on consistent trajectories (arXiv 2509.23924): the ratio of each token in the round that revealed it,
 * with its context in that round, rather than of a masked estimate of the finished text.
 *
 *   rho_{t,i} = exp(l_{t,i} - l_old_{t,i})           token i revealed in round t
 *   loss      = mean over g, mean over t, mean over i of max(-A rho, -A clip(rho, 1 - eps, 1 + eps)) + beta k3
 *
 * It is `flow-grpo` with one ratio per token and equal weights for every round of a response. The official code takes
 * the mean of a round over the tokens of the whole batch, and `advantage: center`.
 */
import { z } from "zod";
import { clippedObjective, clippedOptions } from "../../../rl/clipped.js";
import { meanOfRounds } from "../../../rl/layouts.js";
import type { Objective } from "../../../rl/objective.js";

const schema = z.strictObject({ ...clippedOptions });

export const objective: Objective<z.infer<typeof schema>> = {
  ...clippedObjective("steps"),
  name: "cj-grpo",
  description: "clipped ratio per token in the round that revealed it, every round counting the same",
  schema,
  layout: (trajectories, _, context) => meanOfRounds(context.stepTerms(trajectories, { level: "token" })),
};
