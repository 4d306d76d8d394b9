import type { Engine } from "../../engine/engine.js";
import { f32 } from "../../onnx/tensors.js";
import type { Tensor } from "../../onnx/types.js";
import type { MicroBatch } from "../micro-batch.js";

/** The gradient of several micro-batches, accumulated in order from zero, with the metrics of each. */
export interface SlotGradient {
  readonly gradients: ReadonlyMap<string, Pick<Tensor, "shape" | "data">>;
  readonly metrics: readonly Readonly<Record<string, number>>[];
  /** Names of the metrics that combine by their maximum instead of their sum. */
  readonly largest: readonly string[];
}

/** Computes the gradients of slots, here or elsewhere; in order. */
export type SlotGradients = (slots: readonly (readonly MicroBatch[])[], update: number) => AsyncIterable<SlotGradient>;

/** The division of an update into parts that are computed separately. */
export interface Slots {
  /** Most slots: the sum depends on the division only, not on the machines that compute it. */
  readonly count: number;
  readonly gradients: SlotGradients;
}

/**
 * Divides micro-batches into slots [from, to) of neighbours, as equal as possible.
 * @param boundary a further place where a slot ends.
 */
export function slotRanges(batches: number, count: number, boundary = 0): [number, number][] {
  const cuts = new Set([0, batches]);
  for (let slot = 1; slot < count; slot++) cuts.add(Math.floor((slot * batches) / count));
  if (boundary > 0 && boundary < batches) cuts.add(boundary);
  const sorted = [...cuts].sort((a, b) => a - b);
  return sorted.slice(1).map((to, i) => [sorted[i] as number, to]);
}

/** Returns gradients of slots, computed in order by an engine. */
export function slotsHere(engine: Engine): SlotGradients {
  return async function* (slots) {
    for (const batches of slots) yield await slotGradient(engine, batches);
  };
}

/** Computes the gradient of one slot. */
export async function slotGradient(engine: Engine, batches: readonly MicroBatch[]): Promise<SlotGradient> {
  engine.discardGradients();
  const metrics: Record<string, number>[] = [];
  for (const { batch, values } of batches) metrics.push(await engine.accumulate(batch, values));
  const gradients = await engine.getGradients();
  engine.discardGradients();
  return { gradients, metrics, largest: largestOf(engine, metrics) };
}

/** Names the metrics that combine by their maximum. */
function largestOf(engine: Engine, metrics: readonly Readonly<Record<string, number>>[]): string[] {
  const names = new Set(metrics.flatMap((of) => Object.keys(of)));
  return [...names].filter((name) => engine.reduction(name) === "max");
}

/** A part of an update's gradient that was added to the others. */
interface Added extends Pick<SlotGradient, "metrics" | "largest"> {
  /** Index of its last micro-batch. */
  readonly last: number;
  /** Returns the gradients added so far. */
  readonly gradients: () => Promise<ReadonlyMap<string, Tensor>>;
}

/** Accumulates the gradients of micro-batches one by one in an engine. */
export async function* accumulateHere(engine: Engine, batches: readonly MicroBatch[]): AsyncGenerator<Added> {
  for (const [last, { batch, values }] of batches.entries()) {
    const metrics = [await engine.accumulate(batch, values)];
    yield { metrics, largest: largestOf(engine, metrics), last, gradients: () => engine.getGradients() };
  }
}

/** Adds the gradients of slots, and gives the engine their sum. @param boundary a further place where a slot ends. */
export async function* accumulateSlots(
  engine: Engine,
  batches: readonly MicroBatch[],
  update: number,
  { count, gradients: compute }: Slots,
  boundary: number | undefined,
): AsyncGenerator<Added> {
  const ranges = slotRanges(batches.length, count, boundary);
  const sum = new GradientSum();
  let slot = 0;
  const parts = ranges.map(([from, to]) => batches.slice(from, to));
  for await (const { gradients, metrics, largest } of compute(parts, update)) {
    sum.add(gradients);
    const [, end] = ranges[slot++] as [number, number];
    yield { metrics, largest, last: end - 1, gradients: async () => sum.rounded() };
  }
  await engine.setGradients(sum.rounded());
}

/** Sums gradients in float64, in order of addition. */
export class GradientSum {
  private readonly sums = new Map<string, { shape: readonly number[]; sum: Float64Array }>();

  add(gradients: SlotGradient["gradients"]): void {
    for (const [name, { shape, data }] of gradients) {
      const values = data as Float32Array;
      let entry = this.sums.get(name);
      if (entry === undefined) {
        entry = { shape, sum: new Float64Array(values.length) };
        this.sums.set(name, entry);
      }
      const { sum } = entry;
      for (let i = 0; i < values.length; i++) (sum[i] as number) += values[i] as number;
    }
  }

  /** Returns the sums so far, rounded once. */
  rounded(): Map<string, Tensor> {
    return new Map([...this.sums].map(([name, { shape, sum }]) => [name, f32(shape, Float32Array.from(sum))]));
  }
}
