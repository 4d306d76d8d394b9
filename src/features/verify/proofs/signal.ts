import { closing } from "../../../core/closing.js";
import { mean, sampleStd } from "../../../core/statistics.js";
import type { SamplerOptions } from "../../../diffusion/sampler.js";
import type { TokenTrajectory, Trajectory } from "../../../diffusion/trajectory.js";
import type { Policy } from "../../../engine/policy.js";
import type { Tensor } from "../../../onnx/types.js";
import { sameValues } from "../../../train/micro-batch.js";
import type { Sample } from "../../../train/rollouts/groups.js";
import { prepareBatches } from "../../../train/update.js";
import { inner, mapTensors, moved } from "../direction.js";
import { linearObjective } from "../linear-objective.js";
import {
  type Measurement,
  type ObjectiveOnTrial,
  onePerScoring,
  type Proof,
  smallCanvas,
  stepsOf,
  takeStarts,
  type VerifyContext,
} from "../proof.js";

const GROUPS = 32;
const GROUP_SIZE = 8;
const STANDARD_ERRORS = 2;

/** Episodes of one prompt. */
interface Group {
  readonly name: string;
  readonly trajectories: readonly Trajectory[];
}

/**
 * Measures each objective on the same recorded rollouts: a gradient per group, its signal-to-noise ratio (the squared
 * norm of the mean gradient over the trace of its variance, per rollout), and whether its mean step raises the reward.
 * The step is compared with the policy gradient, the mean over other rollouts of (R - mean) times grad log pi,
 * which uses no objective's code: an objective fails if its step points away from it by more than the limit in standard
 * errors over groups. Biased likelihoods pass as long as the reward rises; their lower cosine is shown.
 * @param prepare lays samples out and fixes old values.
 */
export async function measureSignal(
  context: VerifyContext,
  prepare: typeof prepareBatches = prepareBatches,
): Promise<Measurement[]> {
  const recorded = await record(context, "signal");
  const direction = await policyGradient(context, await record(context, "signal/exact"));
  const measurements: Measurement[] = [];
  for (const trial of onePerScoring(context.objectives))
    measurements.push(describe(trial.objective.name, await gradients(context, trial, recorded, prepare), direction));
  return measurements;
}

type Gradient = ReadonlyMap<string, Tensor>;

/** Computes the sum over groups and rollouts of (R - mean of the group) d log pi. */
async function policyGradient(context: VerifyContext, groups: readonly Group[]): Promise<Gradient> {
  await using policy = closing(await context.open({ objective: linearObjective, options: {} }));
  const { engine, sampler } = policy;
  const reward = rewardOf(policy);
  const sizes = { batch: GROUP_SIZE, lengthStep: 16, level: "sequence" } as const;
  for (const { trajectories } of groups) {
    const rewards = trajectories.map(reward);
    const middle = mean(rewards);
    const batch = stepsOf(sampler)(trajectories, smallCanvas(policy), sizes);
    const coefficient = batch.coefficient.map(
      (c, r) => c * ((rewards[batch.owner[Number(batch.segment[r])] ?? -1] ?? middle) - middle),
    );
    await engine.accumulate({ ...batch, coefficient }, sameValues(new Float32Array(batch.segments)));
  }
  return await gradientOf(engine);
}

/** Reads the accumulated gradient of the parameters that the policy shares with the reference. */
async function gradientOf(engine: Policy["engine"]): Promise<Gradient> {
  const shared = await engine.getParameters("reference");
  return new Map([...(await engine.getGradients())].filter(([name]) => shared.has(name)));
}

