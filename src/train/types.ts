import type { Evaluation } from "../runs/evaluation.js";
import type { Miss } from "./misses.js";

/** Options of a training run from the command line. */
export interface TrainOptions {
  /** The objective's name. */
  readonly command: string;
  readonly configPath: string;
  /** `key=value` arguments as typed: on a resume, the only settings that may change. */
  readonly overrides?: readonly string[];
  /** Runs everything up to step 0, then stops. */
  readonly dryRun?: boolean;
  readonly runDir?: string | undefined;
  /** Trains from the stored rollouts of this run instead of playing; undefined: plays. */
  readonly rolloutsRun?: string | undefined;
  readonly resume?: boolean;
  /** Port of the live page, 0 for any free one; undefined: no page. */
  readonly ui?: number | undefined;
  readonly quiet?: boolean;
  readonly json?: boolean;
  /** Aborted by the first Ctrl-C: the run finishes the step, saves, and returns with `interrupted`. */
  readonly signal: AbortSignal;
}

/** Results of `--dry-run`. Times are seconds with all graphs already built. */
export interface DryRun {
  /** Responses that were generated, played and scored; 0 where nothing is played. */
  readonly rollouts: number;
  readonly faults: number;
  /** Mean reward of the responses; null without any. */
  readonly reward: number | null;
  /** Seconds of the parts of one training step; `rollout` is generating and playing. */
  readonly step: { readonly rollout: number; readonly score: number; readonly update: number };
  /** Seconds of all evaluations of the run together. */
  readonly evaluation: number;
  /** Seconds of the whole run. */
  readonly total: number;
  /** Peak memory of this process so far, in GiB; without the browser's own. */
  readonly peak_memory_gib: number;
}

/** The result of a training run. With `--json` it is printed to stdout. */
export interface TrainResult {
  readonly runDir: string;
  /** Steps done in the whole run, including those before a resume. */
  readonly steps: number;
  readonly interrupted: boolean;
  /** Reason why the run ended before its last step without being interrupted, or null. */
  readonly stopped: string | null;
  /** The best checkpoint by validation reward, saved in best/; null where none was evaluated. */
  readonly best: { readonly step: number; readonly reward: number } | null;
  readonly before: readonly Evaluation[];
  readonly after: readonly Evaluation[];
  /** Only for a run that trained every weight: the model directory that it wrote at its end. */
  readonly model?: string;
  /** Only with `--dry-run`. */
  readonly dryRun?: DryRun;
}

/** Options of an evaluation: of a run's checkpoint, or of a config's model. Exactly one of the two is set. */
export interface EvaluateOptions {
  readonly run?: string | undefined;
  /** Path of a YAML file, or its tree. */
  readonly config?: string | Readonly<Record<string, unknown>> | undefined;
  readonly overrides: readonly string[];
  /** `best`, `last`, or a step. */
  readonly checkpoint: "best" | "last" | number;
  /** Undefined: the config's splits; `all`: every task of every split, as one. */
  readonly split?: string | undefined;
  /** `model`, or one of the environment's own. */
  readonly policy: string;
  /** Undefined: the config's number; `all`: each task once. */
  readonly episodes?: number | "all" | undefined;
  /** Attempts at each task; several give pass@k. */
  readonly attempts?: number | undefined;
  /** Collects the episodes without success, with a picture of each. */
  readonly show?: boolean;
  readonly quiet?: boolean;
  readonly json?: boolean;
  readonly signal: AbortSignal;
}

export interface EvaluateResult {
  readonly evaluations: readonly Evaluation[];
  /** Paths of the written evaluations. */
  readonly files: readonly string[];
  /** Only with `show`: the episodes without success, worst first, and the environment kind that can display them. */
  readonly misses?: readonly Miss[];
  readonly kind?: string;
}
