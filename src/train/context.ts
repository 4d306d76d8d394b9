import type { RunConfig } from "../config/config.js";
import type { Policy } from "../engine/policy.js";
import type { Executor } from "./executor.js";
import type { BatchContext } from "./update.js";

/** Shared by all steps of a run: {@link BatchContext} with the run's own settings and its executor. */
export interface StepContext extends BatchContext<unknown> {
  readonly policy: Policy;
  readonly training: RunConfig["training"];
  /** Seed of the run: the names of all random streams are derived from it. */
  readonly seed: number;
  readonly executor: Executor;
}
