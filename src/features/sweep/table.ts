import { existsSync } from "node:fs";
import { fail } from "../../core/errors.js";
import { groupBy } from "../../core/group-by.js";
import { type Interval, mean } from "../../core/statistics.js";
import {
  byEpisode,
  type Evaluation,
  formatDifference,
  formatInterval,
  formatTable,
  readEvaluation,
  type TaskScore,
} from "../../runs/evaluation.js";
import { readMetrics } from "../../runs/metrics.js";
import { crossedInterval } from "./crossed-interval.js";
import type { PlayedRun } from "./play.js";

/** A setting on one split. Intervals are over seeds, crossed with forms and their episodes. */
export interface Row {
  readonly setting: string;
  readonly split: string;
  readonly seeds: readonly number[];
  readonly reward: Interval;
  readonly success: Interval;
  /** Reward after minus before training, on the same episodes; null where a run was not evaluated before. */
  readonly gain: Interval | null;
  /** Reward minus that of the first setting; null for the first, and where the tasks differ. */
  readonly against_first: Interval | null;
  /** Mean minutes of a run in its steps. */
  readonly minutes: number;
}

/** The evaluations of a run on one split. */
interface Scored extends Pick<PlayedRun, "setting" | "seed"> {
  readonly before: Evaluation | undefined;
  readonly after: Evaluation;
  readonly minutes: number;
}

/** Makes the table of a sweep's finished runs, by split, settings in their order. */
export function tableOf(played: readonly PlayedRun[]): Row[] {
  const splits = [...new Set(played.flatMap(({ config }) => config.evaluation.splits))];
  return splits.flatMap((split) =>
    rowsOf(
      split,
      played.flatMap((run) => scored(run, split) ?? []),
    ),
  );
}

function scored({ setting, seed, run }: PlayedRun, split: string): Scored | undefined {
  const read = (path: string): Evaluation | undefined => (existsSync(path) ? readEvaluation(path) : undefined);
  const after = read(run.finalEvaluation(split));
  if (after === undefined) return undefined;
  const seconds = existsSync(run.metrics) ? readMetrics(run.metrics).map(({ time }) => time.total) : [];
  const minutes = seconds.reduce((sum, s) => sum + s, 0) / 60;
  return { setting, seed, before: read(run.evaluation(split, "before")), after, minutes };
}

/** @param runs on one split. */
export function rowsOf(split: string, runs: readonly Scored[]): Row[] {
  const bySetting = groupBy(runs, ({ setting }) => setting);
  const first = bySetting.values().next().value ?? [];
  // settings of equal tasks are compared on the episodes that all their runs scored
  const tasksOf = (own: readonly Scored[]): string =>
    JSON.stringify([...new Set(own.map(({ after }) => `${after.checksum?.tasks ?? after.split_hash} ${after.seed}`))]);
  const cohorts = groupBy(bySetting.values(), tasksOf);
  const shared = new Map([...cohorts].map(([tasks, own]) => [tasks, sharedEpisodes(own.flat())]));
  return [...bySetting].map(([setting, own]) => {
    const { forms, values } = shared.get(tasksOf(own)) as ReturnType<typeof sharedEpisodes>;
    if (forms.length === 0)
      fail(`The runs of ${setting} scored no common episode of ${split}.`, { hint: "evaluate them on equal tasks" });
    const rewards = own.map(({ after }) => values(after, ({ reward }) => reward));
    const gains = own.flatMap(({ before }, i) => {
      const start = before && values(before, ({ reward }) => reward);
      return start === undefined ? [] : [(rewards[i] as number[]).map((value, e) => value - (start[e] as number))];
    });
    const isPaired = own !== first && tasksOf(own) === tasksOf(first);
    const minus = isPaired ? first.map(({ after }) => values(after, ({ reward }) => reward)) : undefined;
    const successes = own.map(({ after }) => values(after, ({ success }) => Number(success)));
    return {
      setting,
      split,
      seeds: own.map(({ seed }) => seed),
      reward: crossedInterval(rewards, forms),
      success: crossedInterval(successes, forms, { range: [0, 1] }),
      gain: gains.length < own.length ? null : crossedInterval(gains, forms),
      against_first: minus === undefined ? null : crossedInterval(rewards, forms, { minus }),
      minutes: mean(own.map(({ minutes }) => minutes)),
    };
  });
}

