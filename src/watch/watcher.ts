import type { Evaluation } from "../runs/evaluation.js";
import type { StepMetrics } from "../runs/metrics.js";
import type { RolloutRecord } from "../runs/rollout-record.js";

/** Facts of a run for its watchers. */
export interface WatchedRun {
  readonly name: string;
  /** The objective. */
  readonly command: string;
  readonly dir: string;
  /** Steps of the whole run, and those done before this process. */
  readonly steps: number;
  readonly done: number;
}

/** Activity inside a step: `episodes 12/64`, and the episode that has just ended. */
export interface Phase {
  readonly doing: string;
  readonly done?: number;
  readonly all?: number;
  readonly now?: string;
}

export type Outcome = "finished" | "interrupted" | "failed";

/**
 * An observer of a run: the terminal, the live page, trackers. Calls return at once; an observer that throws is not
 * called again, and the run continues.
 */
export interface Watcher {
  begin?(run: WatchedRun): void;
  phase?(phase: Phase): void;
  /** Receives the rollouts of a step, before its update. */
  rollouts?(records: readonly RolloutRecord[]): void;
  step?(metrics: StepMetrics): void;
  /** @param step number of steps before the evaluation. */
  evaluation?(step: number, evaluation: Evaluation): void;
  note?(text: string): void;
  end?(outcome: Outcome): void | Promise<void>;
}
