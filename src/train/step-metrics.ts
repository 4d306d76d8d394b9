import { mean } from "../core/statistics.js";
import { spread } from "../rl/advantages.js";
import type { StepMetrics } from "../runs/metrics.js";
import type { Group, Sample } from "./groups.js";

/** The turns of all episodes, those that teach nothing too. */
export const turnsOf = (groups: readonly Group[]): Pick<Sample, "trajectory">[] =>
  groups.flatMap(({ rollouts }) =>
    rollouts.flatMap(({ trajectories }) => trajectories.map((trajectory) => ({ trajectory }))),
  );

/** Rewards of a step; null where no episode was scored. */
export function episodeMetrics(
  groups: readonly Group[],
): Pick<StepMetrics, "reward" | "reward_std" | "success_rate" | "frac_reward_zero_std" | "faults"> {
  const records = groups.flatMap((group) => group.rollouts.map(({ record }) => record));
  const scored = records.filter((record) => record.reward !== null);
  const rewards = scored.map((record) => record.reward as number);
  const some = scored.length > 0;
  return {
    reward: some ? mean(rewards) : null,
    reward_std: some ? spread(rewards) : null,
    success_rate: some ? mean(scored.map((record) => Number(record.success))) : null,
    frac_reward_zero_std: groups.filter((group) => !group.signal).length / groups.length,
    faults: records.length - scored.length,
  };
}

/** Means of the environment's own measures, over the episodes that were scored. */
export function environmentMetrics(groups: readonly Group[]): Record<string, number> {
  return averages(
    groups.flatMap(({ rollouts }) =>
      rollouts.flatMap(({ record }) => (record.metrics === null ? [] : [record.metrics])),
    ),
  );
}

/** The mean of each name over those that have it. */
export function averages(rows: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return Object.fromEntries(names.map((name) => [name, mean(rows.flatMap((row) => row[name] ?? []))]));
}

const LOSS_METRICS = ["loss", "kl", "ratio_mean", "ratio_max", "clip_fraction", "grad_norm"] as const;

/** What an objective does not have, and what a step without an update has not, is null. */
export function lossMetrics(last: Readonly<Record<string, number>>): Pick<StepMetrics, (typeof LOSS_METRICS)[number]> {
  const [loss, kl, ratioMean, ratioMax, clipFraction, gradNorm] = LOSS_METRICS.map((name) => last[name] ?? null);
  return {
    loss: loss ?? null,
    kl: kl ?? null,
    ratio_mean: ratioMean ?? null,
    ratio_max: ratioMax ?? null,
    clip_fraction: clipFraction ?? null,
    grad_norm: gradNorm ?? null,
  };
}

export function extraLossMetrics(last: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(last).filter(([name]) => !(LOSS_METRICS as readonly string[]).includes(name)),
  );
}
