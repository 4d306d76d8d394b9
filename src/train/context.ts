import type { RunConfig } from "../config/config.js";
import type { Policy } from "../engine/policy.js";
import type { Executor } from "./executor.js";
import type { BatchContext } from "./update.js";

/** Everything that the steps of a run share: {@link BatchContext} with the run's own settings and who computes. */
export interface StepContext extends BatchContext<unknown> {
  readonly policy: Policy;
  readonly training: RunConfig["training"];
  /** Seed of the run: every random stream is named under it. */
  readonly seed: number;
  readonly executor: Executor;
}
