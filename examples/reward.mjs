// A reward of your own: refusion-train flow-grpo --config configs/tiny/letters-flow-grpo.yaml reward=./examples/reward.mjs
import { defineReward } from "refusion-train";

/** All or nothing, with a little for every right field: less to learn from, and nothing to be had by halves. */
export const reward = defineReward({
  score: (episode) => (episode.success ? 1 : 0.2 * episode.fieldAccuracy),
});
