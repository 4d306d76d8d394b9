import type { ZodObject } from "zod";
import type { Rng } from "../core/rng.js";
import type { Emitter } from "../onnx/emit.js";
import type { Tensor, Value } from "../onnx/types.js";
import type { BoundLayout, LayoutSizes, StepLayout, SupervisedLayout } from "./layouts.js";
import type { NewTokens } from "./prefix-cache.js";
import type { ScoreHead } from "./score-head.js";
import type { SupervisedExample } from "./supervised.js";
import type { Conditions, Features, TermBatch } from "./terms.js";
import type { TokenIds } from "./tokens.js";
import type { Trajectory } from "./trajectory.js";

/** What a sampler must know of its model. */
export interface SampledModel {
  readonly tokens: TokenIds;
  /** Vocabulary entries. */
  readonly vocabulary: number;
  /** Whether a token sees what lies behind it in the buffer. */
  readonly attention: "causal" | "bidirectional";
}

/** What every sampler's options hold. */
export interface SamplerOptions {
  /** L: positions of the response canvas. */
  readonly responseLength: number;
  /** Longest prompt in tokens. */
  readonly promptLength: number;
  /** tau; 0 is greedy. */
  readonly temperature: number;
  readonly model: SampledModel;
}

/**
 * One round of a batch of rollouts: B buffers of N tokens and R rows of interest. B, N and R depend on the
 * configuration only, not on the state of the rollouts.
 */
export interface RoundInput {
  /** B */
  readonly batch: number;
  /** N */
  readonly length: number;
  /** [B*N] */
  readonly inputIds: BigInt64Array;
  /** [B*N] original positions, not buffer indices. */
  readonly positionIds: BigInt64Array;
  /** [B*N*N] additive, query-major. */
  readonly attentionBias: Float32Array;
  readonly conditions: Conditions;
  /** [R] flat index b*N+n; an unused row is 0 and what is said of it is ignored. */
  readonly rows: BigInt64Array;
  /** What the sampler's {@link RoundHead} reads of each row. */
  readonly features: Features;
  /** [R] noise in [0, 1), strictly below 1 in float32. */
  readonly uniform: Float32Array;
  /** Positive (1 for greedy decoding). */
  readonly temperature: number;
}

/** The network behind a sampler; `Round` is what the sampler's {@link RoundHead} says of the rows. */
export interface RoundModel<Round> {
  forwardRound(input: RoundInput): Promise<Round>;
  /**
   * Rounds that compute only what is new, with an empty store of keys and values of their own; undefined where the
   * model's graph cannot keep any, and on `auto` where keeping them may cost more than computing them.
   */
  cachedRounds?(use: true | "auto"): Promise<CachedRounds<Round> | undefined>;
}

/** Whether keys and values are used again: always, never, or where they stay in the memory that computes them. */
export type CacheUse = boolean | "auto";

/** A round of new tokens behind those that the rounds before have read; rows are indices b*N+n of the new ones. */
export type CachedRoundInput = NewTokens & Pick<RoundInput, "rows" | "features" | "uniform" | "temperature">;

/** Rounds that build on each other. */
export interface CachedRounds<Round> {
  forwardRound(input: CachedRoundInput): Promise<Round>;
  /** Frees the keys and values. Never fails. */
  close(): void;
}

/** What a rollout draws from the logits of its rows, on the graph. */
export interface RoundHead<Round> {
  /** Inputs [R] of its own. */
  readonly features: Readonly<Record<string, "float32" | "int64">>;
  /** Declares the graph's outputs from logits [R, V] and noise [R]. */
  emit(
    e: Emitter,
    logits: Value,
    inputs: {
      readonly inverseTemperature: Value;
      readonly uniform: Value;
      readonly features: Readonly<Record<string, Value>>;
    },
    tokens: TokenIds,
  ): void;
  read(outputs: Readonly<Record<string, Tensor>>): Round;
}

/** What a trajectory is scored by: its own steps, a likelihood bound of its response, or the response as plain text. */
export type Scoring = "steps" | "bound" | "text" | "supervised";

/** Sizes that follow from a sampler's options. */
export interface SamplerShapes {
  /** N of a rollout's buffer. */
  readonly length: number;
  /** Rows a rollout gathers in one round. */
  readonly rows: number;
  /** Most steps of a trajectory. */
  readonly steps: number;
}

/** When a token of a response got its final value. */
export interface Reveal {
  readonly position: number;
  readonly token: number;
  /** Step of the trajectory, from 0. */
  readonly step: number;
  /** Natural logarithm of the probability that it was sampled with, where it was sampled. */
  readonly logProb: number | undefined;
}

/**
 * How a policy samples, what it records and how the record is scored again: the three must agree, so one object owns
 * them, with the loss that a model of its kind is trained by. Every file of `samplers/` exports one as `sampler`.
 */
export interface Sampler<
  Config = unknown,
  Options extends SamplerOptions = SamplerOptions,
  T extends Trajectory = Trajectory,
  Round = unknown,
> {
  /** The sampler's part of a YAML configuration, with defaults. */
  readonly schema: ZodObject;
  /** Inputs [B] besides the contract's that it gives to the model's graph. */
  readonly conditions: readonly string[];
  readonly roundHead: RoundHead<Round>;
  /** True where the policy draws tokens behind EOS too, so that its steps must score them; absent: it never does. */
  readonly drawsBehindEos?: boolean;
  /** Every head that its layouts may name. */
  readonly scoreHeads: readonly ScoreHead[];
  /** @throws UserError where the model is of a kind that it cannot sample. */
  options(config: Config, model: SampledModel): Options;
  shapes(options: Options): SamplerShapes;
  /** The same policy on a canvas of about `positions` tokens in at most `steps` steps: what proofs can afford. */
  shrink(options: Options, positions: number, steps: number): Options;
  /** Why trajectories of this policy cannot be scored in a way, or undefined where they can. */
  refuses(scoring: Scoring, options: Options): string | undefined;
  /** Whether rollouts use {@link RoundModel.cachedRounds} where the model has them; absent: never. */
  caches?(options: Options): CacheUse;
  /**
   * @param prompts token ids, one list a rollout.
   * @param rngs one stream a rollout, so that batching does not change the noise.
   * @param batchSize B of every forward: prompts run in chunks of it, the last one padded. Default: all at once.
   */
  rollout(
    model: RoundModel<Round>,
    prompts: readonly (readonly number[])[],
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
  reveals(trajectory: T): Reveal[];
  /** The log-probabilities of the steps as sampled, with the recorded values. */
  stepTerms(trajectories: readonly T[], options: Options, layout: StepLayout): TermBatch;
  /** A bound of log p(response | prompt): the same draws of `rng` give the same terms for every policy. */
  boundTerms(trajectories: readonly T[], options: Options, layout: BoundLayout): TermBatch;
  /** log p of the response read from left to right. */
  textTerms(trajectories: readonly T[], options: Options, layout: LayoutSizes): TermBatch;
  /** The loss that a model of this kind is trained by: minus the sum of coefficient * score over all batches. */
  supervisedTerms(examples: readonly SupervisedExample[], options: Options, layout: SupervisedLayout): TermBatch[];
}

/** Of a policy that samples: below it the rounding of float32 logits is a large part of a log-probability. */
export const MIN_TEMPERATURE = 0.01;

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
