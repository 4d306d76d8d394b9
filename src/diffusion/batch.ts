import type { NamedTensors } from "../onnx/tensors.js";
import type { ScoreHead } from "./score-head.js";

/**
 * Trajectories laid out for one forward: named tensors, R scored terms, and the S segments that the terms add up to.
 * Term r is what `head` says at row r, mostly a log-probability; segment s gathers sum_r coefficient[r] * score[r] over
 * its terms: a round for Flow-GRPO, a response for ESPO. A segment is the unit of a ratio. Padding terms have
 * coefficient 0. Nothing that takes a batch knows what its tensors mean.
 */
export interface Batch {
  /** Inputs of the model's graph by name; `rows` [R] int64 where only those rows of its output go through the head. */
  readonly inputs: NamedTensors;
  /** No entry of a sequence sees one behind it: attention may skip what is never shown. */
  readonly causal?: boolean;
  readonly head: ScoreHead;
  /** Inputs of the head by name. */
  readonly headInputs: NamedTensors;
  /** [R] */
  readonly coefficient: Float32Array;
  /** [R] in 0..S-1 */
  readonly segment: BigInt64Array;
  /** S */
  readonly segments: number;
  /** [S] which trajectory of the batch a segment belongs to; -1 for padding. */
  readonly owner: readonly number[];
  /** [S] the step of its trajectory that a segment covers; -1 where it covers all of them. */
  readonly step: readonly number[];
  /** [S] the position in the response of the token that a segment covers; absent where one covers several. */
  readonly position?: readonly number[];
  /** [S] scored units (tokens) behind each segment: what a value is divided by where an objective works per token. */
  readonly units: Float32Array;
  /** [S] how much a segment counts beside the others of the step; absent: all count the same. */
  readonly share?: Float32Array;
  /** [S] the rollout's own value of each segment, where it recorded one. */
  readonly recorded: Float32Array | undefined;
  /**
   * Set where a random subset of the segments is laid out: `share` [S] says how many of the `of` segments each stands
   * for, so that the expectation over subsets is the loss over all of them. Absent: every segment is here, once.
   */
  readonly sampled?: { readonly share: Float32Array; readonly of: number };
}
