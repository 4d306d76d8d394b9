import { type ZodObject, z } from "zod";
import { fail } from "../core/errors.js";
import type { Action, Observation, Spaces } from "../core/interaction.js";
import type { Rng } from "../core/rng.js";
import type { Emitter } from "../onnx/emit.js";
import type { InputSpecs, NamedTensors } from "../onnx/tensors.js";
import type { Tensor, Value } from "../onnx/types.js";
import type { Tokenizer } from "../text/tokenizer.js";
import type { Batch } from "./batch.js";
import type { BoundLayout, LayoutSizes, Scoring, StepLayout, SupervisedLayout } from "./layouts.js";
import type { ScoreHead } from "./score-head.js";
import type { ScoredBatch } from "./scored-tokens.js";
import type { SupervisedExample } from "./supervised.js";
import type { Rooms } from "./template.js";
import type { SampledModel } from "./tokens.js";
import type { Trajectory } from "./trajectory.js";

/** Options that every sampler has. */
export interface SamplerOptions extends Rooms {
  /** L: positions of the response canvas, given tokens and blanks together. */
  readonly responseLength: number;
  /** Longest prompt in tokens. */
  readonly promptLength: number;
  /** tau; 0 is greedy. */
  readonly temperature: number;
  /** Records what the response would be after each step, for objectives that learn from drafts. */
  readonly recordDrafts?: boolean;
  readonly model: SampledModel;
}

/**
 * One round of a batch of rollouts. Shapes depend on the configuration only, not on the state of the rollouts, save where
 * keys and values are kept.
 */
export interface RoundInput {
  /** Inputs of the model's graph by name; `rows` [R] int64: the rows that go through the head. */
  readonly inputs: NamedTensors;
  /** Inputs of the {@link RoundHead} by name. */
  readonly headInputs: NamedTensors;
}

/** Inputs of a head that draws from a vocabulary: noise [R] in [0, 1), strictly below 1 in float32, and 1 / tau. */
export const DRAW_INPUTS = {
  inverse_temperature: { dtype: "float32", shape: [] },
  uniform: { dtype: "float32", shape: ["R"] },
} as const satisfies InputSpecs;

/** The network behind a sampler; `Round` is what the sampler's {@link RoundHead} says of the rows. */
export interface RoundModel<Round> {
  forwardRound(input: RoundInput): Promise<Round>;
  /**
   * Rounds that compute only what is new, with an empty store of keys and values of their own; undefined where the
   * model's graph cannot keep any, and on `auto` where keeping them may cost more than computing them.
   */
  cachedRounds?(use: true | "auto"): Promise<CachedRounds<Round> | undefined>;
}

/** Use of cached keys and values: always, never, or where they stay in the memory that computes them. */
export type CacheUse = boolean | "auto";

/** Rounds that build on each other. */
export interface CachedRounds<Round> {
  /** A round of new tokens behind those that the rounds before have read. */
  forwardRound(input: RoundInput): Promise<Round>;
  /** Frees the keys and values. Never fails. */
  close(): void;
}

/** A graph that draws tokens from the outputs of the model's graph. */
export interface RoundHead<Round, About = SampledModel> {
  /** Inputs of its own; the symbol `R` is the number of rows. */
  readonly inputs: InputSpecs;
  /** Declares the graph's outputs from those of the model: `logits` [R, V]. */
  emit(
    e: Emitter,
    outputs: Readonly<Record<string, Value>>,
    inputs: Readonly<Record<string, Value>>,
    about: About,
  ): void;
  read(outputs: Readonly<Record<string, Tensor>>): Round;
}

/**
 * Translates between a sampler and an environment: from an observation to a rollout's start, from a trajectory to an action.
 * Samplers of text share one (text-policy.ts).
 */
