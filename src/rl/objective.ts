import type { z } from "zod";
import type { DiscreteRng } from "../core/outcomes.js";
import type { BoundLayout, StepLayout } from "../diffusion/layouts.js";
import type { Scoring } from "../diffusion/sampler.js";
import type { TermBatch } from "../diffusion/terms.js";
import type { Trajectory } from "../diffusion/trajectory.js";
import type { Emitter } from "../onnx/emit.js";
import type { Value } from "../onnx/types.js";

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

/** What an objective may lay out of a micro-batch: the sampler's own ways to score what it recorded. */
export interface LayoutContext {
  /** Draws of this step: the same for policy, old and reference. Drawn from for one trajectory after the other. */
  readonly rng: DiscreteRng;
  /** Steps of a trajectory. */
  steps(trajectory: Trajectory): number;
  stepTerms(trajectories: readonly Trajectory[], layout: Pick<StepLayout, "level" | "subset" | "reduction">): TermBatch;
  boundTerms(trajectories: readonly Trajectory[], layout: Pick<BoundLayout, "samples" | "coupled">): TermBatch;
  textTerms(trajectories: readonly Trajectory[]): TermBatch;
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
  /** How it scores: refused before a run starts where the sampler cannot. */
  readonly scoring: Scoring;
  /** Coefficient of the penalty to the reference policy; 0: the reference is never scored. */
  penalty(options: Options): number;
  /**
   * Steps between measurements of how much of the ratios is noise of the layout's own draws; 0: never. Absent where a
   * layout draws nothing that changes a value.
   */
  noiseEvery?(options: Options): number;
  /** Lays out a micro-batch of trajectories. */
  layout(trajectories: readonly Trajectory[], options: Options, context: LayoutContext): TermBatch;
  /** The loss head. */
  loss(inputs: LossInputs, options: Options): Loss;
}
