import { type ZodObject, z } from "zod";
import { fail } from "../core/errors.js";
import type { Action, Observation, Spaces } from "../core/interaction.js";
import type { Rng } from "../core/rng.js";
import type { Emitter } from "../onnx/emit.js";
import type { InputSpecs, NamedTensors } from "../onnx/tensors.js";
import type { Tensor, Value } from "../onnx/types.js";
import type { Tokenizer } from "../text/tokenizer.js";
import type { SupervisedExample } from "./examples.js";
import type { Batch } from "./layout/batch.js";
import type { BoundLayout, LayoutSizes, Scoring, StepLayout, SupervisedLayout } from "./layout/scorings.js";
import type { ScoreHead } from "./score-head.js";
import type { ScoredBatch } from "./scored-tokens.js";
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
  /** epsilon: share of draws among options that take each as often; in training alone. Default: 0. */
  readonly explore?: number;
  /** Records the draft response after each step, for objectives that learn from drafts. */
  readonly recordDrafts?: boolean;
  readonly model: SampledModel;
}

/**
 * One round of a batch of rollouts. Shapes depend on the configuration only, not on the state of the rollouts, except
 * with cached keys and values.
 */
export interface RoundInput {
  /** Inputs of the model's graph by name; `rows` [R] int64: the rows that go through the head. */
  readonly inputs: NamedTensors;
  /** Inputs of the {@link RoundHead} by name. */
  readonly headInputs: NamedTensors;
  /** The tokens are those of the last round, so that their hidden states can be used again: only rows differ. */
  readonly again?: boolean;
  /** Rows are ranked, and nothing is drawn. */
  readonly ranks?: boolean;
}

/** Inputs of a head that draws from a vocabulary: noise [R] in [0, 1), strictly below 1 in float32, and 1 / tau. */
export const DRAW_INPUTS = {
  inverse_temperature: { dtype: "float32", shape: [] },
  uniform: { dtype: "float32", shape: ["R"] },
} as const satisfies InputSpecs;

/** The network behind a sampler; `Round` is the output type of the sampler's {@link RoundHead}. */
export interface RoundModel<Round> {
  forwardRound(input: RoundInput): Promise<Round>;
  /**
   * Opens rounds that compute only new tokens, with an empty cache of keys and values of their own. Returns undefined
   * where the model's graph cannot cache, and on `auto` where caching may cost more than computing.
   */
  cachedRounds?(use: true | "auto"): Promise<CachedRounds<Round> | undefined>;
}

/** The option `kv_cache` of samplers that reuse keys and values. */
export const cacheUse = z
  .union([z.boolean(), z.literal("auto")])
  .default("auto")
  .describe(
    "use keys and values of unchanged tokens again: the same responses, sooner; auto: not on a GPU by npm's binding",
  );
/** Use of cached keys and values: always, never, or (`auto`) where they stay in the computing device's memory. */
export type CacheUse = boolean | "auto";

/** Rounds with a shared cache. */
export interface CachedRounds<Round> {
  /** Keys of a page, where rounds may leave what is kept in place (attention/prefix-cache.ts). */
  readonly page?: number | undefined;
  /** Runs a round of new tokens after those that earlier rounds have read. */
  forwardRound(input: RoundInput): Promise<Round>;
  /** Frees the keys and values. Never fails. */
  close(): void;
}

/** A graph that draws tokens from the outputs of the model's graph. */
export interface RoundHead<Round, About = SampledModel> {
  /** Its own inputs; the symbol `R` is the number of rows. */
  readonly inputs: InputSpecs;
  /** Declares the graph's outputs from those of the model: `logits` [R, V]. */
  emit(
    e: Emitter,
    outputs: Readonly<Record<string, Value>>,
    inputs: Readonly<Record<string, Value>>,
    about: About,
  ): void;
  /** Declares those outputs alone by which rows are ranked; absent: nothing ranks rows. */
  emitRanking?: RoundHead<Round, About>["emit"];
  /** Outputs may be those of `emitRanking`. */
  read(outputs: Readonly<Record<string, Tensor>>): Round;
}

/**
 * Translates between a sampler and an environment: from an observation to a rollout's start, from a trajectory to an
 * action. Text samplers share one (text-policy.ts).
 */
export interface PolicyText<Start, T> {
  /** Begins a rollout. @throws UserError where the sampler cannot read this kind of observation. */
  begin(observation: Observation, tokenizer: Tokenizer | undefined, model: SampledModel): Start;
  action(trajectory: T, tokenizer: Tokenizer | undefined, model: SampledModel): Action;
  /** Returns the offsets of the response's tokens in the action's text, in characters; absent: it writes no text. */
  offsets?(trajectory: T, tokenizer: Tokenizer | undefined, model: SampledModel): readonly number[];
  /** Returns why the model cannot act in these spaces, and the next step; absent: it reads and writes texts. */
  refuses?(spaces: Spaces, model: SampledModel): Refusal | undefined;
  /** Makes an example from a demonstration. @throws UserError where it does not fit the options. */
  example(
    demonstration: { readonly observation: Observation; readonly action: Action },
    tokenizer: Tokenizer | undefined,
    options: SamplerOptions,
  ): SupervisedExample;
  /** Returns the size of a start, limited by `prompt_length`; absent where any size is accepted. */
  length?(start: Start): number;
  /** Returns the length of a start's canvas, limited by `response_length`; 0 where it has no template. */
  canvas?(start: Start, options: SamplerOptions): number;
  /** Returns the number of generated units: tokens. */
  units(trajectory: T): number;
  /** Returns named measures of a trajectory, which are averaged over a step. */
  metrics(trajectory: T, model: SampledModel): Readonly<Record<string, number>>;
}

