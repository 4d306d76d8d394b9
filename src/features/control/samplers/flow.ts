import { z } from "zod";
import { misuse } from "../../../core/errors.js";
import type { Scoring } from "../../../diffusion/layout/scorings.js";
import type { Sampler } from "../../../diffusion/sampler.js";
import type { SampledModel } from "../../../diffusion/tokens.js";
import { gaussianHead, squaredErrorHead, velocityHead } from "../flow/heads.js";
import type { FlowOptions } from "../flow/options.js";
import { flowPolicy, networkOf } from "../flow/policy.js";
import { rollout } from "../flow/rollout.js";
import { supervisedTerms } from "../flow/supervised.js";
import { scoredSteps, stepTerms } from "../flow/terms.js";
import { type FlowTrajectory, parseTrajectory } from "../flow/trajectory.js";

/**
 * A flow-matching policy over chunks of actions: from noise x_0 ~ N(0, I) at t = 0 to the chunk x_K at t = 1 in K
 * steps of a stochastic differential equation with the marginals of the flow's ordinary equation (flow/step.ts). Its
 * steps are Gaussian with exact log-probabilities. At temperature 0 they are Euler steps of the ordinary equation.
 */
const schema = z.strictObject({
  steps: z.int().min(1).max(1000).default(10).describe("K: steps from noise to actions"),
  temperature: z
    .number()
    .refine((a) => a === 0 || a >= 0.001, "expected 0 or at least 0.001")
    .default(0.3)
    .describe("noise level a of the stochastic steps (Flow-GRPO); 0 = Euler steps of the ordinary equation"),
  ratio: z
    .enum(["sde", "cfm"])
    .default("sde")
    .describe(
      "what a step's ratio is of: sde = the exact log-probability of a stochastic step; cfm = the flow-matching loss at recorded draws, which is no likelihood",
    ),
  pairs: z.int().min(1).max(1000).default(4).describe("(tau, epsilon) draws of a chunk, a ratio each (ratio=cfm)"),
});

export type FlowConfig = z.output<typeof schema>;

function options(config: FlowConfig, model: SampledModel): FlowOptions {
  const network = networkOf(model);
  if (network === undefined)
    misuse("The sampler flow needs a velocity field over actions, and the model is none.", {
      hint: "use a model of architecture velocity, or sampler.kind=unmask for a model of text",
    });
  const { state_size: stateSize, depth, action_size: actionSize, chunk } = network;
  const promptLength = stateSize + depth * depth;
  return { ...config, stateSize, depth, promptLength, responseLength: chunk * actionSize, model };
}

export const sampler: Sampler<FlowConfig, FlowOptions, FlowTrajectory, Float32Array, Float32Array> = {
  schema,
  policy: flowPolicy,
  conditions: ["actions", "time", "state", "depth"],
  roundHead: velocityHead,
  scoreHeads: [gaussianHead, squaredErrorHead],
  options,
  shapes: ({ steps, ratio, pairs }) => ({
    dims: (batch) => ({ B: batch }),
    rows: undefined,
    steps: ratio === "cfm" ? pairs : steps,
  }),
  shrink: (all, _, steps) => ({ ...all, steps: Math.min(all.steps, steps), pairs: Math.min(all.pairs, steps) }),
  refuses: (scoring: Scoring, { temperature, ratio }) =>
    scoring === "steps" && temperature === 0 && ratio === "sde"
      ? {
          reason: "at sampler.temperature=0 the steps are deterministic, and have no probabilities",
          hint: "set sampler.temperature, as 0.6 (evaluation.temperature=0 keeps evaluations without noise), or sampler.ratio=cfm",
        }
      : undefined,
  rollout,
  parse: parseTrajectory,
  steps: scoredSteps,
  size: scoredSteps,
  stepTerms,
  supervisedTerms,
};
