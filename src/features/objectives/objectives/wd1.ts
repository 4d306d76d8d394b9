/**
 * wd1, weighted policy optimisation without a ratio (arXiv 2507.08838): raises the likelihood of a group's responses by
 * their softmax weight of high reward, and lowers it by that of low reward; no old or reference likelihood is used.
 *
 *   w+ = softmax(psi R) over the group,  w- = softmax(-psi R)
 *   loss = mean over g of G (w-_g - w+_g) (1/L) log pi(y_g | x)
 *
 * log pi is the evidence lower bound by M masks with their complements. The official code takes one step from all masks
 * with a part of the prompt masked, psi 1 and sums over the tokens of a response; the mean here gives long responses no
 * extra weight.
 */
import { z } from "zod";
import type { Objective } from "../../../rl/objective.js";

const schema = z.strictObject({
  psi: z.number().positive().default(4).describe("sharpness of the weights, per unit of reward"),
  mc_samples: z.int().min(1).max(1024).default(2).describe("M: mask draws of the bound"),
});

function softmax(xs: readonly number[]): number[] {
  const top = Math.max(...xs);
  const e = xs.map((x) => Math.exp(x - top));
  const total = e.reduce((a, x) => a + x, 0);
  return e.map((x) => x / total);
}

export const objective: Objective<z.infer<typeof schema>> = {
  name: "wd1",
  description: "weighted likelihood without a ratio: softmax weights of the good and the bad of a group",
  schema,
  learnsFrom: "rollouts",
  scoring: "bound",
  needs: () => ({ reference: false }),
  unread: () => ({ "training.reference_refresh": "it has no reference" }),
  credit(group, { psi }) {
    const rewards = group.flatMap(({ reward }) => (reward === null ? [] : [reward]));
    if (rewards.length < 2 || Math.max(...rewards) - Math.min(...rewards) < 1e-6) return group.map(() => null);
    const good = softmax(rewards.map((r) => psi * r));
    const bad = softmax(rewards.map((r) => -psi * r));
    let next = 0;
    return group.map(({ reward, turns }) => {
      if (reward === null) return null;
      const i = next++;
      const weight = rewards.length * ((good[i] as number) - (bad[i] as number));
      return turns.map(() => weight);
    });
  },
  layout: (trajectories, o, context) => context.boundTerms(trajectories, { samples: o.mc_samples, coupled: true }),
  loss({ e, logProb, advantage, weight, units }) {
    const perToken = e.div(logProb, units);
    return {
      loss: e.neg(e.total(e.mul(weight, e.mul(advantage, perToken)))),
      metrics: { elbo_per_token: { value: e.total(e.mul(weight, perToken)), reduce: "sum" } },
    };
  },
};
