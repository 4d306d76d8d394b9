import type { Batch } from "../diffusion/batch.js";
import type { Trajectory } from "../diffusion/trajectory.js";
import type { SegmentValues } from "../engine/engine.js";

/** The same numbers [S] in the place of every value, for losses that compare none. */
export function sameValues(all: Float32Array): SegmentValues {
  return { old: all, reference: all, advantage: all, weight: all };
}

/** A laid-out micro-batch with the values its loss compares. */
export interface MicroBatch {
  readonly batch: Batch;
  /** Unit that the batch's `owner` counts. */
  readonly trajectories: readonly Trajectory[];
  readonly values: SegmentValues;
  /** [S] importance weights that are in the advantages already; absent where the policy that sampled is taken for the old one. */
  readonly trust?: Float32Array;
}