export interface PolicyText<Start, T> {
  /** @throws UserError where the observation is not of the kind that the sampler reads. */
  begin(observation: Observation, tokenizer: Tokenizer | undefined, model: SampledModel): Start;
  action(trajectory: T, tokenizer: Tokenizer | undefined, model: SampledModel): Action;
  /** Offsets of the response's tokens in the action's text, in characters; absent: it writes no text. */
  offsets?(trajectory: T, tokenizer: Tokenizer | undefined, model: SampledModel): readonly number[];
  /** Says why the model cannot act in these spaces, and what to do; absent: it reads and writes texts. */
  refuses?(spaces: Spaces, model: SampledModel): Refusal | undefined;
  /** Makes an example of a demonstration. @throws UserError where it does not fit the options. */
  example(
    demonstration: { readonly observation: Observation; readonly action: Action },
    tokenizer: Tokenizer | undefined,
    options: SamplerOptions,
  ): SupervisedExample;
  /** Size of a start, which `prompt_length` limits; absent where none is too large. */
  length?(start: Start): number;
  /** Positions of a start's canvas, which `response_length` limits; 0 where it has no template. */
  canvas?(start: Start, options: SamplerOptions): number;
  /** Units that were generated: tokens. */
  units(trajectory: T): number;
  /** Named measures of a trajectory, which are averaged over a step. */
  metrics(trajectory: T, model: SampledModel): Readonly<Record<string, number>>;
}

/** Sizes that follow from a sampler's options. */
export interface SamplerShapes {
  /** Dimensions of the model's graph in a round of so many rollouts, by symbol. */
  dims(batch: number): Readonly<Record<string, number>>;
  /** Rows a rollout gathers in one round; undefined where the head reads all of the model's output. */
  readonly rows: number | undefined;
  /** Most steps of a trajectory. */
  readonly steps: number;
}

/** The step in which a token of a response got its final value. */
export interface Reveal {
  readonly position: number;
  readonly token: number;
  /** Step of the trajectory, from 0. */
  readonly step: number;
  /** Natural logarithm of the probability that it was sampled with, where it was sampled. */
  readonly logProb: number | undefined;
}

/**
 * Sampling of a policy, its record, and the scores of that record: the three must agree, so one object owns
 * them, with the loss that a model of its kind is trained by. Every file of `samplers/` exports one as `sampler`.
 * Left open, the type parameters stand for what the sampler itself made: starts, options and trajectories of another one
 * must not be given to it.
 */
export interface Sampler<
  Config = unknown,
  Options extends SamplerOptions = SamplerOptions,
  T extends Trajectory = Trajectory,
  Round = unknown,
  Start = unknown,
> {
  readonly policy: PolicyText<Start, T>;
  /** The sampler's part of a YAML configuration, with defaults. */
  readonly schema: ZodObject;
  /** Inputs [B] besides the contract's that it gives to the model's graph. */
  readonly conditions: readonly string[];
  readonly roundHead: RoundHead<Round>;
  /** Every head that its layouts may name. */
  readonly scoreHeads: readonly ScoreHead[];
  /** @throws UserError where the model is of a kind that it cannot sample. */
  options(config: Config, model: SampledModel): Options;
  shapes(options: Options): SamplerShapes;
  /** The same policy on a canvas of about `positions` tokens in at most `steps` steps: what proofs can afford. */
  shrink(options: Options, positions: number, steps: number): Options;
  /** Says why a scoring of the sampler does not work with these options; absent: whatever it has works. */
  refuses?(scoring: Scoring, options: Options): string | Refusal | undefined;
  /** Tells whether rollouts use {@link RoundModel.cachedRounds} where the model has them; absent: never. */
  caches?(options: Options): CacheUse;
  /**
   * @param starts what each rollout begins from: token ids of its prompt.
   * @param rngs one stream a rollout, so that batching does not change the noise.
   * @param batchSize B of every forward: prompts run in chunks of it, the last one padded. Default: all at once.
   */
  rollout(
    model: RoundModel<Round>,
    starts: readonly Start[],
    options: Options,
    rngs: readonly Rng[],
    batchSize?: number,
  ): Promise<T[]>;
  /**
   * Reads a recorded trajectory from JSON data and checks that this sampler could have drawn it.
   * @param where names the source in messages.
   * @throws UserError that says what is inconsistent.
   */
  parse(data: unknown, where: string, model: SampledModel): T;
  /** Steps of a trajectory that have a likelihood of their own. */
  steps(trajectory: T): number;
  /** Tokens that it takes to score all steps: sequences of similar size share a micro-batch. */
  size(trajectory: T): number;
  /**
   * The response as it would stand after each step, as trajectories that `policy.action` reads: what is open yet is as
   * the step drafted it. Of rollouts with {@link SamplerOptions.recordDrafts}; absent where there is no such thing.
   */
  drafts?(trajectory: T, model: SampledModel): object[];
  /** The step in which each token got its value; absent where there are no tokens. */
  reveals?(trajectory: T): Reveal[];
  /** The log-probabilities of the steps as sampled, with the recorded values. What a sampler lacks, it cannot be trained by. */
  stepTerms?(trajectories: readonly T[], options: Options, layout: StepLayout): Batch;
  /** A bound of log p(response | prompt): the same draws of `rng` give the same terms for every policy. */
  boundTerms?(trajectories: readonly T[], options: Options, layout: BoundLayout): Batch;
  /** log p of the response read from left to right. */
  textTerms?(trajectories: readonly T[], options: Options, layout: LayoutSizes): Batch;
  /** Named measures of what a step trained on, for whoever watches; null where one has no meaning. */
  watch?(batches: readonly ScoredBatch[], scoring: Scoring, options: Options): Readonly<Record<string, number | null>>;
  /** The loss that a model of this kind is trained by: minus the sum of coefficient * score over all batches. */
  supervisedTerms?(examples: readonly SupervisedExample[], options: Options, layout: SupervisedLayout): Batch[];
}

