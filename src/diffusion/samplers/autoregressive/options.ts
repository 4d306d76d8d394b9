import type { CacheUse, SamplerOptions, SamplerShapes } from "../../sampler.js";

/** Options of the sampler `autoregressive`. */
export interface AutoregressiveOptions extends SamplerOptions {
  /** Keys and values of what has been read are used again, where the model's graph can keep them. */
  readonly kvCache: CacheUse;
}

/** Gives the shapes of a rollout's forwards: one row a sequence, as many steps as tokens. */
export function autoregressiveShapes({
  promptLength,
  responseLength,
}: AutoregressiveOptions): SamplerShapes & { readonly length: number; readonly rows: number } {
  const length = promptLength + responseLength;
  return { length, dims: (batch) => ({ B: batch, N: length }), rows: 1, steps: responseLength };
}
