import type { z } from "zod";
import type { Rng } from "../core/rng.js";
import type { Batch } from "../diffusion/batch.js";
import type { BoundLayout, Scoring, StepLayout } from "../diffusion/layouts.js";
import type { Trajectory } from "../diffusion/trajectory.js";
import type { Emitter } from "../onnx/emit.js";
import type { InputSpecs, NamedTensors } from "../onnx/tensors.js";
import type { Value } from "../onnx/types.js";
import type { ParameterGroup } from "../optim/optimizer.js";
import type { GroupEpisode, TurnCredit } from "./credit.js";
import type { WeighingOptions } from "./weighing.js";

/** Parts of an objective's loss on the graph. */
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
  /** [S] what {@link Objective.credit} gives the segment's episode, turn or step */
  readonly advantage: Value;
  /** [S] scored units (tokens) of the segment; at least 1 */
  readonly units: Value;
  /** [S] weight in the loss: they sum to 1 over a whole step; 0 for padding */
  readonly weight: Value;
  /** [B*N, D] what goes into the model's output head; undefined where it has none */
  readonly hidden: Value | undefined;
  /**
   * [S] of each segment the mean entropy [nats] of the distributions that its terms were drawn from, weighed by the terms'
   * coefficients; computed where it is asked for. Undefined where a term is of no distribution over tokens.
   */
  readonly entropy?: (() => Value) | undefined;
  /** The tensors that {@link Objective.inputs} declares. */
  readonly extra: Readonly<Record<string, Value>>;
  /** The parameters that {@link Objective.parameters} declares, by name. */
  readonly parameters: Readonly<Record<string, Value>>;
}

export interface Loss {
  /** Scalar. Micro-batches add up, as `weight` sums to 1 over the step. */
  readonly loss: Value;
  /** Scalars, added over micro-batches, or the largest taken. */
  readonly metrics: Readonly<Record<string, { readonly value: Value; readonly reduce: "sum" | "max" }>>;
}

/** Layouts of a micro-batch for an objective: the sampler's own ways to score what it recorded. */
export interface LayoutContext {
  /** Each trajectory's own draws of this step, in their order: the same for policy, old and reference. */
  readonly rngs: readonly Rng[];
  /** Steps of a trajectory. */
  steps(trajectory: Trajectory): number;
  stepTerms(trajectories: readonly Trajectory[], layout: Pick<StepLayout, "level" | "subset" | "reduction">): Batch;
  boundTerms(
    trajectories: readonly Trajectory[],
    layout: Pick<BoundLayout, "samples" | "coupled" | "quadrature">,
  ): Batch;
  textTerms(trajectories: readonly Trajectory[]): Batch;
}

/** An objective's requirements of its rollouts besides the trajectories. */
export interface Needs {
  /** The reference policy scores every batch. */
  readonly reference: boolean;
  /**
   * The response as it would stand after each step, played and scored too: {@link GroupEpisode} then has a reward a
   * step.
   */
  readonly drafts?: boolean;
  /** Rewards of parts of a turn's answer, with their tokens, where the environment says. */
  readonly parts?: boolean;
}

/**
 * One file under objectives/ exports one of these as `objective`; its file name is its `kind`.
 * `rollouts` objectives learn from what the policy did in the environment, `supervision` ones from given responses.
 */
export interface Objective<Options = unknown> {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodObject;
  readonly learnsFrom: "rollouts" | "supervision";
  /** The way it scores: refused before a run starts where the sampler cannot. */
  readonly scoring: Scoring;
  /**
   * Set where it reads hidden states of the prompt's tokens: refused where a model reads no tokens. Each sequence has a
   * row of its own then, and where `inputs` are declared, which may count places in it, unless this is false.
   */
  readonly readsPrompt?: boolean;
  needs(options: Options): Needs;
  /**
   * Credit of a group's episodes: one number an episode, turn, or step; null for an episode that is left out. Groups
   * whose rewards are all equal come here too: it is the objective that says whether they teach anything.
   */
  credit(group: readonly GroupEpisode[], options: Options): readonly (readonly TurnCredit[] | null)[];
  /** Parameters that train beside the model's own, as a head of its own. */
  parameters?(options: Options, model: { readonly hiddenSize: number }): readonly ParameterGroup[];
  /** Inputs that its loss reads besides; dimensions are the model's own symbols, R terms, S segments. */
  readonly inputs?: InputSpecs;
  /** Values of {@link inputs} for a micro-batch. */
  feed?(batch: Batch, trajectories: readonly Trajectory[], options: Options): NamedTensors;
  /**
   * Steps between measurements of how much of the ratios is noise of the layout's own draws; 0: never. Absent where a
   * layout draws nothing that changes a value.
   */
  noiseEvery?(options: Options): number;
  /**
   * Tells whether its loss is weighted by a clipped ratio that gradients do not pass: what trains is then the gradient
   * of its loss only where that ratio is clipped. Absent: never.
   */
  heldRatio?(options: Options): boolean;
  /** Says how a step weighs its segments and corrects for another sampling policy (weighing.ts). Absent: as laid out. */
  weighing?(options: Options): WeighingOptions;
  /** Lays out a micro-batch of trajectories. */
  layout(trajectories: readonly Trajectory[], options: Options, context: LayoutContext): Batch;
  /** The loss head. */
  loss(inputs: LossInputs, options: Options): Loss;
}
