// An objective of your own: refusion-train train --config FILE objective.kind=./examples/objective.mjs
import { defineObjective, episodeCredit } from "refusion-train";
import { z } from "zod";

/**
 * REINFORCE (Williams 1992) with the group's mean as baseline: loss = - sum_s weight_s A_s log pi_s, one segment a
 * response. `credit` turns the rewards of a group into one number an episode.
 */
export const objective = defineObjective({
  name: "reinforce",
  description: "policy gradient without a ratio",
  schema: z.strictObject({
    adv_clip_max: z.number().positive().default(5).describe("advantages are clipped to +- this"),
  }),
  learnsFrom: "rollouts",
  scoring: "steps",
  needs: () => ({ reference: false }),
  credit: (group, { adv_clip_max }) => episodeCredit(group, { advantage: "center", adv_clip_max }),
  layout: (trajectories, _, context) => context.stepTerms(trajectories, { level: "sequence" }),
  loss({ e, logProb, advantage, weight }) {
    const loss = e.neg(e.total(e.mul(weight, e.mul(advantage, logProb))));
    return { loss, metrics: { log_probability: { value: e.total(e.mul(weight, logProb)), reduce: "sum" } } };
  },
});
