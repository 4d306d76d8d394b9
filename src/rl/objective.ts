import type { z } from "zod";
import type { Rng } from "../core/rng.js";
import type { Batch } from "../diffusion/layout/batch.js";
import type { BoundLayout, Scoring, StepLayout } from "../diffusion/layout/scorings.js";
import type { ScoreHead } from "../diffusion/score-head.js";
import type { Trajectory } from "../diffusion/trajectory.js";
import type { Emitter } from "../onnx/emit.js";
import type { InputSpecs, NamedTensors } from "../onnx/tensors.js";
import type { Value } from "../onnx/types.js";
import type { ParameterGroup } from "../optim/optimizer.js";
import type { GroupEpisode, TurnCredit } from "./credit.js";
import type { WeighingOptions } from "./weighing.js";

/** Inputs of an objective's loss on the graph. */
export interface LossInputs {
  readonly e: Emitter;
  /** [R] log-probabilities of the terms at tau, nats */
  readonly logProbs: Value;
  /** [R] */
  readonly coefficient: Value;
  /** [S] log-probabilities of the segments: sums of coefficient * logProbs */
  readonly logProb: Value;
  /** [S] the same under the policy before the update */
  readonly old: Value;
  /** [S] the same under the reference policy */
  readonly reference: Value;
  /** [S] {@link Objective.credit} of the segment's episode, turn or step */
  readonly advantage: Value;
  /** [S] scored units (tokens) of the segment; at least 1 */
  readonly units: Value;
  /** [S] weight in the loss: sums to 1 over a whole step; 0 for padding */
  readonly weight: Value;
  /** [B*N, D] input of the model's output head; undefined where it has none */
  readonly hidden: Value | undefined;
  /**
   * [S] mean entropy [nats] per segment of the distributions of its terms, weighted by the terms' coefficients;
   * computed on demand. Undefined where a term has no distribution over tokens.
   */
  readonly entropy?: (() => Value) | undefined;
  /** The tensors that {@link Objective.inputs} declares. */
  readonly extra: Readonly<Record<string, Value>>;
  /** The parameters that {@link Objective.parameters} declares, by name. */
  readonly parameters: Readonly<Record<string, Value>>;
}

export interface Loss {
  /** Scalar. Micro-batches are summed, as `weight` sums to 1 over the step. */
  readonly loss: Value;
  /** Scalars, summed over micro-batches, or their maximum. */
  readonly metrics: Readonly<Record<string, { readonly value: Value; readonly reduce: "sum" | "max" }>>;
}

/** Layouts of a micro-batch for an objective: the sampler's ways to score its records. */
export interface LayoutContext {
  /** Each trajectory's random stream of this step, in order: the same for policy, old and reference. */
  readonly rngs: readonly Rng[];
  /** Returns the number of steps of a trajectory. */
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
  /** True if the reference policy scores every batch. */
  readonly reference: boolean;
  /** True if the response after each step is played and scored too: {@link GroupEpisode} then has a reward per step. */
  readonly drafts?: boolean;
  /** True if parts of a turn's answer have rewards, with their tokens, where the environment gives them. */
  readonly parts?: boolean;
}

/** The part of the config that {@link Objective.unread} reads besides the objective's own section. */
export interface UnreadConfig {
  readonly distributed?: { readonly staleness?: number };
}

/** A learned value of the states of a path. Before an update the policy scores them, and advantages replace credit. */
export interface Critic {
  /** Values of states [R]; it may declare the objective's parameters as inputs, and reads the output `hidden` too. */
  readonly head: ScoreHead<unknown>;
  /** Further inputs of the loss; S segments. */
  readonly inputs: InputSpecs;
  /** Returns a batch in the place of another, with the value of each segment as its score. */
  states(batch: Batch): Batch;
  /**
   * @param values [S] of {@link states}, before the update. @param credit [S]
   * @returns advantages [S], and the values of {@link inputs}.
   */
  assess(batch: Batch, values: Float32Array, credit: Float32Array): { advantage: Float32Array; extra: NamedTensors };
}

/**
 * A training objective. Each file under objectives/ exports one as `objective`; its file name is its `kind`. `rollouts`
 * objectives learn from the policy's own episodes, `supervision` ones from given responses.
 */
export interface Objective<Options = unknown> {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodObject;
  readonly learnsFrom: "rollouts" | "supervision";
  /** Its scoring; a run with a sampler that does not support it is refused at the start. */
  readonly scoring: Scoring;
  /**
   * Set where the loss reads hidden states of the prompt's tokens, which needs a model of tokens. Each sequence is then
   * laid out in a row of its own. Default: true where `inputs` are declared, as these may refer to positions in a row.
   */
  readonly readsPrompt?: boolean;
  needs(options: Options): Needs;
  /**
   * Returns the keys and sections of a config that it does not read (`training.num_iterations`), with the reason; a
   * config that sets one is refused. Absent: it reads all.
   */
  unread?(options: Options, config?: UnreadConfig): Readonly<Record<string, string>>;
  /**
   * Assigns credit to a group's episodes: one number per episode, turn, or step; null for an episode that is left out.
   * Groups with equal rewards are included: the objective decides whether they give a signal.
   */
  credit(group: readonly GroupEpisode[], options: Options): readonly (readonly TurnCredit[] | null)[];
  /** Returns parameters that train beside the model's, as an extra head. */
  parameters?(options: Options, model: { readonly hiddenSize: number }): readonly ParameterGroup[];
  /** Returns its learned value of states, by {@link parameters}; absent or undefined: advantages are the credit. */
  critic?(options: Options, model: { readonly hiddenSize: number }): Critic | undefined;
  /** Further inputs of its loss; dimensions are the model's own symbols, R terms, S segments. */
  readonly inputs?: InputSpecs;
  /** Returns the values of {@link inputs} for a micro-batch. */
  feed?(batch: Batch, trajectories: readonly Trajectory[], options: Options): NamedTensors;
  /**
   * Returns the number of steps between measurements of the ratios' noise from the layout's own draws; 0: never. Absent
   * where a layout draws nothing that changes a value.
   */
  noiseEvery?(options: Options): number;
  /**
   * Returns what its loss holds, without gradient: the clipped ratio that weighs it, or the states that its own
   * parameters read. The training gradient is then that of its loss only where that ratio is clipped, or where those
   * parameters are 0. Absent: nothing.
   */
  held?(options: Options): readonly ("ratio" | "states")[];
  /** Returns how a step weights its segments and corrects for another sampling policy (weighing.ts); absent: as is. */
  weighing?(options: Options): WeighingOptions;
  /** Lays out a micro-batch of trajectories. */
  layout(trajectories: readonly Trajectory[], options: Options, context: LayoutContext): Batch;
  /** Emits the loss. */
  loss(inputs: LossInputs, options: Options): Loss;
}
