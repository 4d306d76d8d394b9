import type { SamplerOptions } from "../../diffusion/sampler.js";
import { bufferTerms, type ScoredBuffer, type SegmentInfo } from "../../diffusion/terms.js";
import type { Policy } from "../../engine/policy.js";

/** Terms of one scoring pass. */
const CHUNK = 512;

/** Computes log p [V] of every token at one row. @param length N, positions of the padded sequence. */
export async function vocabularyLogProbs(
  { engine, options, model }: Pick<Policy, "engine" | "model"> & { readonly options: SamplerOptions },
  {
    features,
    length,
    ...scored
  }: Omit<ScoredBuffer, "terms"> & {
    readonly features: Readonly<Record<string, number>>;
    readonly length: number;
  },
  row: number,
  by: Pick<SegmentInfo, "head" | "temperature">,
): Promise<Float64Array> {
  const { pad, eos: filler } = options.model.tokens;
  const out = new Float64Array(model.config.vocab_size);
  for (let start = 0; start < out.length; start += CHUNK) {
    const targets = Array.from({ length: Math.min(CHUNK, out.length - start) }, (_, i) => start + i);
    const terms = targets.map((target) => ({ row, target, coefficient: 0, segment: 0, features }));
    const sizes = { batch: 1, length, segments: 1 };
    const one = { owner: [0], tokens: new Float32Array(1), pad, filler };
    const { logProbs } = await engine.score(bufferTerms([{ ...scored, terms }], sizes, { ...one, ...by }), "policy");
    for (const target of targets) out[target] = logProbs[target - start] as number;
  }
  return out;
}