/** Selects the episodes that every evaluation scored: a fault in one leaves the episode out of all. */
function sharedEpisodes(runs: readonly Scored[]) {
  const all = runs.flatMap(({ before, after }) => (before === undefined ? [after] : [before, after]));
  const scores = new Map(all.map((evaluation) => [evaluation, byEpisode(evaluation.per_task)]));
  const [some] = scores.values();
  const kept = [...(some ?? [])].filter(([key]) => [...scores.values()].every((rows) => rows.has(key)));
  return {
    forms: kept.map(([, { form }]) => form),
    values: (evaluation: Evaluation, measure: (row: TaskScore) => number): number[] =>
      kept.map(([key]) => measure(scores.get(evaluation)?.get(key) as TaskScore)),
  };
}

/** Formats the table; what limits its intervals follows, then which setting is best. */
export function formatRows(rows: readonly Row[]): string {
  return [formatTable(cellsOf(rows), 2), ...limitsOf(rows), `\n${bestOf(rows)}`].join("\n");
}

/** Makes the lines of the table, the head first. */
export function cellsOf(rows: readonly Row[]): string[][] {
  const isSwept = rows.some(({ setting }) => setting !== rows[0]?.setting);
  const against = isSwept ? ["against the first"] : [];
  return [
    ["setting", "split", "seeds", "reward", "gain", ...against, "success", "min a run"],
    ...rows.map((row) => [
      row.setting,
      row.split,
      String(row.seeds.length),
      formatInterval(row.reward),
      row.gain === null ? "" : formatDifference(row.gain),
      ...(isSwept ? [row.against_first === null ? "" : formatDifference(row.against_first)] : []),
      formatInterval(row.success, true),
      row.minutes.toFixed(1),
    ]),
  ];
}

/** Says in a line a split which setting has the largest reward, and whether its difference is certain. */
export function bestOf(rows: readonly Row[]): string {
  return [...groupBy(rows, ({ split }) => split)].map(([split, own]) => bestOn(split, own)).join("\n");
}

function bestOn(split: string, rows: readonly Row[]): string {
  const [first, ...others] = rows as readonly [Row, ...Row[]];
  const ranked = others.filter(({ against_first: against }) => against !== null);
  ranked.sort((a, b) => b.reward.mean - a.reward.mean);
  const [rival] = ranked;
  const isFirst = rival === undefined || rival.reward.mean <= first.reward.mean;
  const best = isFirst ? first : rival;
  const reward = `${split}: ${best.setting} ${rival === undefined ? "has" : "is best,"} reward ${best.reward.mean.toFixed(3)}`;
  const change = rival === undefined ? first.gain : rival.against_first;
  const seeds = Math.min(first.seeds.length, rival?.seeds.length ?? first.seeds.length);
  const isCertain = change !== null && seeds > 1 && (change.low > 0 || change.high < 0);
  const certainty = isCertain ? "certain" : `not certain${seeds > 1 ? "" : " with one seed"}`;
  if (change === null) return `${reward}.`;
  const size = `${Math.abs(change.mean).toFixed(3)} ${rival === undefined && change.mean < 0 ? "less" : "more"}`;
  const what = rival === undefined ? "before training" : isFirst ? rival.setting : first.setting;
  return `${reward}, ${size} than ${what}; ${certainty}.`;
}

/** Says what the intervals leave out. */
export function limitsOf(rows: readonly Row[]): string[] {
  const first = rows[0]?.setting;
  const single = [...new Set(rows.filter(({ seeds }) => seeds.length < 2).map(({ setting }) => setting))];
  const apart = rows.filter(({ setting, against_first: against }) => setting !== first && against === null);
  return [
    ...(single.length === 0
      ? []
      : [`Of one seed, so that the intervals leave out how seeds differ: ${single.join("; ")}.`]),
    ...apart.map(({ setting, split }) => `${split}: ${setting} was evaluated on other tasks than the first.`),
  ];
}
