/**
 * GDPO, group diffusion policy optimisation (arXiv 2510.08554): the evidence lower bound by quadrature over the share
 * of masked tokens, which removes most of its Monte-Carlo variance, and a clipped ratio per response.
 *
 *   ELBO  = sum_n w_n (1 / (t_n K)) sum_k sum_{i in M_{n,k}} log p(y_i | y outside M_{n,k}),  floor(t_n L) masked
 *   rho   = exp((ELBO - ELBO_old) / L)
 *   loss  = mean over g of -min(rho A, clip(rho, 1 - eps, 1 + eps) A) (+ beta k2),  A = R - mean
 *
 * t_n and w_n are the nodes and weights of Gauss-Legendre quadrature on (0, 1); policy, old policy and reference share
 * masks. 1 / t_n is taken as L / floor(t_n L), the inverse of the share that is actually masked.
 */
import { z } from "zod";
import { advantageOptions } from "../../../rl/credit.js";
import type { Objective } from "../../../rl/objective.js";
import { sequenceObjective } from "../../../rl/sequence-loss.js";
import { ratioOptions } from "../../../rl/surrogate.js";

const schema = z.strictObject({
  points: z
    .union([z.literal(1), z.literal(2), z.literal(3), z.literal(4)])
    .default(3)
    .describe("nodes of the quadrature over the share of masked tokens"),
  mc_samples: z.int().min(1).max(1024).default(1).describe("K: masks a node"),
  ...ratioOptions(0.5),
  kl_coeff: z.number().min(0).default(0).describe("beta: weight of the k2 penalty to the reference adapter"),
  ...advantageOptions("center"),
});

/** Nodes and weights of Gauss-Legendre quadrature on (-1, 1) (Abramowitz & Stegun, table 25.4). */
const LEGENDRE: Readonly<Record<z.infer<typeof schema>["points"], readonly (readonly [number, number])[]>> = {
  1: [[0, 2]],
  2: [
    [-0.5773502691896257, 1],
    [0.5773502691896257, 1],
  ],
  3: [
    [-0.7745966692414834, 5 / 9],
    [0, 8 / 9],
    [0.7745966692414834, 5 / 9],
  ],
  4: [
    [-0.8611363115940526, 0.3478548451374538],
    [-0.3399810435848563, 0.6521451548625461],
    [0.3399810435848563, 0.6521451548625461],
    [0.8611363115940526, 0.3478548451374538],
  ],
};

export const objective: Objective<z.infer<typeof schema>> = {
  ...sequenceObjective("masks"),
  name: "gdpo",
  description: "clipped ratio per response of evidence lower bounds by quadrature",
  schema,
  layout: (trajectories, o, context) =>
    context.boundTerms(trajectories, {
      samples: o.mc_samples,
      coupled: false,
      quadrature: LEGENDRE[o.points].map(([x, w]) => ({ fraction: (x + 1) / 2, weight: w / 2 })),
    }),
};
