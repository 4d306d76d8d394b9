/**
 * Flow-GRPO on the unmasking trajectory (Liu et al. 2025, arXiv 2505.05470, for the denoising steps of a flow;
 * here a step is a round of unmasking, or a step of a discrete flow):
 *
 *   l_t(theta) = sum (or mean) over the tokens drawn in step t of their log-probabilities, which the sampler defines:
 *                log softmax(logits / tau)[token] of the tokens that a round reveals (unmask),
 *                log P(stay) or log P(jump) of every position (jump)
 *   rho_t      = exp(l_t - l_t_old)                       l_t_old comes from the rollout itself
 *   loss       = mean over (g, t) of max(-A rho_t, -A clip(rho_t, 1 - eps, 1 + eps)) + beta k3_t
 *   k3         = exp(d) - d - 1,  d = clamp(l_t_ref - l_t, +-10)     (Schulman 2020)
 */
import { z } from "zod";
import type { Rng } from "../../core/rng.js";
import { clippedObjective, clippedOptions } from "../clipped.js";
import { episodeCredit } from "../credit.js";
import type { Objective } from "../objective.js";
import { partCredit } from "../part-credit.js";

const schema = z
  .strictObject({
    ...clippedOptions,
    ratio_level: z
      .enum(["step", "token", "sequence"])
      .default("step")
      .describe("what one ratio covers: a round, a token, or a response"),
    reduction: z
      .enum(["sum", "mean"])
      .default("sum")
      .describe(
        "of the log-probabilities under one ratio; mean damps steps of many tokens (FS-DFM: all of the canvas)",
      ),
    ratio_clamp: z
      .number()
      .positive()
      .nullable()
      .default(null)
      .describe("log-ratios are clamped to +- this, where they have no gradient; null: not"),
    turn_credit: z
      .enum(["episode", "turn", "part"])
      .default("episode")
      .describe(
        "episode, turn: as in every objective; part: each token gets the advantage of the part of the answer that it is in (the line for a field of a form), where the environment scores parts; needs ratio_level: token",
      ),
    success_weight: z
      .number()
      .min(0)
      .default(0)
      .describe("of the advantage by success of the whole task, added to that of each part; needs turn_credit: part"),
    steps_per_update: z
      .union([z.literal("all"), z.int().min(1)])
      .default("all")
      .describe("rounds of a rollout in one update: all, or a random subset of K"),
  })
  .refine((o) => o.ratio_level !== "sequence" || o.steps_per_update === "all", {
    path: ["steps_per_update"],
    error: "must be all where ratio_level is sequence: the ratio of a part of a response is not that of the response",
  })
  .refine((o) => o.turn_credit !== "part" || o.ratio_level === "token", {
    path: ["turn_credit"],
    error: "part needs ratio_level: token: a round draws tokens of several parts",
  })
  .refine((o) => o.success_weight === 0 || o.turn_credit === "part", {
    path: ["success_weight"],
    error: "is added to the advantages of parts: needs turn_credit: part",
  });

const SHARED = clippedObjective("steps");

export const objective: Objective<z.infer<typeof schema>> = {
  ...SHARED,
  name: "flow-grpo",
  description: "clipped policy ratio per step of the sampler, group advantages, k3 penalty to the reference",
  schema,
  needs: (o) => ({ reference: o.kl_coeff > 0, parts: o.turn_credit === "part" }),
  unread: (o) => ({
    ...SHARED.unread(o),
    ...(o.ratio_level === "token" && { "objective.reduction": "a ratio covers one token" }),
  }),
  credit: (group, { turn_credit: kind, ...o }) =>
    kind === "part" ? partCredit(group, o) : episodeCredit(group, { ...o, turn_credit: kind }),
  layout(trajectories, o, context) {
    const k = o.steps_per_update;
    const layout = { level: o.ratio_level, reduction: o.reduction };
    if (k === "all") return context.stepTerms(trajectories, layout);
    const subset = trajectories.map((t, b) => {
      const all = Array.from({ length: context.steps(t) }, (_, i) => i);
      return (context.rngs[b] as Rng)
        .shuffle(all)
        .slice(0, k)
        .sort((a, b) => a - b);
    });
    return context.stepTerms(trajectories, { ...layout, subset });
  },
};
