import { z } from "zod";
import type { RunConfig } from "../config/schema.js";
import { messageOf } from "../core/errors.js";
import { type Gives, isModulePath, method } from "../core/own-module.js";
import { loadFolder } from "../core/registry.js";
import type { Evaluation } from "../runs/evaluation.js";
import type { StepMetrics } from "../runs/metrics.js";
import type { Outcome, WatchedRun, Watcher } from "./watcher.js";

/** The place where metrics go besides metrics.jsonl. */
export interface Tracker {
  /** Values of one step by name (docs/metrics.md). Returns at once; an error thrown here turns the tracker off. */
  log(step: number, values: Readonly<Record<string, number>>): void;
  /** The run is over: deliver what is left, within seconds. */
  end(outcome: Outcome): void | Promise<void>;
}

/** The run that a tracker is opened for. */
export interface TrackedRun extends WatchedRun {
  readonly config: RunConfig;
  /** Tells the user once; a tracker must not fail the run. */
  readonly warn: (text: string) => void;
}

/** One file under trackers/ exports one of these as `tracker`; its file name is its key in the section `tracking`. */
export interface TrackerKind<Options = unknown> {
  /** With a default: a tracker that a config does not name must know whether it is on. */
  readonly schema: z.ZodType<Options>;
  /** Undefined where the options turn it off. */
  open(options: Options, run: TrackedRun): Tracker | undefined;
}

/** What a tracker of the user's own has to give. */
const GIVES: Gives = { open: z.looseObject({ log: method(), end: method() }).optional() };

/** The files of trackers/ by name, and those of the user's own that a config names. */
export async function trackerKinds(own: readonly string[] = []): Promise<Map<string, TrackerKind>> {
  const folder = new URL("./trackers/", import.meta.url);
  const maps = await Promise.all(
    [undefined, ...own].map((name) => loadFolder<TrackerKind>(folder, "tracker", name, GIVES)),
  );
  return new Map(maps.flatMap((map) => [...map]));
}

/** The trackers that a config turns on, as watchers. One that does not open is left out with a warning. */
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

/** `train/<key>`, `time/<key>` and `workers/<key>`; what the step does not have is left out. */
export function stepValues({ time, extra, workers, ...rest }: StepMetrics): Record<string, number> {
  const values: Record<string, number> = {};
  for (const [key, value] of Object.entries({ ...rest, ...extra })) {
    if (key !== "step" && value !== null) values[`train/${key}`] = value;
  }
  for (const [key, seconds] of Object.entries(time)) values[`time/${key}`] = seconds;
  for (const [key, value] of Object.entries(workers ?? {})) if (value !== null) values[`workers/${key}`] = value;
  return values;
}

/** `eval/<split>/<score>`, means. */
export function evaluationValues(evaluation: Evaluation): Record<string, number> {
  const { split, reward, success_rate, metrics } = evaluation;
  return Object.fromEntries(
    Object.entries({ reward, success_rate, ...metrics }).map(([key, { mean }]) => [`eval/${split}/${key}`, mean]),
  );
}
