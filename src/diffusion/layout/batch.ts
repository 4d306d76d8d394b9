import type { NamedTensors } from "../../onnx/tensors.js";
import type { ScoreHead } from "../score-head.js";

/**
 * Trajectories laid out for one forward: named tensors, R scored terms, and the S segments that sum the terms. Term r
 * is the head's score at row r, mostly a log-probability; segment s has the log-probability sum_r
 * coefficient[r] * score[r] of its terms: a round for Flow-GRPO, a response for ESPO. A segment is the unit of a ratio. Padding terms have
 * coefficient 0. Consumers of a batch do not interpret its tensors.
 */
export interface Batch {
  /** Inputs of the model's graph by name; with `rows` [R] int64, only those rows of its output go through the head. */
  readonly inputs: NamedTensors;
  /** True where no entry of a sequence sees a later one: attention may skip the upper triangle. */
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
  /** [S] index in the batch of a segment's trajectory; -1 for padding. */
  readonly owner: readonly number[];
  /** [S] the trajectory's step that a segment covers; -1 where it covers all steps. */
  readonly step: readonly number[];
  /** [S] the response position of a segment's token; absent where segments cover several tokens. */
  readonly position?: readonly number[];
  /** [S] scored units (tokens) per segment: the divisor of its log-probability in objectives that work per token. */
  readonly units: Float32Array;
  /** [S] weight of a segment among those of the step; absent: equal weights. */
  readonly share?: Float32Array;
  /** [S] log-probability of each segment as its rollout recorded it; undefined where it did not. */
  readonly logProb: Float32Array | undefined;
  /**
   * Set where a random subset of the segments is laid out: `share` [S] is the number of the `of` segments that each one
   * represents, so that the expectation over subsets is the loss over all of them. Absent: every segment is here, once.
   */
  readonly sampled?: { readonly share: Float32Array; readonly of: number };
}
