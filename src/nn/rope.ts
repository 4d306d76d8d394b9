import { z } from "zod";

const factor = z.number().min(1);
const positive = z.number().positive();
const length = z.int().positive();

/** Stretching of rotary angles for texts longer than the model was first trained on: transformers' `rope_scaling`. */
export const ropeScalingSchema = z.discriminatedUnion("rope_type", [
  z.strictObject({ rope_type: z.literal("linear"), factor }),
  z.strictObject({
    rope_type: z.literal("llama3"),
    factor,
    low_freq_factor: positive,
    high_freq_factor: positive,
    original_max_position_embeddings: length,
  }),
  z.strictObject({
    rope_type: z.literal("yarn"),
    factor,
    original_max_position_embeddings: length,
    beta_fast: positive.default(32),
    beta_slow: positive.default(1),
    attention_factor: positive.optional(),
    mscale: positive.optional(),
    mscale_all_dim: positive.optional(),
    truncate: z.boolean().default(true),
  }),
]);
export type RopeScaling = z.output<typeof ropeScalingSchema>;

/**
 * Returns the angles per position [headDim / 2], and the factor of their cosines and sines.
 * @param theta base of the frequencies theta^(-2 i / headDim).
 */
export function ropeFrequencies(
  headDim: number,
  theta: number,
  scaling?: RopeScaling,
): { readonly frequencies: number[]; readonly scale: number } {
  const plain = Array.from({ length: headDim / 2 }, (_, i) => theta ** ((-2 * i) / headDim));
  switch (scaling?.rope_type) {
    case undefined:
      return { frequencies: plain, scale: 1 };
    case "linear":
      return { frequencies: plain.map((frequency) => frequency / scaling.factor), scale: 1 };
    case "llama3": {
      const { low_freq_factor: low, high_freq_factor: high, original_max_position_embeddings: trained } = scaling;
      // turns within the trained length: few are stretched, many are kept
      const kept = (frequency: number): number =>
        Math.min(1, Math.max(0, ((trained * frequency) / (2 * Math.PI) - low) / (high - low)));
      return { frequencies: plain.map((f) => f * (kept(f) + (1 - kept(f)) / scaling.factor)), scale: 1 };
    }
    case "yarn":
      return yarn(headDim, theta, plain, scaling);
  }
}

/** YaRN (Peng et al. 2023): low frequencies are stretched, high ones kept, and attention is sharpened. */
function yarn(
  headDim: number,
  theta: number,
  plain: readonly number[],
  scaling: Extract<RopeScaling, { rope_type: "yarn" }>,
): { frequencies: number[]; scale: number } {
  const { factor: by, original_max_position_embeddings: trained, mscale, mscale_all_dim: all } = scaling;
  const dimension = (turns: number): number =>
    (headDim * Math.log(trained / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
  const [first, last] = [dimension(scaling.beta_fast), dimension(scaling.beta_slow)];
  const low = Math.max(0, scaling.truncate ? Math.floor(first) : first);
  const high = Math.min(headDim - 1, scaling.truncate ? Math.ceil(last) : last);
  const width = high === low ? 0.001 : high - low;
  const frequencies = plain.map((frequency, i) => {
    const stretched = Math.min(1, Math.max(0, (i - low) / width));
    return frequency * (1 - stretched + stretched / by);
  });
  const sharpened = (weight = 1): number => 0.1 * weight * Math.log(by) + 1;
  const usual = mscale !== undefined && all !== undefined ? sharpened(mscale) / sharpened(all) : sharpened();
  return { frequencies, scale: scaling.attention_factor ?? usual };
}
