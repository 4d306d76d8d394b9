import type { RunConfig } from "../config/config.js";
import { messageOf, misuse } from "../core/errors.js";
import { calledFeature } from "../core/features.js";
import type { Logger } from "../core/log.js";
import type { Evaluation } from "../runs/evaluation.js";
import type { StepMetrics } from "../runs/metrics.js";
import type { RolloutRecord } from "../runs/rollout-record.js";
import { Progress, type ProgressOptions } from "./progress.js";
import type { OpenLivePage } from "./run-pages.js";
import { openTrackers } from "./tracker.js";
import type { Outcome, Phase, WatchedRun, Watcher } from "./watcher.js";

/** Options of the command line for watching a run. */
interface WatchOptions extends Pick<ProgressOptions, "quiet" | "json" | "signal"> {
  /** Port of the live page, 0 for any free one; undefined: no page. */
  readonly ui?: number | undefined;
}

/** A run with an existing directory. */
interface BegunRun {
  readonly directory: { readonly dir: string };
  readonly checkpoint: { readonly step: number } | undefined;
  readonly log: Pick<Logger, "warn">;
}

/** Combines all watchers of a run. */
export class Watch {
  private readonly watchers = new Map<string, Watcher>();

  constructor(watchers: Readonly<Record<string, Watcher>>) {
    for (const [name, watcher] of Object.entries(watchers)) this.watchers.set(name, watcher);
  }

  /**
   * Opens progress on stderr, and the live page on request. Trackers join when the run has a directory.
   * @throws UserError where the page's port is not available.
   */
  static async open(config: RunConfig, options: WatchOptions): Promise<Watch> {
    const { quiet, ui } = options;
    const progress = new Progress(options);
    if (ui === undefined) return new Watch({ progress });
    const openLivePage = await calledFeature<OpenLivePage>("openLivePage");
    if (openLivePage === undefined) misuse("--ui needs the feature report, which was deleted.");
    const page = await openLivePage(ui, config);
    const text = `live page: ${page.address}`;
    // the page is useless without its address, even in a quiet run
    if (quiet) process.stderr.write(`${text}\n`);
    else progress.note(text);
    return new Watch({ progress, "live page": page });
  }

  /** Adds the trackers once the run has a directory. */
  async begin(config: RunConfig, command: string, run: BegunRun): Promise<void> {
    const { dir } = run.directory;
    const done = run.checkpoint?.step ?? 0;
    const about: WatchedRun = { name: config.name, command, dir, steps: config.training.steps, done };
    const trackers = await openTrackers(config, about, (text) => {
      run.log.warn(text);
      this.note(text);
    });
    for (const [name, tracker] of trackers) this.watchers.set(name, tracker);
    this.notify((w) => w.begin?.(about));
  }

  phase(phase: Phase): void {
    this.notify((w) => w.phase?.(phase));
  }

  rollouts(records: readonly RolloutRecord[]): void {
    this.notify((w) => w.rollouts?.(records));
  }

  step(metrics: StepMetrics): void {
    this.notify((w) => w.step?.(metrics));
  }

  evaluation(step: number, evaluation: Evaluation): void {
    this.notify((w) => w.evaluation?.(step, evaluation));
  }

  note(text: string): void {
    this.notify((w) => w.note?.(text));
  }

  async end(outcome: Outcome): Promise<void> {
    for (const [name, watcher] of this.watchers) {
      try {
        await watcher.end?.(outcome);
      } catch (error) {
        this.drop(name, error);
      }
    }
  }

  private notify(call: (watcher: Watcher) => unknown): void {
    for (const [name, watcher] of this.watchers) {
      try {
        Promise.resolve(call(watcher)).catch((error: unknown) => this.drop(name, error));
      } catch (error) {
        this.drop(name, error);
      }
    }
  }

  private drop(name: string, error: unknown): void {
    this.watchers.delete(name);
    this.note(`${name} has failed and is off for the rest of this run: ${messageOf(error)}`);
  }
}
