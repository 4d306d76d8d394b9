import type { Policy } from "../../engine/policy.js";
import type { Objective } from "../../rl/objective.js";
import type { Sample } from "../../train/rollouts/groups.js";
import { type BatchContext, canShare, prepareBatches, type ScoredBatch } from "../../train/update.js";
import { type ObjectiveOnTrial, smallCanvas, takePairs, type VerifyContext } from "./proof.js";

/** Most rollouts of a proof's micro-batch: pairs of two prompts. */
const MOST = 4;

/** Returns the layout of the config's training steps, with micro-batches of a few rollouts. */
export async function trainingLayout(
  { config }: Pick<VerifyContext, "config">,
  policy: Policy,
  objective: Pick<Objective, "inputs" | "readsPrompt"> = {},
): Promise<Required<Pick<BatchContext<unknown>, "size" | "share">>> {
  return { size: Math.min(config.training.micro_batch, MOST), share: await canShare(policy, objective) };
}

/** Samples an objective's rollouts on a small canvas: pairs of one prompt, with credit of both signs. */
export async function drawSamples(
  context: VerifyContext,
  policy: Policy,
  name: string,
  count: number,
): Promise<Sample[]> {
  const options = smallCanvas(policy);
  const starts = takePairs(context, count, options);
  const rngs = starts.map((_, i) => context.rng(`${name}/${i}`));
  const trajectories = await policy.sampler.rollout(policy.engine, starts, options, rngs, count);
  const advantages = context.rng(`${name}/advantages`);
  return trajectories.map((trajectory, i) => ({
    trajectory,
    credit: (i % 2 === 0 ? 1 : -1) * (0.5 + advantages.uniform()),
    stream: (draws: string) => context.rng(`${name}/${draws}/${i}`),
  }));
}

/**
 * Prepares a step of an objective as in training, in the config's own layout.
 * @param prepare lays samples out and fixes old values.
 */
export async function drawStep(
  context: VerifyContext,
  policy: Policy,
  trial: ObjectiveOnTrial,
  name: string,
  count: number,
  prepare: typeof prepareBatches = prepareBatches,
): Promise<ScoredBatch[]> {
  const samples = await drawSamples(context, policy, name, count);
  const layout = await trainingLayout(context, policy, trial.objective);
  return prepare({ ...trial, policy: { ...policy, options: smallCanvas(policy) }, ...layout }, [samples]);
}
