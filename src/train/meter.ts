import type { z } from "zod";
import { loadFolder } from "../core/registry.js";
import type { StepContext } from "./context.js";
import type { Group, Sample } from "./rollouts/groups.js";
import type { GradientObserver, MicroBatch } from "./update.js";

/**
 * Measures the steps of a run beside its training: no random draw of the training depends on it. Each file under
 * meters/ exports one as `meter`.
 */
export interface MeterKind<State = unknown> {
  /** Key and schema of its state in checkpoints; absent: it has none. */
  readonly state?: { readonly key: string; readonly schema: z.ZodType<State> };
  /** @param state of the checkpoint that the run continues from. */
  open(context: MeterContext, state: State | undefined): Meter;
}

export type MeterContext = Omit<StepContext, "executor">;

/** A meter of one run. */
export interface Meter {
  /** Returns the state for a checkpoint. */
  state?(): unknown;
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
  accumulated?: GradientObserver["accumulated"];
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

/** The meters of a run. */
export class Meters {
  private constructor(
    private readonly size: number,
    private readonly opened: readonly { readonly key: string | undefined; readonly meter: Meter }[],
  ) {}

  /** Opens a meter of every kind. @param saved state of the checkpoint that the run continues from. */
  static open(kinds: readonly MeterKind[], context: MeterContext, saved: Readonly<Record<string, unknown>>): Meters {
    const opened = kinds.map((kind) => {
      const key = kind.state?.key;
      return { key, meter: kind.open(context, key === undefined ? undefined : saved[key]) };
    });
    return new Meters(context.size, opened);
  }

  /** States for a checkpoint, by key. */
  get state(): Record<string, unknown> {
    return Object.fromEntries(
      this.opened.flatMap(({ key, meter }) => (key === undefined ? [] : [[key, meter.state?.()]])),
    );
  }

  /** Begins the measurements of a step. */
  measure(step: number, groups: readonly Group[], samples: readonly Sample[]) {
    const all = this.opened.map(({ meter }) => meter.measure(step, groups, samples));
    const split = all.flatMap((one) => (one.parts === undefined ? [] : [one.parts]));
    if (split.length > 1) throw new Error("two meters split the samples of a step");
    const parts = split[0] ?? [samples];
    const boundary = Math.ceil((parts[0]?.length ?? 0) / this.size);
    const gradients: GradientObserver = {
      boundary,
      accumulated: async (...added) => {
        for (const one of all) await one.accumulated?.(...added);
      },
    };
    return {
      parts,
      readsOld: all.some(({ readsOld }) => readsOld === true),
      gradients,
      begin: async (batches: readonly MicroBatch[]): Promise<void> => {
        for (const one of all) await one.begin?.({ parts, batches, boundary });
      },
      metrics: async (): Promise<Record<string, number | null>> => {
        const metrics: Record<string, number | null> = {};
        for (const one of all) Object.assign(metrics, await one.metrics());
        return metrics;
      },
    };
  }
}
