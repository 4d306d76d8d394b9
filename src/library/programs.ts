import type { z } from "zod";
import { configOf, loadConfig, type RunConfig } from "../config/config.js";
import type { KindSection, WrittenConfig } from "../config/schema.js";
import type { TaskSet } from "../env/environment.js";
import type { sections } from "../env/site-environment.js";
import type { Evaluation } from "../runs/evaluation.js";
import { evaluateCommand } from "../train/evaluate.js";
import { train as trainRun } from "../train/recipe.js";
import type { TrainResult } from "../train/types.js";

type Sections = typeof sections;

/** A run's config as written, typed by the schema; options of a `kind` are the kind's own. */
export type RunConfigInput = WrittenConfig & {
  readonly [K in keyof Sections]?: z.input<Sections[K]["schema"]>;
} & { readonly site?: KindSection; readonly distributed?: Readonly<Record<string, unknown>> };

/** A config: the path of a YAML file, or its tree. */
export type ConfigSource = string | Readonly<Record<string, unknown>>;

export interface TrainCall {
  /** `key=value` settings over the config. */
  readonly overrides?: readonly string[];
  /** Directory of the run; by default runs/<name>, never overwritten. */
  readonly runDir?: string;
  /** Continues the run in `runDir`. */
  readonly resume?: boolean;
  /** Learns from the recorded rollouts of this run. */
  readonly rollouts?: string;
  /** Ends the training once it is aborted: it finishes the step, saves, and returns with `interrupted`. */
  readonly signal?: AbortSignal;
  /** Prints progress to stderr; default false. */
  readonly progress?: boolean;
}

/** Resolves a config as the command line does. @throws UserError with every problem at once. */
export function resolveConfig(source: ConfigSource, overrides: readonly string[] = []): Promise<RunConfig> {
  return typeof source === "string"
    ? loadConfig(source, { overrides })
    : configOf(source, typeof source.name === "string" ? source.name : "run", { overrides });
}

/** Trains as `refusion-train` does: the config names its objective (`objective.kind`). */
export async function train(source: string | RunConfigInput, call: TrainCall = {}): Promise<TrainResult> {
  const { overrides = [], runDir, resume = false, rollouts, signal, progress = false } = call;
  const config = await resolveConfig(source, overrides);
  return trainRun(config, {
    command: config.objective.kind,
    configPath: typeof source === "string" ? source : config.name,
    overrides,
    runDir,
    rolloutsRun: rollouts,
    resume,
    quiet: !progress,
    signal: signal ?? new AbortController().signal,
  });
}

export interface EvaluateCall {
  readonly checkpoint?: "best" | "last" | number;
  readonly split?: TaskSet;
  /** `model`, or one of the environment's own: `oracle`, `empty`, `submit-only`, `random`. */
  readonly policy?: string;
  readonly episodes?: number | "all";
  readonly overrides?: readonly string[];
  readonly signal?: AbortSignal;
}

/** Evaluates a run's checkpoint (`{run}`) or a config's model (`{config}`), as `refusion-eval` does. */
export async function evaluate(
  what:
    | { readonly run: string }
    | { readonly config: string | (Partial<RunConfigInput> & Pick<RunConfigInput, "model">) },
  call: EvaluateCall = {},
): Promise<readonly Evaluation[]> {
  const { evaluations } = await evaluateCommand({
    ...what,
    overrides: call.overrides ?? [],
    checkpoint: call.checkpoint ?? "last",
    split: call.split,
    policy: call.policy ?? "model",
    episodes: call.episodes,
    quiet: true,
    signal: call.signal ?? new AbortController().signal,
  });
  return evaluations;
}
