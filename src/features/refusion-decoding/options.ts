import type { CacheUse, SamplerOptions } from "../../diffusion/sampler.js";

/** Options of the sampler `refusion`. */
export interface RefusionOptions extends SamplerOptions {
  /** k: positions a slot. */
  readonly slotSize: number;
  /** Parts of the canvas that are finished one after the other; L is a multiple of slotSize * blocks. */
  readonly blocks: number;
  /** tau_slot: slots whose first drafted token is more probable are decoded together. */
  readonly slotThreshold: number;
  /** tau_token: a drafted token stays where it is more probable, read from left to right. */
  readonly tokenThreshold: number;
  /** Keys and values of the prompt and of committed tokens are used again, where the model's graph can keep them. */
  readonly kvCache: CacheUse;
}

/** Gives the shapes of a search's forwards. */
export function refusionShapes({ promptLength, responseLength: rows }: RefusionOptions) {
  const length = promptLength + rows;
  // one slot at a time and one token a verification: a plan and a check, then a draft and a check for k - 1 tokens
  const steps = 2 * rows;
  return { length, dims: (batch: number) => ({ B: batch, N: length }), rows, steps };
}
