import { mean, std } from "../core/statistics.js";
import type { TokenTrajectory, Trajectory } from "../diffusion/trajectory.js";
import type { Policy } from "../engine/policy.js";
import type { Objective } from "../rl/objective.js";
import type { RolloutMetrics } from "../runs/metrics.js";
import type { StepContext } from "./context.js";
import type { Group, Sample } from "./rollouts/groups.js";
import type { StepGroups } from "./rollouts/step-groups.js";
import type { MicroBatch } from "./update.js";

/** The results of a step, from which its metrics are computed. */
export interface StepResults {
  readonly collected: StepGroups;
  readonly groups: readonly Group[];
  readonly samples: readonly Sample[];
  readonly batches: readonly MicroBatch[];
  /** Metrics of the loss in each update of the step (null: not finite), if any. */
  readonly updates: readonly Readonly<Record<string, number | null>>[];
}

/** Returns a line of metrics.jsonl; null for figures that an objective, or a step without an update, does not have. */
export function stepMetrics(
  { policy, objective, options }: StepContext,
  { collected, groups, samples, batches, updates }: StepResults,
  { extra, ...rest }: Pick<RolloutMetrics, "step" | "lr" | "extra" | "time" | "workers">,
): RolloutMetrics {
  const { loss = null, kl = null, grad_norm = null, ...update } = updates.at(-1) ?? {};
  const { ratio_mean = null, ratio_max = null, clip_fraction = null, ...ofLoss } = update;
  const { generating, episodes } = collected;
  const unitsOf = (trajectories: readonly Trajectory[]): number =>
    trajectories.reduce((n: number, trajectory) => n + policy.sampler.policy.units(trajectory), 0);
  return {
    ...episodeMetrics(groups),
    ...{ loss, kl, ratio_mean, ratio_max, clip_fraction, grad_norm },
    tokens: unitsOf(samples.map(({ trajectory }) => trajectory)),
    // stored rollouts are not generated, and have no rate
    rollout_tokens_per_s: generating > 0 ? unitsOf(trajectoriesOf(groups)) / generating : null,
    extra: {
      ...environmentMetrics(groups),
      ...ofLoss,
      ...samplerMetrics(policy, objective, groups, batches),
      ...importanceMetrics(collected, batches, objective.weighing?.(options).importance_cap),
      ...extra,
      episodes_played: episodes,
      on_policy_ratio_error: updates[0]?.ratio_error ?? null,
    },
    ...rest,
  };
}

/** Returns the turns of all episodes, including those without signal. */
const trajectoriesOf = (groups: readonly Group[]): readonly Trajectory[] =>
  groups.flatMap(({ rollouts }) => rollouts.flatMap(({ trajectories }) => trajectories));

/** Summarizes the rewards of a step; null where no episode was scored. */
function episodeMetrics(
  groups: readonly Group[],
): Pick<RolloutMetrics, "reward" | "reward_std" | "success_rate" | "frac_reward_zero_std" | "faults"> {
  const records = groups.flatMap((group) => group.rollouts.map(({ record }) => record));
  const scored = records.filter((record) => record.reward !== null);
  const rewards = scored.map((record) => record.reward as number);
  const some = scored.length > 0;
  return {
    reward: some ? mean(rewards) : null,
    reward_std: some ? std(rewards) : null,
    success_rate: some ? mean(scored.map((record) => Number(record.success))) : null,
    frac_reward_zero_std: groups.filter((group) => !group.signal).length / groups.length,
    faults: records.length - scored.length,
  };
}

/** Averages the environment's own measures over the scored episodes, and the share of them that earned anything. */
function environmentMetrics(groups: readonly Group[]): Record<string, number> {
  return averages(
    groups.flatMap(({ rollouts }) =>
      rollouts.flatMap(({ record: { metrics, reward } }) =>
        reward === null ? [] : [{ nonzero_rate: Number(reward > 0), ...metrics }],
      ),
    ),
  );
}

/** Averages the sampler's measures of every trajectory, and adds those of the step's batches. */
function samplerMetrics(
  { sampler, options }: Pick<Policy, "sampler" | "options">,
  { scoring }: Pick<Objective, "scoring">,
  groups: readonly Group[],
  batches: readonly MicroBatch[],
): Record<string, number | null> {
  const measured = trajectoriesOf(groups).map((trajectory) => sampler.policy.metrics(trajectory, options.model));
  const watched = batches.map(({ batch, values, trajectories }) => ({
    batch,
    values,
    trajectories: trajectories as readonly TokenTrajectory[],
  }));
  return { ...averages(measured), ...sampler.watch?.(watched, scoring, options) };
}

/**
 * Measures the age of the sampling policy, the distance of its log-probabilities from those of scoring, and the weights
 * that correct for both; empty where there are none.
 */
function importanceMetrics(
  { sampled }: Pick<StepGroups, "sampled">,
  batches: readonly MicroBatch[],
  cap: number | null | undefined,
): Record<string, number | null> {
  const staleness = sampled === undefined ? {} : { staleness: sampled.lag };
  if (typeof cap !== "number") return staleness;
  const weights = batches.flatMap(({ batch, trust }) =>
    [...(trust ?? [])].filter((_, s) => (batch.owner[s] ?? -1) >= 0),
  );
  const distances = batches.flatMap(({ batch: { logProb, owner }, values: { old } }) =>
    [...(logProb ?? [])].flatMap((r, s) => ((owner[s] ?? -1) < 0 ? [] : [Math.abs((old?.[s] ?? r) - r)])),
  );
  const average = (values: readonly number[]): number | null => (values.length === 0 ? null : mean(values));
  return {
    ...staleness,
    importance_distance: average(distances),
    importance_weight: average(weights),
    // a masked weight is 0
    importance_truncated: average(weights.map((w) => Number(w === 0 || w >= Math.fround(cap)))),
  };
}

/** Averages each name over the rows that have it. */
function averages(rows: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return Object.fromEntries(names.map((name) => [name, mean(rows.flatMap((row) => row[name] ?? []))]));
}
