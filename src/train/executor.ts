import type { z } from "zod";
import type { RunConfig } from "../config/config.js";
import type { Relation } from "../config/schema.js";
import { calledFeature } from "../core/features.js";
import type { Policy } from "../engine/policy.js";
import type { Environment } from "../env/environment.js";
import type { Checkpoint } from "../runs/checkpoint.js";
import type { StepWorkers } from "../runs/metrics.js";
import { type Collect, collectHere } from "./rollouts/collect.js";
import { type SlotGradients, slotsHere } from "./rollouts/slots.js";
import type { GroupSource, PlayedSource } from "./rollouts/step-groups.js";
import type { Run } from "./run.js";
import { type ScoreAll, scoreHere } from "./update.js";

/** Plays, scores and differentiates for a run: in this process, or elsewhere. Equal requests give equal bytes. */
export interface Executor {
  readonly environment: Environment;
  readonly collect: Collect;
  readonly score: ScoreAll;
  readonly gradients: SlotGradients;
  /** Samples the groups in another order, as by an older policy while the newest trains; absent: step by step. */
  source?(played: PlayedSource, checkpoint: Checkpoint | undefined): GroupSource;
  /** Describes the workers and the waiting jobs briefly; undefined in one process. */
  status(): string | undefined;
  /** Returns the workers' figures since the last call; absent in one process. */
  readonly figures?: () => StepWorkers;
  close(): Promise<void>;
}

/** How the section `distributed` of a config distributes the work of a run. */
export interface ExecutorKind {
  readonly schema: z.ZodObject;
  readonly description: string;
  readonly relations: readonly Relation[];
  /**
   * Reads its section. @returns undefined where the config does not ask for it.
   * @throws UserError where the work of the run cannot be distributed.
   */
  of(config: RunConfig): SharedWork | undefined;
}

/** The work of a run, distributed by its config. */
export interface SharedWork {
  /** True if episodes are played elsewhere, so that this machine needs no browser. */
  readonly playsElsewhere: boolean;
  /** @param signal ends the wait for missing workers when aborted. */
  open(
    policy: Policy,
    environment: Environment,
    run: Run,
    note: (text: string) => void,
    signal: AbortSignal,
  ): Promise<Executor>;
}

/** Distributes a run's work as its config asks for; undefined: this process does everything. */
export const sharedWork = async (config: RunConfig): Promise<SharedWork | undefined> =>
  (await calledFeature<ExecutorKind>("executor"))?.of(config);

/** Returns the executor that does everything in this process. */
export function localExecutor(policy: Policy, environment: Environment): Executor {
  return {
    environment,
    collect: collectHere(policy, environment),
    score: scoreHere(policy.engine),
    gradients: slotsHere(policy.engine),
    status: () => undefined,
    close: async () => undefined,
  };
}
