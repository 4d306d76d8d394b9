import type { CacheUse, SamplerOptions } from "../../diffusion/sampler.js";

/** Options of the sampler `refusion`. */
export interface RefusionOptions extends SamplerOptions {
  /** k: positions per slot. */
  readonly slotSize: number;
  /** Number of parts of the canvas, finished one after the other; L is a multiple of slotSize * blocks. */
  readonly blocks: number;
  /** tau_slot: slots whose first drafted token has a higher probability are decoded together. */
  readonly slotThreshold: number;
  /** tau_token: drafted tokens of higher probability are accepted, from left to right. */
  readonly tokenThreshold: number;
  /** Use of a cache of keys and values for prompt and committed tokens, if the model's graph supports it. */
  readonly kvCache: CacheUse;
}

/** Computes the shapes of a search's forward passes. */
export function refusionShapes({ promptLength, responseLength: rows }: RefusionOptions) {
  const length = promptLength + rows;
  // worst case of one slot at a time, one token a verification: plan and check, then draft and check k - 1 times
  const steps = 2 * rows;
  return { length, dims: (batch: number) => ({ B: batch, N: length }), rows, steps };
}
