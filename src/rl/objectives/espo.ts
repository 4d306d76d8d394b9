/**
 * ESPO, ELBO-based sequence-level policy optimisation (arXiv 2512.03759):
 *
 *   rho  = exp((ELBO_theta - ELBO_old) / L)                 one ratio per response, per token
 *   loss = - mean min(rho A, clip(rho, 1 - eps_low, 1 + eps_high) A) + beta * 1/2 (ELBO_theta - ELBO_ref)^2 / L
 *
 * ELBO by M Monte-Carlo corruptions with their complements, as defined by the sampler (masks:
 * diffusion/samplers/unmask/elbo.ts); theta, old and reference share the masks, since with separate masks the ratio
 * would be Monte-Carlo noise. L counts tokens up to and including EOS.
 */
import { z } from "zod";
import { advantageOptions } from "../credit.js";
import type { Objective } from "../objective.js";
import { sequenceObjective } from "../sequence-loss.js";
import { ratioOptions } from "../surrogate.js";

const schema = z.strictObject({
  mc_samples: z.int().min(1).max(1024).default(2).describe("M: mask draws of the ELBO"),
  coupled: z.boolean().default(true).describe("add the complement of every mask: each token is covered once a draw"),
  kl_coeff: z.number().min(0).default(3e-3).describe("beta: weight of the k2 penalty to the reference adapter"),
  ...ratioOptions(0.2),
  ...advantageOptions("leave_one_out"),
  noise_every: z
    .int()
    .min(0)
    .default(0)
    .describe("steps between measurements of the ratio's mask noise, three scoring passes each; 0 = never"),
});

export const objective: Objective<z.infer<typeof schema>> = {
  ...sequenceObjective("bound"),
  name: "espo",
  description: "sequence-level ratio of evidence lower bounds on shared masks, k2 penalty to the reference",
  schema,
  noiseEvery: (o) => o.noise_every,
  layout: (trajectories, o, context) => context.boundTerms(trajectories, { samples: o.mc_samples, coupled: o.coupled }),
};
