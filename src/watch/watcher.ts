import type { Evaluation } from "../runs/evaluation.js";
import type { StepMetrics } from "../runs/metrics.js";
import type { RolloutRecord } from "../runs/rollout-record.js";

/** Facts of a run that its watchers are told. */
export interface WatchedRun {
  readonly name: string;
  /** The objective. */
  readonly command: string;
  readonly dir: string;
  /** Steps of the whole run, and those that were done before this process. */
  readonly steps: number;
  readonly done: number;
}

/** Activity inside a step: `episodes 12/64`, and the one that has just ended. */
export interface Phase {
  readonly doing: string;
  readonly done?: number;
  readonly all?: number;
  readonly now?: string;
}

export type Outcome = "finished" | "interrupted" | "failed";

/**
 * Whoever looks on while a run trains: the terminal, the live page, trackers. Calls return at once; one that throws is
 * not called again, and the run goes on.
 */
export interface Watcher {
  begin?(run: WatchedRun): void;
  phase?(phase: Phase): void;
  /** The rollouts of a step, before its update. */
  rollouts?(step: number, records: readonly RolloutRecord[]): void;
  step?(metrics: StepMetrics): void;
  /** @param step steps done when it was made. */
  evaluation?(step: number, evaluation: Evaluation): void;
  note?(text: string): void;
  end?(outcome: Outcome): void | Promise<void>;
}
