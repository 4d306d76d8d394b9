/**
 * A baseline: GRPO (Shao et al. 2024) on autoregressive log-probabilities of the final text, scored from left to right.
 * These are not the probabilities with which the text was sampled. The success criterion compares with it.
 *
 *   l_i  = log p(y_i | prompt, y_<i), the logits shifted by one
 *   loss = mean over tokens of max(-A rho_i, -A clip(rho_i, 1 - eps, 1 + eps)) + beta k3_i
 */
import { z } from "zod";
import { clippedObjective, clippedOptions } from "../clipped.js";
import type { Objective } from "../objective.js";

const schema = z.strictObject({ ...clippedOptions });

export const objective: Objective<z.infer<typeof schema>> = {
  ...clippedObjective("text"),
  name: "grpo",
  description: "the old baseline: clipped ratio per token of the final text read from left to right",
  schema,
  layout: (trajectories, _, context) => context.textTerms(trajectories),
};
