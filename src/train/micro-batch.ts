import type { Batch } from "../diffusion/layout/batch.js";
import type { Trajectory } from "../diffusion/trajectory.js";
import type { ComparedValues, SegmentValues } from "../engine/engine.js";

/** Uses the same numbers [S] for every value, for losses that compare none. */
export const sameValues = (all: Float32Array): ComparedValues => ({
  old: all,
  reference: all,
  advantage: all,
  weight: all,
});

/** A laid-out micro-batch with the values its loss compares. */
export interface MicroBatch {
  readonly batch: Batch;
  /** The trajectories to which the batch's `owner` refers. */
  readonly trajectories: readonly Trajectory[];
  readonly values: SegmentValues;
  /** [S] importance weights, already in the advantages; absent where the sampling policy counts as the old one. */
  readonly trust?: Float32Array;
}

/** A micro-batch whose old and reference values are given. */
export type ScoredBatch = MicroBatch & { readonly values: ComparedValues };
