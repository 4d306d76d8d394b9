import { statSync } from "node:fs";
import { messageOf, UserError } from "../../core/errors.js";
import { readJsonLines } from "../metrics.js";
import { parseRollout, type RolloutRecord } from "../rollout-record.js";
import type { RunDirectory } from "../run-directory.js";
import { bootstrapMean, type Interval, mean } from "../statistics.js";

/** Larger recordings are read from the newest step back to this many bytes. */
const MOST_BYTES = 256 * 2 ** 20;
/** Failed episodes say little about the policy: a few are enough. */
const MOST_FAULTS = 4;
const RESAMPLES = 400;

/** A rollout that the report shows. */
export interface ShownRollout {
  readonly record: RolloutRecord;
  /** Rollouts of the run with the same response to the same task, this one included. */
  readonly alike: number;
}

/** What is kept of a run's recorded rollouts. */
export interface RolloutSample {
  /** Worst first, failed episodes last. */
  readonly shown: readonly ShownRollout[];
  /** Rollouts that were looked at. */
  readonly total: number;
  /** Steps that were looked at, ascending. */
  readonly steps: readonly number[];
  /** Older steps that were not read. */
  readonly skippedSteps: number;
  /** Mean and 95 % bootstrap interval over a step's groups. */
  readonly intervals: readonly { readonly step: number; readonly reward: Interval; readonly success: Interval }[];
}

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
 * @param problem is told of files that could not be read.
 */
export function sampleRollouts(run: RunDirectory, limit: number, problem: (text: string) => void): RolloutSample {
  const newestFirst = run.rolloutSteps().reverse();
  const latest = new Map<string, Candidate>();
  const earlier = new Map<string, Candidate>();
  const intervals: RolloutSample["intervals"][number][] = [];
  const read: number[] = [];
  let bytes = 0;
  let total = 0;
  for (const step of newestFirst) {
    const path = run.rollouts(step);
    bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes > MOST_BYTES && read.length > 0) break;
    let lines: ReturnType<typeof readJsonLines>;
    try {
      lines = readJsonLines(path);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      problem(messageOf(error));
      continue;
    }
    const groups = new Map<number, { rewards: number[]; successes: number[] }>();
    for (const { value, line } of lines) {
      // the whole record is checked where it is shown
      const row = (value ?? {}) as Partial<RolloutRecord>;
      const reward = typeof row.reward === "number" ? row.reward : null;
      total++;
      if (reward !== null) {
        const group = groups.get(row.group ?? 0) ?? { rewards: [], successes: [] };
        groups.set(row.group ?? 0, group);
        group.rewards.push(reward);
        group.successes.push(Number(row.success === true));
      }
      const key = JSON.stringify([row.task_id, row.response, reward === null]);
      const known = latest.get(key) ?? earlier.get(key);
      if (known !== undefined) known.alike++;
      else {
        const pool = read.length === 0 ? latest : earlier;
        pool.set(key, { value: row, where: `${path}, line ${line}`, step, reward, alike: 1 });
      }
    }
    if (groups.size > 0) intervals.push({ step, ...overGroups([...groups.values()], step) });
    read.push(step);
    if (earlier.size > 4 * limit) keepWorst(earlier, limit);
  }
  const fromLatest = worst([...latest.values()], read.length > 1 ? Math.ceil(limit / 2) : limit);
  const chosen = [...fromLatest, ...worst([...earlier.values()], limit - fromLatest.length)];
  const shown = chosen.sort(byReward).flatMap(({ value, where, alike }) => {
    try {
      return [{ record: parseRollout(value, where), alike }];
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      problem(messageOf(error));
      return [];
    }
  });
  return {
    shown,
    total,
    steps: read.reverse(),
    skippedSteps: newestFirst.length - read.length,
    intervals: intervals.reverse(),
  };
}

/** Groups, not rollouts, are the independent draws: the rollouts of a group share their task. */
function overGroups(
  groups: readonly { readonly rewards: readonly number[]; readonly successes: readonly number[] }[],
  seed: number,
): { reward: Interval; success: Interval } {
  const options = { seed, resamples: RESAMPLES };
  return {
    reward: bootstrapMean(
      groups.map((group) => mean(group.rewards)),
      options,
    ),
    success: bootstrapMean(
      groups.map((group) => mean(group.successes)),
      options,
    ),
  };
}

/** Lowest reward first, newest first among equals, faults last. */
function byReward(a: Candidate, b: Candidate): number {
  return (a.reward ?? 2) - (b.reward ?? 2) || b.step - a.step;
}

function worst(candidates: readonly Candidate[], count: number): Candidate[] {
  const faults = candidates.filter((c) => c.reward === null).slice(0, MOST_FAULTS);
  const scored = candidates.filter((c) => c.reward !== null).sort(byReward);
  return [...scored.slice(0, Math.max(0, count - faults.length)), ...faults].slice(0, Math.max(0, count));
}

function keepWorst(pool: Map<string, Candidate>, count: number): void {
  const kept = new Set(worst([...pool.values()], count));
  for (const [key, candidate] of pool) if (!kept.has(candidate)) pool.delete(key);
}
