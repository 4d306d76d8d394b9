import type { Evaluation } from "../runs/evaluation.js";
import type { Miss } from "./misses.js";

/** The way the command line asks for a training run. */
export interface TrainOptions {
  /** The objective's name. */
  readonly command: string;
  readonly configPath: string;
  /** `key=value` arguments as typed: on a resume, the only settings that may change. */
  readonly overrides?: readonly string[];
  /** Everything up to step 0, then stop. */
  readonly dryRun: boolean;
  readonly runDir: string | undefined;
  /** Train from the recorded rollouts of this run instead of playing; undefined: play. */
  readonly rolloutsRun: string | undefined;
  readonly resume: boolean;
  /** Port of the live page, 0 for any free one; undefined: no page. */
  readonly ui?: number | undefined;
  readonly quiet: boolean;
  readonly json: boolean;
  /** Aborted by the first Ctrl-C: finish the step, save, return with `interrupted`. */
  readonly signal: AbortSignal;
}

/** Results of `--dry-run`. Times are seconds with every graph built already. */
export interface DryRun {
  /** Responses that were generated, played and scored; 0 where nothing is played. */
  readonly rollouts: number;
  readonly faults: number;
  /** Mean reward of those; null without any. */
  readonly reward: number | null;
  /** Parts of one training step; `rollout` is generating and playing. */
  readonly step: { readonly rollout: number; readonly score: number; readonly update: number };
  /** All evaluations of the run together. */
  readonly evaluation: number;
  /** The whole run. */
  readonly total: number;
  /** Most memory this process has held so far, in GiB; the browser's own not counted. */
  readonly peak_memory_gib: number;
}

/** The way a training run ended. With `--json` this is what stdout gets. */
export interface TrainResult {
  readonly runDir: string;
  /** Steps done in the whole run, resumed ones included. */
  readonly steps: number;
  readonly interrupted: boolean;
  /** Reason why the run ended before its last step without being interrupted, or null. */
  readonly stopped: string | null;
  /** The best checkpoint by validation reward, kept in best/; null where none was evaluated. */
  readonly best: { readonly step: number; readonly reward: number } | null;
  readonly before: readonly Evaluation[];
  readonly after: readonly Evaluation[];
  /** Only of a run that trained every weight: the model directory that it wrote at its end. */
  readonly model?: string;
  /** Only with `--dry-run`. */
  readonly dryRun?: DryRun;
}

/** The way the command line asks for an evaluation: of a run's checkpoint, or of a config's model. Exactly one of the two is set. */
export interface EvaluateOptions {
  readonly run: string | undefined;
  /** Path of a YAML file, or its tree. */
  readonly config: string | Readonly<Record<string, unknown>> | undefined;
  readonly overrides: readonly string[];
  /** `best`, `last`, or a step. */
  readonly checkpoint: "best" | "last" | number;
  /** Undefined: the config's splits; `all`: every task of every split, as one. */
  readonly split: string | undefined;
  /** `model`, or one that the environment has itself. */
  readonly policy: string;
  /** Undefined: the config's number; `all`: each task once. */
  readonly episodes: number | "all" | undefined;
  /** Attempts at each task; several give pass@k. */
  readonly attempts?: number | undefined;
  /** Keep what was no success, with a picture of each. */
  readonly show?: boolean;
  readonly quiet: boolean;
  readonly json: boolean;
  readonly signal: AbortSignal;
}

export interface EvaluateResult {
  readonly evaluations: readonly Evaluation[];
  /** The place where they were written. */
  readonly files: readonly string[];
  /** Only with `show`: what was no success, worst first, and the kind of environment that knows how to show it. */
  readonly misses?: readonly Miss[];
  readonly kind?: string;
}
