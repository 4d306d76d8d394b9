import { join } from "node:path";
import type { RunConfig } from "../config/config.js";
import { misuse } from "../core/errors.js";
import { calledFeature } from "../core/features.js";
import type { StepContext } from "./context.js";
import type { GroupSource } from "./rollouts/step-groups.js";
import type { DryRun, TrainOptions, TrainResult } from "./types.js";

/** Takes a run's first step on tensors that are discarded. */
export interface DryRunKind {
  /** @param stored rollouts of another run to learn from; undefined: episodes are played. */
  onRollouts(context: StepContext, config: RunConfig, stored: GroupSource | undefined): Promise<DryRun>;
  /** @param learn takes one update. */
  onExamples(config: RunConfig, learn: (step: number) => Promise<unknown>): Promise<DryRun>;
  format(dryRun: DryRun): string;
  /** Returns why a run would learn nothing, as far as one group shows; undefined where it can begin. */
  noSignal(dryRun: DryRun, config: RunConfig): string | undefined;
}

/** Loads the feature of dry runs. @throws UserError where none is installed. */
export async function dryRunKind(): Promise<DryRunKind> {
  return (
    (await calledFeature<DryRunKind>("dryRun")) ??
    misuse("--dry-run needs a feature that measures a run, and none is installed.")
  );
}

/** Returns the result of a run that was not begun. */
export function notBegun(config: RunConfig, options: TrainOptions, dryRun: DryRun): TrainResult {
  const runDir = options.runDir ?? join("runs", config.name);
  return { runDir, steps: 0, interrupted: false, stopped: null, best: null, before: [], after: [], dryRun };
}
