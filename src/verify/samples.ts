import type { SamplerOptions } from "../diffusion/sampler.js";
import type { Policy } from "../engine/policy.js";
import type { Sample } from "../train/rollouts/groups.js";
import { takeStarts, type VerifyContext } from "./proof.js";

/** Rollouts of the policy with credit of both signs, as a step would train on. */
export async function drawSamples(
  context: VerifyContext,
  policy: Policy,
  options: SamplerOptions,
  count: number,
  name: string,
): Promise<Sample[]> {
  const prompts = takeStarts(context, count, options);
  const rngs = prompts.map((_, i) => context.rng(`${name}/${i}`));
  const trajectories = await policy.sampler.rollout(policy.engine, prompts, options, rngs, count);
  const advantages = context.rng(`${name}/advantages`);
  return trajectories.map((trajectory, i) => ({
    trajectory,
    credit: (i % 2 === 0 ? 1 : -1) * (0.5 + advantages.uniform()),
    stream: (draws: string) => context.rng(`${name}/${draws}/${i}`),
  }));
}
