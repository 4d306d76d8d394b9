import type { CacheUse, SamplerOptions, SamplerShapes } from "../../sampler.js";

/** Options of the sampler `autoregressive`. */
export interface AutoregressiveOptions extends SamplerOptions {
  /** Keys and values of what has been read are used again, where the model's graph can keep them. */
  readonly kvCache: CacheUse;
}

export function autoregressiveShapes({ promptLength, responseLength }: AutoregressiveOptions): SamplerShapes {
  return { length: promptLength + responseLength, rows: 1, steps: responseLength };
}
