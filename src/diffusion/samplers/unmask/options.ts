import type { CacheUse, SamplerOptions, SamplerShapes } from "../../sampler.js";
import { revealSchedule } from "./slots.js";

/** Ranking of slots. */
export const SLOT_ORDERS = ["confidence", "margin", "entropy", "random", "left-to-right", "blanks"] as const;
export type SlotOrder = (typeof SLOT_ORDERS)[number];
/** A slot's rank: that of its first position, or the mean over its positions. */
export type SlotScore = "first" | "mean";

/**
 * How a slot's tokens are drawn: each from its own mask, or the first from its mask and the others each from the one
 * before. With `single-mask` a slot stands in the context as that one mask, with `autoregressive` as a mask a token.
 */
export const SLOT_FILLS = ["parallel", "autoregressive", "single-mask"] as const;
export type SlotFill = (typeof SLOT_FILLS)[number];
/** What a trajectory records of it; absent: `parallel`. */
export type SerialFill = Exclude<SlotFill, "parallel">;

/** Tells whether the tokens of a slot are drawn one after the other. */
export function isSerial(slotFill: SlotFill | undefined): slotFill is SerialFill {
  return slotFill !== undefined && slotFill !== "parallel";
}

/** Cells from one mask of the context to the next: open cells in between have none. */
export function maskStride({ slotFill, slotSize }: { slotFill?: SlotFill | undefined; slotSize: number }): number {
  return slotFill === "single-mask" ? slotSize : 1;
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
