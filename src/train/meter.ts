import type { z } from "zod";
import { loadFolder } from "../core/registry.js";
import type { StepContext } from "./context.js";
import type { Group, Sample } from "./rollouts/groups.js";
import type { GradientObserver, MicroBatch } from "./update.js";

/**
 * Measures the steps of a run beside its training: no random draw of the training depends on it. Each file under
 * meters/ exports one as `meter`.
 */
export interface MeterKind {
  /** Schemas of its state in checkpoints, by key. */
  readonly state?: z.ZodRawShape;
  /** @param saved state of the checkpoint that the run continues from; empty at the start. */
  open(context: MeterContext, saved: Readonly<Record<string, unknown>>): Meter;
}

export type MeterContext = Omit<StepContext, "executor">;

/** A meter of one run. */
export interface Meter {
  /** Returns the state for a checkpoint, by key. */
  state?(): Readonly<Record<string, unknown>>;
  /** Begins the measurement of a step. @param samples those that are trained on, of the groups with signal. */
  measure(step: number, groups: readonly Group[], samples: readonly Sample[]): Measurement;
}

/** The measurement of one step, in the order of its calls. */
export interface Measurement {
  /** Splits the samples into parts that share no micro-batch; one meter of a run at most does so. */
  readonly parts?: readonly (readonly Sample[])[] | undefined;
  /** True if it reads the old values of the batches, which a step with a single update does not compute. */
  readonly readsOld?: boolean;
  /** Called before the updates. */
  begin?(prepared: Prepared): Promise<void> | void;
  /** Called after each micro-batch of the first update. */
  accumulated?: GradientObserver["accumulated"] | undefined;
  /** Called after the updates. @returns its metrics, the same keys in every step; null for those not taken. */
  metrics(): Promise<Readonly<Record<string, number | null>>>;
}

/** The micro-batches of a step. */
export interface Prepared {
  readonly parts: readonly (readonly Sample[])[];
  /** Of the parts, in order. */
  readonly batches: readonly MicroBatch[];
  /** Micro-batches of the first part. */
  readonly boundary: number;
}

/** Loads meters/. */
export async function meterKinds(): Promise<MeterKind[]> {
  return [...(await loadFolder<MeterKind>(new URL("./meters/", import.meta.url), "meter")).values()];
}

/** Combines meters to one. */
export function combinedMeter(meters: readonly Meter[]): Meter {
  return {
    state: () => Object.assign({}, ...meters.map((meter) => meter.state?.())),
    measure(...step) {
      const all = meters.map((meter) => meter.measure(...step));
      const split = all.flatMap(({ parts }) => (parts === undefined ? [] : [parts]));
      if (split.length > 1) throw new Error("two meters split the samples of a step");
      return {
        parts: split[0],
        readsOld: all.some(({ readsOld }) => readsOld === true),
        async begin(prepared) {
          for (const one of all) await one.begin?.(prepared);
        },
        async accumulated(...added) {
          for (const one of all) await one.accumulated?.(...added);
        },
        async metrics() {
          const metrics: Record<string, number | null> = {};
          for (const one of all) Object.assign(metrics, await one.metrics());
          return metrics;
        },
      };
    },
  };
}
