import type { CacheUse, SamplerOptions, SamplerShapes } from "../../sampler.js";
import { revealSchedule } from "./slots.js";

/** Ranking of slots. */
export const SLOT_ORDERS = ["confidence", "margin", "entropy", "random", "left-to-right", "blanks"] as const;
export type SlotOrder = (typeof SLOT_ORDERS)[number];
/** A slot's rank: that of its first position, or the mean over its positions. */
export type SlotScore = "first" | "mean";

/**
 * Ways to draw a slot's tokens: each from its own mask, or the first from its mask and the others each from the one
 * before. With `single-mask` that one mask stands for the slot and sees no other slot's, so a round reads the masks of
 * the slots that it may choose and no more; with `autoregressive` a slot has a mask a token, seen by those behind.
 */
export const SLOT_FILLS = ["parallel", "autoregressive", "single-mask"] as const;
export type SlotFill = (typeof SLOT_FILLS)[number];
/** The fill that a trajectory records; absent: `parallel`. */
export type SerialFill = Exclude<SlotFill, "parallel">;

/** Tells whether the tokens of a slot are drawn one after the other. */
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
export function hasMask({ slotFill, slotSize }: Slots, cell: number): boolean {
  return slotFill !== "single-mask" || cell % slotSize === 0;
}

/** Options of the sampler `unmask`. */
export interface UnmaskOptions extends SamplerOptions {
  /** T: rounds of unmasking. */
  readonly rounds: number;
  /** k: positions a slot; rooms are multiples of it, and L without a template. */
  readonly slotSize: number;
  readonly order: SlotOrder;
  readonly slotScore: SlotScore;
  readonly slotFill: SlotFill;
  /** Canvas positions a token of the prompt; null: always all of the canvas. */
  readonly canvasPerPrompt: number | null;
  /** Keys and values of the prompt and of committed tokens are used again, where the model's graph can keep them. */
  readonly kvCache: CacheUse;
}

/** Gives the shapes of a rollout's forwards: the canvas's rows, as many steps as rounds. */
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
