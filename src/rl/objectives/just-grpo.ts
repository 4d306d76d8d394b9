/**
 * JustGRPO (arXiv 2601.15165): a diffusion language model trained as if it were autoregressive, from left to right, one
 * token a round, its likelihood then exact; any order of unmasking afterwards.
 *
 *   loss = mean over g of -(1/L) sum_t min(rho_t A, clip(rho_t, 1 - eps, 1 + eps) A),  A = (R - mean) / (std + 1e-4)
 *
 * Meant for `sampler: {kind: unmask, order: left-to-right, slot_size: 1, rounds: <response_length>}`, which is what it
 * samples with; a packed sequence scores what its code pays L forwards for. On any other order it is the same loss on
 * the tokens as they were revealed.
 */
import { z } from "zod";
import { clippedLoss, clippedOptions } from "../clipped.js";
import { episodeCredit } from "../credit.js";
import { countEqually } from "../layouts.js";
import type { Objective } from "../objective.js";

const schema = z.strictObject({ ...clippedOptions, kl_coeff: clippedOptions.kl_coeff.default(0) });

export type JustGrpoOptions = z.infer<typeof schema>;

export const objective: Objective<JustGrpoOptions> = {
  name: "just-grpo",
  description:
    "clipped ratio per token of responses that are written from left to right, every response counting the same",
  schema,
  learnsFrom: "rollouts",
  scoring: "steps",
  needs: (o) => ({ reference: o.kl_coeff > 0 }),
  credit: episodeCredit,
  layout(trajectories, _, context) {
    const batch = context.stepTerms(trajectories, { level: "token" });
    return countEqually(batch, (s) => String(batch.owner[s]));
  },
  loss: clippedLoss,
};
