import type { ZodType } from "zod";
import type { Rng } from "../core/rng.js";
import type { PackedBatch, PackOptions } from "./replay.js";
import type { Trajectory } from "./trajectory.js";

/** Special tokens. Mask and pad are never sampled. */
export interface TokenIds {
  readonly mask: number;
  readonly pad: number;
  readonly eos: number;
}

/**
 * What one forward returns of each of R rows, at the softmax temperature of the call, over the vocabulary without mask
 * and pad. Arrays `[R*2]` are row-major with two columns: 0 with EOS allowed, 1 with EOS forbidden (its logit blocked,
 * the rest renormalised).
 */
export interface RowStatistics {
  /** [R*2] sampled by inverse CDF from the row's own uniform. */
  readonly token: BigInt64Array | Int32Array;
  /** [R*2] log-probability of `token`, nats. */
  readonly logProb: Float32Array;
  /** [R*2] most probable token. */
  readonly argmax: BigInt64Array | Int32Array;
  /** [R*2] log-probability of `argmax`, nats. */
  readonly argmaxLogProb: Float32Array;
  /** [R] largest probability, EOS included. */
  readonly top: Float32Array;
  /** [R] second largest probability, EOS included. */
  readonly top2: Float32Array;
  /** [R] entropy in nats, EOS included. */
  readonly entropy: Float32Array;
  /** [R] 1 where EOS is the most probable token. */
  readonly eosIsArgmax: Uint8Array;
}

/**
 * One round of a batch of rollouts: B buffers of N tokens and R rows of interest. B, N and R depend on the
 * configuration only, not on the state of the rollouts. `attentionBias` is the same array in every round of a rollout
 * (only the tokens move), so it may be kept by identity and must not be transferred or changed.
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
  /** [R] flat index b*N+n; an unused row is 0 and its statistics are ignored. */
  readonly rows: BigInt64Array;
  /** [R] noise in [0, 1), strictly below 1 in float32. */
  readonly uniform: Float32Array;
  /** Positive (1 for greedy decoding). */
  readonly temperature: number;
}

/** The network behind a sampler. */
export interface RoundModel {
  forwardRound(input: RoundInput): Promise<RowStatistics>;
}

/** How slots are ranked. */
export type SlotOrder = "confidence" | "margin" | "entropy" | "random" | "left-to-right";
/** Whether a slot's rank is that of its first position or the mean over its positions. */
export type SlotScore = "first" | "mean";

/** Options of the sampler `unmask`. */
export interface UnmaskOptions {
  /** T: rounds of unmasking. */
  readonly rounds: number;
  /** k: positions a slot. */
  readonly slotSize: number;
  /** L: positions of the response canvas, a multiple of k. */
  readonly responseLength: number;
  /** Longest prompt in tokens. */
  readonly promptLength: number;
  /** tau; 0 is greedy. */
  readonly temperature: number;
  readonly order: SlotOrder;
  readonly slotScore: SlotScore;
  readonly tokens: TokenIds;
}

/**
 * How a policy samples, what it records and how the record is scored again: the three must agree, so one object owns
 * them. Every file of `samplers/` exports one as `sampler`.
 */
export interface Sampler<Config, Options> {
  /** The sampler's part of a YAML configuration, with defaults. */
  readonly schema: ZodType<Config>;
  options(config: Config, tokens: TokenIds): Options;
  /** Fixed sizes of its graphs. */
  shapes(options: Options): SamplerShapes;
  /**
   * @param prompts token ids, one list a rollout.
   * @param rngs one stream a rollout, so that batching does not change the noise.
   * @param batchSize B of every forward: prompts run in chunks of it, the last one padded. Default: all at once.
   */
  rollout(
    model: RoundModel,
    prompts: readonly (readonly number[])[],
    options: Options,
    rngs: readonly Rng[],
    batchSize?: number,
  ): Promise<Trajectory[]>;
  /** All rounds in one forward. */
  pack(trajectories: readonly Trajectory[], options: PackOptions): PackedBatch;
  /** One buffer a round, as sampled. */
  unpack(trajectory: Trajectory, options: PackOptions): PackedBatch;
}

/** Sizes that follow from a sampler's options. */
export interface SamplerShapes {
  /** N of a rollout's buffer. */
  readonly length: number;
  /** Rows a rollout gathers in one round. */
  readonly rows: number;
  /** Most rounds that reveal anything. */
  readonly rounds: number;
  /** Most tokens revealed in one round. */
  readonly reveals: number;
}

/** The softmax temperature at which a policy's log-probabilities are taken: greedy decoding reports those at 1. */
export function scoringTemperature(temperature: number): number {
  return temperature === 0 ? 1 : temperature;
}
