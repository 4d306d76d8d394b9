import type { Batch } from "../../diffusion/layout/batch.js";
import type { Objective } from "../../rl/objective.js";

/** An objective with the loss sum(coefficient * score): its gradient is the weighted sum of the scores' gradients. */
export const linearObjective: Objective = {
  name: "linear",
  description: "sum of coefficient * score",
  schema: undefined as unknown as Objective["schema"],
  learnsFrom: "rollouts",
  scoring: "steps",
  needs: () => ({ reference: false }),
  credit: (group) => group.map(() => null),
  layout(): Batch {
    throw new Error("the batches of this objective are given");
  },
  loss: ({ e, logProbs, coefficient }) => ({ loss: e.total(e.mul(logProbs, coefficient)), metrics: {} }),
};
