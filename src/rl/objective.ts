import type { z } from "zod";
import type { DiscreteRng } from "../core/outcomes.js";
import type { TokenIds } from "../diffusion/policy.js";
import type { PackedBatch } from "../diffusion/replay.js";
import type { Trajectory } from "../diffusion/trajectory.js";
import type { Emitter } from "../onnx/emit.js";
import type { Value } from "../onnx/types.js";

/**
 * Buffers with R scored terms in S segments. Term r is the log-probability of `targets[r]` at row `rows[r]`;
 * segment s gathers sum_r coefficient[r] * logProb[r] over its terms: a round for Flow-GRPO, a response for ESPO.
 * Padding terms have coefficient 0.
 */
export interface TermBatch {
  readonly batch: number;
  readonly length: number;
  /** [B*N] */
  readonly inputIds: BigInt64Array;
  /** [B*N] */
  readonly positionIds: BigInt64Array;
  /** [B*N*N] additive */
  readonly attentionBias: Float32Array;
  readonly temperature: number;
  /** [R] flat b*N+n */
  readonly rows: BigInt64Array;
  /** [R] */
  readonly targets: BigInt64Array;
  /** [R] 1 or 0 */
  readonly eosAllowed: Float32Array;
  /** [R] */
  readonly coefficient: Float32Array;
  /** [R] in 0..S-1 */
  readonly segment: BigInt64Array;
  readonly segments: number;
  /** [S] which trajectory of the batch a segment belongs to; -1 for padding. */
  readonly owner: readonly number[];
  /** [S] scored tokens behind each segment: what a value is divided by where an objective works per token. */
  readonly tokens: Float32Array;
  /** [S] the rollout's own value of each segment, where it recorded one. */
  readonly recorded: Float32Array | undefined;
  /**
   * Set where a random subset of the segments is laid out: `share` [S] says how many of the `of` segments each stands
   * for, so that the expectation over subsets is the loss over all of them. Absent: every segment is here, once.
   */
  readonly sampled?: { readonly share: Float32Array; readonly of: number };
}

/** What the loss of an objective is made of, on the graph. */
export interface LossInputs {
  readonly e: Emitter;
  /** [R] log-probabilities at tau, nats */
  readonly logProbs: Value;
  /** [R] */
  readonly coefficient: Value;
  /** [S] sums of the segments */
  readonly value: Value;
  /** [S] value under the policy that sampled */
  readonly old: Value;
  /** [S] value under the reference policy */
  readonly reference: Value;
  /** [S] advantage of the segment's rollout */
  readonly advantage: Value;
  /** [S] scored tokens of the segment; at least 1 */
  readonly tokens: Value;
  /** [S] weight in the loss: they sum to 1 over a whole step; 0 for padding */
  readonly weight: Value;
}

export interface Loss {
  /** Scalar. Micro-batches add up, as `weight` sums to 1 over the step. */
  readonly loss: Value;
  /** Scalars, added over micro-batches, or the largest taken. */
  readonly metrics: Readonly<Record<string, { readonly value: Value; readonly reduce: "sum" | "max" }>>;
}

/** What an objective may use to lay out trajectories. */
export interface LayoutContext {
  readonly tokens: TokenIds;
  /** Trajectories that a layout is made for; fewer are padded. */
  readonly batch: number;
  /** L: positions of the canvas, so the most tokens that one trajectory can have. */
  readonly canvas: number;
  /** T of the sampler. */
  readonly rounds: number;
  /** Sequences are padded to multiples of this, so that few graphs are built. */
  readonly lengthStep: number;
  /** Draws of this step: the same for policy, old and reference. */
  readonly rng: DiscreteRng;
  /** Lays rounds out for scoring (the sampler's own `pack`). */
  pack(trajectories: readonly Trajectory[], subset?: readonly (readonly number[])[]): PackedBatch;
}

/**
 * One file under objectives/ exports one of these as `objective`; its file name is the subcommand.
 * `rollouts` objectives learn from what the policy did in the environment, `supervision` ones from given responses.
 */
export interface Objective<Options = unknown> {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodObject;
  readonly learnsFrom: "rollouts" | "supervision";
  /** Coefficient of the penalty to the reference policy; 0: the reference is never scored. */
  penalty(options: Options): number;
  /** Lays out a micro-batch of trajectories. */
  layout(trajectories: readonly Trajectory[], options: Options, context: LayoutContext): TermBatch;
  /** The loss head. */
  loss(inputs: LossInputs, options: Options): Loss;
}