/** @param all gradients of the loss, one per group that teaches something. */
function describe(objective: string, all: readonly Gradient[], direction: Gradient): Measurement {
  const count = all.length;
  const name = `${objective}: its step raises the reward`;
  if (count < 2)
    return {
      name,
      measured: 0,
      limit: STANDARD_ERRORS,
      detail: `it learns from ${count} of ${GROUPS} groups`,
      proved: false,
    };
  const none = mapTensors(all[0] as Gradient, (data) => data.map(() => 0));
  const centre = all.reduce((sum, g) => moved(sum, g, 1 / count), none);
  const noise = (all.reduce((sum, g) => sum + inner(g, g), 0) - count * inner(centre, centre)) / (count - 1);
  // the mean over `count` groups has their noise / count, which its squared norm contains
  const signal = inner(centre, centre) - noise / count;
  const ratio = signal > 0 ? (signal / (noise * GROUP_SIZE)).toExponential(1) : "not resolved";
  // an update descends the loss
  const along = all.map((g) => -inner(g, direction));
  const cosine = mean(along) / Math.sqrt(inner(centre, centre) * inner(direction, direction));
  const size = Math.sqrt(inner(centre, centre) / inner(direction, direction)) * GROUPS * GROUP_SIZE;
  const away = (-mean(along) / sampleStd(along)) * Math.sqrt(count);
  return {
    name,
    measured: away,
    limit: STANDARD_ERRORS,
    proved: away < -STANDARD_ERRORS,
    detail: `standard errors away from the policy gradient, cosine ${cosine.toFixed(2)}, size ${size.toPrecision(2)}; signal-to-noise ${ratio} a rollout, ${count} groups of ${GROUP_SIZE}`,
  };
}

/** Samples the rollouts for all objectives; recording drafts changes nothing else. */
async function record(context: VerifyContext, name: string): Promise<Group[]> {
  const { policy } = context;
  const options: SamplerOptions = { ...smallCanvas(policy), recordDrafts: true };
  const starts = takeStarts(context, GROUPS, options).flatMap((prompt) =>
    Array.from({ length: GROUP_SIZE }, () => prompt),
  );
  const rngs = starts.map((_, i) => context.rng(`${name}/${i}`));
  const all = (await policy.sampler.rollout(policy.engine, starts, options, rngs, GROUP_SIZE)) as Trajectory[];
  return Array.from({ length: GROUPS }, (_, g) => ({
    name: `${name}/${g}`,
    trajectories: all.slice(g * GROUP_SIZE, (g + 1) * GROUP_SIZE),
  }));
}

type Reward = (trajectory: object) => number;

/** The share of tokens with an even id in a response; of positive numbers in a chunk of actions. */
const rewardOf =
  ({ actionOf }: Pick<Policy, "actionOf">): Reward =>
  (trajectory) => {
    const share = (of: readonly number[], good: (x: number) => boolean): number => of.filter(good).length / of.length;
    if ("response" in trajectory) return share((trajectory as TokenTrajectory).response, (token) => token % 2 === 0);
    return share([...(actionOf(trajectory as Trajectory).vector ?? [])], (a) => a > 0);
  };

/** Computes the gradient of the loss on each group with credit. */
async function gradients(
  context: VerifyContext,
  trial: ObjectiveOnTrial,
  groups: readonly Group[],
  prepare: typeof prepareBatches,
): Promise<Gradient[]> {
  await using policy = closing(await context.open(trial));
  const { engine } = policy;
  const options = smallCanvas(policy);
  const out: Gradient[] = [];
  for (const group of groups) {
    const samples = samplesOf(context, policy, trial, group);
    if (samples.length === 0) continue;
    const batches = await prepare({ ...trial, policy: { ...policy, options }, size: GROUP_SIZE }, [samples]);
    engine.discardGradients();
    for (const { batch, values } of batches) await engine.accumulate(batch, values);
    out.push(await gradientOf(engine));
  }
  return out;
}

/** The group's samples with the objective's own credit. */
function samplesOf(
  context: VerifyContext,
  policy: Pick<Policy, "sampler" | "options" | "actionOf">,
  { objective, options }: ObjectiveOnTrial,
  { name, trajectories }: Group,
): Sample[] {
  const { sampler } = policy;
  const reward = rewardOf(policy);
  const drafts = objective.needs(options).drafts === true ? sampler.drafts : undefined;
  const episodes = trajectories.map((trajectory) => {
    const rewards = drafts?.(trajectory, policy.options.model).map(reward);
    const turn = { steps: sampler.steps(trajectory), ...(rewards && { drafts: rewards }) };
    return { reward: reward(trajectory), turns: [turn] };
  });
  const credit = objective.credit(episodes, options);
  return trajectories.flatMap((trajectory, i) => {
    const given = credit[i]?.[0];
    if (given === undefined) return [];
    return [{ trajectory, credit: given, stream: (draws: string) => context.rng(`${name}/${i}/${draws}`) }];
  });
}

export const proof: Proof = {
  claim: "a step of every scoring raises the reward",
  run: (context) => measureSignal(context),
};
