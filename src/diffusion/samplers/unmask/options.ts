import type { CacheUse, SamplerOptions, SamplerShapes } from "../../sampler.js";
import { revealSchedule } from "./slots.js";

/** Ranking of slots, by their first position. */
export const SLOT_ORDERS = ["confidence", "margin", "entropy", "random", "left-to-right", "blanks"] as const;
export type SlotOrder = (typeof SLOT_ORDERS)[number];

/**
 * Ways to draw a slot's tokens: each from its own mask, or the first from its mask and each later one from its
 * predecessor. With `single-mask` that one mask stands for the slot and sees no other slot's, so that a round reads
 * only the masks that it may choose; with `autoregressive` a slot has one mask per token, seen by the later ones. With
 * `next-token` there are no masks: the first token too is drawn from its predecessor (next-token.ts).
 */
export const SLOT_FILLS = ["parallel", "autoregressive", "single-mask", "next-token"] as const;
export type SlotFill = (typeof SLOT_FILLS)[number];
/** The fill recorded in a trajectory; absent: `parallel`. */
export type SerialFill = Exclude<SlotFill, "parallel">;

/** Tells whether the tokens of a slot are drawn in sequence. */
export function isSerial(slotFill: SlotFill | undefined): slotFill is SerialFill {
  return slotFill !== undefined && slotFill !== "parallel";
}

/** The size and the fill of slots. */
export interface Slots {
  readonly slotSize: number;
  /** Absent: `parallel`. */
  readonly slotFill?: SlotFill | undefined;
}

/** Tells whether an open cell has a mask in the context. */
export const hasMask = ({ slotFill, slotSize }: Slots, cell: number): boolean =>
  slotFill !== "single-mask" || cell % slotSize === 0;

/** Facts of an open slot before a round draws anything: the network's output at its first position. */
export interface SlotFacts {
  /** Largest and second largest probability, EOS included. */
  readonly top: number;
  readonly top2: number;
  /** Entropy in nats, EOS included. */
  readonly entropy: number;
  /** Place of the slot, from 0, and of the round. */
  readonly slot: number;
  readonly round: number;
}

/** Facts of a round before it draws anything. */
export interface RoundFacts {
  /** From 0. */
  readonly round: number;
  readonly rounds: number;
  /** Ranks of the open slots, the best first. */
  readonly ranks: readonly number[];
}

/** Options of the sampler `unmask`. */
export interface UnmaskOptions extends SamplerOptions {
  /** T: rounds of unmasking. */
  readonly rounds: number;
  /** k: positions per slot; rooms are multiples of it, and without a template L is too. */
  readonly slotSize: number;
  readonly order: SlotOrder;
  /** Ranks slots in place of `order`, -100 to 100; the best come first. Of samplers of one's own; a pure function. */
  readonly rank?: ((slot: SlotFacts) => number) | undefined;
  /** Number of slots that a round commits in place of the schedule, at least 1; the last round takes all. */
  readonly count?: ((round: RoundFacts) => number) | undefined;
  readonly slotFill: SlotFill;
  /** Canvas positions per prompt token; null: always the whole canvas. */
  readonly canvasPerPrompt: number | null;
  /** Most cells of a blank that a pass of `next-token` predicts: one, and others from guesses. Default: 1. */
  readonly speculate?: number | undefined;
  /** Reuses keys and values of the prompt and of committed tokens, where the model's graph can cache them. */
  readonly kvCache: CacheUse;
}

/** Returns the shapes of a rollout's forwards: one row per canvas position, as many steps as rounds. */
export function unmaskShapes(
  options: UnmaskOptions,
): SamplerShapes & { readonly length: number; readonly rows: number } {
  const length = options.promptLength + options.responseLength;
  return {
    length,
    dims: (batch) => ({ B: batch, N: length }),
    rows: options.responseLength,
    steps: revealSchedule(options.responseLength / options.slotSize, options.rounds).length,
  };
}