/** Ends a rollout whose model gave numbers that are not finite. @throws UserError */
export function overflowed(what: string, position: number): never {
  fail(`The model gave a non-finite ${what} at response position ${position}`, {
    hint: "Its weights or activations overflowed: go back to an earlier checkpoint, or lower the learning rate.",
  });
}

/** A refusal with its reason and advice. */
export interface Refusal {
  readonly reason: string;
  readonly hint: string;
}

const SCORINGS = {
  steps: "stepTerms",
  bound: "boundTerms",
  masks: "boundTerms",
  text: "textTerms",
  supervised: "supervisedTerms",
} as const;

/** Says why trajectories of a sampler cannot be scored in a way, and where it knows what to do; undefined where they can. */
export function refusalOf(
  sampler: Sampler,
  scoring: Scoring,
  options: SamplerOptions,
): { readonly reason: string; readonly hint?: string } | undefined {
  if (sampler[SCORINGS[scoring]] === undefined) return { reason: `its sampler has no ${SCORED[scoring]}` };
  const refused = sampler.refuses?.(scoring, options);
  return typeof refused === "string" ? { reason: refused } : refused;
}

const SCORED: Readonly<Record<Scoring, string>> = {
  steps: "log-probabilities of its steps",
  bound: "bound of a response's log-probability",
  masks: "log-probabilities of masked tokens",
  text: "log-probabilities of a text read from left to right",
  supervised: "supervised loss",
};

/** Of a policy that samples: below it the rounding of float32 logits is a large part of a log-probability. */
export const MIN_TEMPERATURE = 0.01;

/** The temperature of samplers that can also be greedy. */
export const temperatureOption = z
  .number()
  .refine((tau) => tau === 0 || tau >= MIN_TEMPERATURE, `expected 0 or at least ${MIN_TEMPERATURE}`)
  .default(1)
  .describe("softmax temperature of sampling and scoring; 0 is greedy");

/** The softmax temperature at which a policy's log-probabilities are taken: greedy decoding reports those at 1. */
export function scoringTemperature(temperature: number): number {
  return temperature === 0 ? 1 : temperature;
}

/** Largest float32 below 1: a uniform that rounds to 1 would fall off the end of the inverse CDF. */
const BELOW_ONE = 1 - 2 ** -24;

/** Noise for one row, in [0, 1) as float32. */
export function rowNoise(rng: Rng): number {
  return Math.min(rng.uniform(), BELOW_ONE);
}
