import { z } from "zod";
import type { RunConfig } from "../config/schema.js";
import { messageOf } from "../core/errors.js";
import { isModulePath, type MemberSchemas, method } from "../core/own-module.js";
import { loadFolder } from "../core/registry.js";
import type { Evaluation } from "../runs/evaluation.js";
import type { StepMetrics } from "../runs/metrics.js";
import type { Outcome, WatchedRun, Watcher } from "./watcher.js";

/** A destination of metrics besides metrics.jsonl. */
export interface Tracker {
  /** Logs one step's values by name (docs/runs.md). Returns at once; an error thrown here turns the tracker off. */
  log(step: number, values: Readonly<Record<string, number>>): void;
  /** Delivers the remaining values after the run, within seconds. */
  end(outcome: Outcome): void | Promise<void>;
}

/** The run for which a tracker is opened. */
export interface TrackedRun extends WatchedRun {
  readonly config: RunConfig;
  /** Warns the user once; a tracker must not fail the run. */
  readonly warn: (text: string) => void;
}

/** A kind of tracker. Each file under trackers/ exports one as `tracker`; its file name is its key in `tracking`. */
export interface TrackerKind<Options = unknown> {
  /** Has a default, which decides whether a tracker that the config does not name is on. */
  readonly schema: z.ZodType<Options>;
  /** Opens a tracker; undefined where the options turn it off. */
  open(options: Options, run: TrackedRun): Tracker | undefined;
}

/** Schema of a user's own tracker. */
const MEMBERS: MemberSchemas = { open: z.looseObject({ log: method(), end: method() }).optional() };

/** Loads the files of trackers/ by name, and the user's own that a config names. */
export async function trackerKinds(modules: readonly string[] = []): Promise<Map<string, TrackerKind>> {
  const folder = new URL("./trackers/", import.meta.url);
  const maps = await Promise.all(
    [undefined, ...modules].map((name) => loadFolder<TrackerKind>(folder, "tracker", name, MEMBERS)),
  );
  return new Map(maps.flatMap((map) => [...map]));
}

/** Opens the trackers that a config turns on, as watchers. One that does not open is left out with a warning. */
export async function openTrackers(
  config: RunConfig,
  run: WatchedRun,
  warn: (text: string) => void,
): Promise<Map<string, Watcher>> {
  const watchers = new Map<string, Watcher>();
  for (const [name, kind] of await trackerKinds(Object.keys(config.tracking).filter(isModulePath))) {
    try {
      const tracker = kind.open((config.tracking as Record<string, unknown>)[name], { ...run, config, warn });
      if (tracker !== undefined) watchers.set(name, watcherOf(tracker));
    } catch (error) {
      warn(`${name} is off: ${messageOf(error)}`);
    }
  }
  return watchers;
}

function watcherOf(tracker: Tracker): Watcher {
  return {
    step: (metrics) => tracker.log(metrics.step, stepValues(metrics)),
    evaluation: (step, evaluation) => tracker.log(step, evaluationValues(evaluation)),
    end: (outcome) => tracker.end(outcome),
  };
}

/** Returns `train/<key>`, `time/<key>` and `workers/<key>`; missing quantities are left out. */
export function stepValues({ time, extra, workers, ...rest }: StepMetrics): Record<string, number> {
  const values: Record<string, number> = {};
  for (const [key, value] of Object.entries({ ...rest, ...extra })) {
    if (key !== "step" && typeof value === "number") values[`train/${key}`] = value;
  }
  for (const [key, seconds] of Object.entries(time)) values[`time/${key}`] = seconds;
  for (const [key, value] of Object.entries(workers ?? {})) if (value !== null) values[`workers/${key}`] = value;
  return values;
}

/** Returns the means as `eval/<split>/<score>`. */
export function evaluationValues(evaluation: Evaluation): Record<string, number> {
  const { split, reward, success_rate, metrics } = evaluation;
  return Object.fromEntries(
    Object.entries({ reward, success_rate, ...metrics }).map(([key, { mean }]) => [`eval/${split}/${key}`, mean]),
  );
}
