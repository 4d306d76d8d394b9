import { statSync } from "node:fs";
import { groupBy } from "../../core/group-by.js";
import { bootstrapMean, type Interval, mean } from "../../core/statistics.js";
import { readJsonLines } from "../../runs/metrics.js";
import { parseRollout, type RolloutRecord } from "../../runs/rollout-record.js";
import type { RunDirectory } from "../../runs/run-directory.js";
import { BlankRewards, type UnmovedBlank } from "./unmoved.js";

/** Most bytes of recordings that are read, from the newest step back. */
const MOST_BYTES = 256 * 2 ** 20;
/** Most failed episodes shown: they say little about the policy. */
const MOST_FAULTS = 4;
const RESAMPLES = 400;

/** A rollout that the report shows. */
export interface ShownRollout {
  readonly record: RolloutRecord;
  /** Number of rollouts with the same response to the same task, including this one. */
  readonly alike: number;
}

/** A sample of a run's recorded rollouts. */
export interface RolloutSample {
  /** Worst first, failed episodes last. */
  readonly shown: readonly ShownRollout[];
  /** Number of rollouts that were read. */
  readonly total: number;
  /** Steps that were read, ascending. */
  readonly steps: readonly number[];
  /** Number of older steps that were not read. */
  readonly skippedSteps: number;
  /** Mean and 95 % bootstrap interval over a step's groups. */
  readonly intervals: readonly StepInterval[];
  readonly unmoved: readonly UnmovedBlank[];
}

export interface StepInterval {
  readonly step: number;
  readonly reward: Interval;
  readonly success: Interval;
}

/** Reads a file; if it is missing or damaged, reports the problem and returns null. */
export type Attempt = <T>(path: string, read: () => T) => T | null;

/** A rollout that is fully validated only if it is shown. */
interface Candidate {
  readonly value: Partial<RolloutRecord>;
  readonly where: string;
  readonly step: number;
  readonly reward: number | null;
  alike: number;
}

/**
 * Reads a run's rollouts and keeps `limit` of them: half for the worst of the newest step, the others for the worst of
 * all earlier steps (newest first among equals). Equal responses to one task are shown once.
 */
export function sampleRollouts(run: RunDirectory, limit: number, attempt: Attempt): RolloutSample {
  const newestFirst = run.rolloutSteps().reverse();
  const latest = new Map<string, Candidate>();
  const earlier = new Map<string, Candidate>();
  const intervals: StepInterval[] = [];
  const blanks = new BlankRewards();
  const read: number[] = [];
  let bytes = 0;
  let total = 0;
  for (const step of newestFirst) {
    const path = run.rollouts(step);
    bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes > MOST_BYTES && read.length > 0) break;
    const lines = attempt(path, () => readJsonLines(path));
    if (lines === null) continue;
    const rows = lines.map(({ value }) => (value ?? {}) as Partial<RolloutRecord>);
    const pool = read.length === 0 ? latest : earlier;
    rows.forEach((value, i) => {
      blanks.add(value);
      const known = latest.get(keyOf(value)) ?? earlier.get(keyOf(value));
      const reward = typeof value.reward === "number" ? value.reward : null;
      if (known !== undefined) known.alike++;
      else pool.set(keyOf(value), { value, where: `${path}, line ${lines[i]?.line}`, step, reward, alike: 1 });
    });
    total += rows.length;
    const interval = stepInterval(step, rows);
    if (interval !== undefined) intervals.push(interval);
    read.push(step);
    if (earlier.size > 4 * limit) keepWorst(earlier, limit);
  }
  const fromLatest = worst([...latest.values()], read.length > 1 ? Math.ceil(limit / 2) : limit);
  const chosen = [...fromLatest, ...worst([...earlier.values()], limit - fromLatest.length)];
  const shown = chosen.sort(byReward).flatMap(({ value, where, step, alike }) => {
    const record = attempt(run.rollouts(step), () => parseRollout(value, where));
    return record === null ? [] : [{ record, alike }];
  });
  return {
    shown,
    total,
    steps: read.reverse(),
    skippedSteps: newestFirst.length - read.length,
    intervals: intervals.reverse(),
    unmoved: blanks.list(),
  };
}

/**
 * Computes means and intervals of one step; undefined if every episode failed. The independent samples are groups, not
 * rollouts, because the rollouts of a group share their task.
 */
export function stepInterval(step: number, rows: readonly Partial<RolloutRecord>[]): StepInterval | undefined {
  const scored = rows.filter(({ reward }) => typeof reward === "number");
  if (scored.length === 0) return undefined;
  const groups = [...groupBy(scored, ({ group = 0 }) => group).values()];
  const over = (value: (row: Partial<RolloutRecord>) => number): Interval => {
    const means = groups.map((group) => mean(group.map(value)));
    return bootstrapMean(means, { seed: step, resamples: RESAMPLES });
  };
  return { step, reward: over(({ reward }) => reward as number), success: over((row) => Number(row.success === true)) };
}

/** Selects the worst rollouts; equal responses to one task count once. */
export function worstOf(records: readonly RolloutRecord[], limit: number): ShownRollout[] {
  const alike = [...groupBy(records, keyOf).values()];
  const shown = alike.map(([record, ...others]) => ({ record: record as RolloutRecord, alike: 1 + others.length }));
  return shown.sort((a, b) => (a.record.reward ?? 2) - (b.record.reward ?? 2)).slice(0, limit);
}

/** Key of equal rollouts: failed episodes differ from others; without responses, the outcomes are compared. */
function keyOf({ task_id, turns, reward, detail }: Partial<RolloutRecord>): string {
  const responses = Array.isArray(turns) ? turns.map((turn) => turn?.response) : [];
  const silent = responses.length > 0 && responses.every((response) => response === "");
  return JSON.stringify([task_id, silent ? detail : responses, typeof reward === "number"]);
}

/** Sorts by reward, lowest first; newest first among equals; faults last. */
const byReward = (a: Candidate, b: Candidate): number => (a.reward ?? 2) - (b.reward ?? 2) || b.step - a.step;

function worst(candidates: readonly Candidate[], count: number): Candidate[] {
  const faults = candidates.filter((c) => c.reward === null).slice(0, MOST_FAULTS);
  const scored = candidates.filter((c) => c.reward !== null).sort(byReward);
  return [...scored.slice(0, Math.max(0, count - faults.length)), ...faults].slice(0, Math.max(0, count));
}

function keepWorst(pool: Map<string, Candidate>, count: number): void {
  const kept = new Set(worst([...pool.values()], count));
  for (const [key, candidate] of pool) if (!kept.has(candidate)) pool.delete(key);
}
