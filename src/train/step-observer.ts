import type { RolloutMetrics } from "../runs/metrics.js";
import type { Phase } from "../watch/watcher.js";
import type { StepContext } from "./context.js";
import type { Noise, NoiseOfStep } from "./noise/noise.js";
import { checkReplay } from "./replay-check.js";
import type { Group, Sample } from "./rollouts/groups.js";
import { type StepResults, stepMetrics } from "./step-metrics.js";
import type { GradientObserver, MicroBatch } from "./update.js";

/** Stages of a step with their names in progress; collecting shows its own. */
const SHOWN = { collect: undefined, score: "scoring", update: "updating" } as const;

/** Observes the steps of a run. */
export class Observers {
  /**
   * @param unchecked set where this process's own policy samples the rollouts, and their replay has not been compared
   *   yet.
   */
  constructor(
    private readonly context: StepContext,
    private readonly phase: (phase: Phase) => void,
    private readonly noise: Noise,
    private unchecked: boolean,
  ) {}

  /** Observes one step; no random draw and no gradient depends on it. */
  of(step: number) {
    const { policy, executor, share, size } = this.context;
    const began = performance.now();
    const time = { collect: 0, score: 0, update: 0 };
    const since = (from: number): number => (performance.now() - from) / 1000;
    let measurement: NoiseOfStep | undefined;
    let boundary = 0;
    return {
      /** Runs a part of the step: shown and timed. */
      stage: async <T>(name: keyof typeof SHOWN, work: () => Promise<T>): Promise<T> => {
        const from = performance.now();
        const doing = SHOWN[name];
        if (doing !== undefined) this.phase({ doing });
        const result = await work();
        time[name] += since(from);
        return result;
      },
      /**
       * Prepares batches together with their measurements: the replay of the first rollouts, the noise.
       * @param prepare lays out and scores samples, in parts that share no micro-batch.
       */
      prepare: async (
        groups: readonly Group[],
        samples: readonly Sample[],
        prepare: (parts: readonly (readonly Sample[])[], readsOld: boolean) => Promise<MicroBatch[]>,
      ): Promise<MicroBatch[]> => {
        measurement = this.noise.measure(step, groups, samples);
        if (this.unchecked && samples.length > 0) {
          const trajectories = samples.map(({ trajectory }) => trajectory);
          await checkReplay(policy, trajectories, executor.score, share);
          this.unchecked = false;
        }
        const { parts, readsOld } = measurement;
        boundary = Math.ceil((parts[0]?.length ?? 0) / size);
        const batches = await prepare(parts, readsOld);
        await measurement.begin(batches, boundary);
        return batches;
      },
      /** Returns the observer of the first update's gradients. */
      gradients: (): GradientObserver => ({
        boundary,
        accumulated: async (...added) => measurement?.accumulated(...added),
      }),
      /** @param counts metrics of the run so far. */
      metrics: async (
        results: StepResults,
        counts: Readonly<Record<string, number>>,
        lr: number,
      ): Promise<RolloutMetrics> => {
        const extra = { ...(await measurement?.metrics()), ...counts };
        const { score, update } = time;
        const workers = executor.figures?.();
        return stepMetrics(this.context, results, {
          ...{ step, lr, extra, time: { rollout: results.collected.rollout, score, update, total: since(began) } },
          ...(workers && { workers }),
        });
      },
    };
  }
}
