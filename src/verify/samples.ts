import type { Policy } from "../engine/policy.js";
import { type BatchContext, prepareBatches, type ScoredBatch } from "../train/update.js";
import { type ObjectiveOnTrial, smallCanvas, takeStarts, type VerifyContext } from "./proof.js";

/**
 * Prepares a step of an objective as in training: on `count` rollouts on a small canvas with credit of both signs.
 * @param prepare lays samples out and fixes old values.
 */
export async function drawStep(
  context: VerifyContext,
  policy: Policy,
  trial: ObjectiveOnTrial,
  name: string,
  count: number,
  more: Pick<Partial<BatchContext<unknown>>, "size" | "share"> = {},
  prepare: typeof prepareBatches = prepareBatches,
): Promise<ScoredBatch[]> {
  const options = smallCanvas(policy);
  const prompts = takeStarts(context, count, options);
  const rngs = prompts.map((_, i) => context.rng(`${name}/${i}`));
  const trajectories = await policy.sampler.rollout(policy.engine, prompts, options, rngs, count);
  const advantages = context.rng(`${name}/advantages`);
  const samples = trajectories.map((trajectory, i) => ({
    trajectory,
    credit: (i % 2 === 0 ? 1 : -1) * (0.5 + advantages.uniform()),
    stream: (draws: string) => context.rng(`${name}/${draws}/${i}`),
  }));
  return prepare({ ...trial, policy: { ...policy, options }, size: count, ...more }, [samples]);
}