/** Sizes that follow from a sampler's options. */
export interface SamplerShapes {
  /** Returns the dimensions of the model's graph in a round of `batch` rollouts, by symbol. */
  dims(batch: number): Readonly<Record<string, number>>;
  /** Rows per rollout in one round; undefined where the head reads all of the model's output. */
  readonly rows: number | undefined;
  /** Most steps of a trajectory. */
  readonly steps: number;
}

/** The step at which a token of a response got its final value. */
export interface Reveal {
  readonly position: number;
  readonly token: number;
  /** Step of the trajectory, from 0. */
  readonly step: number;
  /** Its log-probability in nats, where it was sampled. */
  readonly logProb: number | undefined;
}

/**
 * A policy's sampling, its record, and the scores of that record. The three must agree, so one object owns them, with
 * the supervised loss of its models. Every file of `samplers/` exports one as `sampler`. With the type parameters left
 * open, starts, options and trajectories may be used only with the sampler that made them.
 */
export interface Sampler<
  Config = unknown,
  Options extends SamplerOptions = SamplerOptions,
  T extends Trajectory = Trajectory,
  Round = unknown,
  Start = unknown,
> {
  readonly policy: PolicyText<Start, T>;
  /** The sampler's section of a YAML config, with defaults. */
  readonly schema: ZodObject;
  /** Inputs [B] that it gives to the model's graph in addition to the contract's. */
  readonly conditions: readonly string[];
  readonly roundHead: RoundHead<Round>;
  /** Every head that its layouts may name. */
  readonly scoreHeads: readonly ScoreHead[];
  /** Resolves the options. @throws UserError where it cannot sample a model of this kind. */
  options(config: Config, model: SampledModel): Options;
  shapes(options: Options): SamplerShapes;
  /** Returns the same policy on a canvas of about `positions` tokens in at most `steps` steps, for proofs. */
  shrink(options: Options, positions: number, steps: number): Options;
  /** Returns why a scoring does not work with these options; absent: all its scorings work. */
  refuses?(scoring: Scoring, options: Options): string | Refusal | undefined;
  /** Tells whether rollouts use {@link RoundModel.cachedRounds} where the model has them; absent: never. */
  caches?(options: Options): CacheUse;
  /**
   * @param starts one per rollout: token ids of its prompt.
   * @param rngs one stream per rollout, so that batching does not change the noise.
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
  /** Counts the steps of a trajectory that have a likelihood of their own. */
  steps(trajectory: T): number;
  /** Returns the tokens needed to score all steps; sequences of similar size share a micro-batch. */
  size(trajectory: T): number;
  /**
   * Returns the draft response after each step, as trajectories that `policy.action` reads: open positions hold the
   * step's draft tokens. Needs {@link SamplerOptions.recordDrafts}; absent where the sampler drafts nothing.
   */
  drafts?(trajectory: T, model: SampledModel): object[];
  /** Returns the step at which each token got its value; absent where there are no tokens. */
  reveals?(trajectory: T): Reveal[];
  /** Lays out the log-probabilities of the steps, with those recorded; absent: no objective can use steps. */
  stepTerms?(trajectories: readonly T[], options: Options, layout: StepLayout): Batch;
  /** Lays out a bound of log p(response | prompt): equal draws of `rng` give equal terms for every policy. */
  boundTerms?(trajectories: readonly T[], options: Options, layout: BoundLayout): Batch;
  /** Lays out log p of the response read from left to right. */
  textTerms?(trajectories: readonly T[], options: Options, layout: LayoutSizes): Batch;
  /** Returns named measures of a step's batches for monitoring; null where a measure has no meaning. */
  watch?(batches: readonly ScoredBatch[], scoring: Scoring, options: Options): Readonly<Record<string, number | null>>;
  /** Lays out the supervised loss of its models: minus the sum of coefficient * score over all batches. */
  supervisedTerms?(examples: readonly SupervisedExample[], options: Options, layout: SupervisedLayout): Batch[];
}

/** Ends a rollout whose model output is not finite. @throws UserError */
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

/** Returns why a sampler's trajectories cannot be scored so, with advice where it is known; undefined where they can. */
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

/** Least temperature of a policy that samples: below it, rounding of float32 logits dominates a log-probability. */
export const MIN_TEMPERATURE = 0.01;

/** The temperature of samplers that can also be greedy. */
export const temperatureOption = z
  .number()
  .refine((tau) => tau === 0 || tau >= MIN_TEMPERATURE, `expected 0 or at least ${MIN_TEMPERATURE}`)
  .default(1)
  .describe("softmax temperature of sampling and scoring; 0 is greedy");

/** Returns the softmax temperature of a policy's log-probabilities: greedy decoding reports them at 1. */
export const scoringTemperature = (temperature: number): number => (temperature === 0 ? 1 : temperature);

/** Largest float32 below 1: a uniform that rounds to 1 would fall off the end of the inverse CDF. */
const BELOW_ONE = 1 - 2 ** -24;

/** Noise for one row, in [0, 1) as float32. */
export const rowNoise = (rng: Rng): number => Math.min(rng.uniform(), BELOW_ONE);
