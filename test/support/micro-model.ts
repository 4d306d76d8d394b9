import { Rng } from "../../src/core/rng.js";
import { architectureOf, initialise } from "../../src/nn/architecture.js";
import type { ModelConfig } from "../../src/nn/config.js";
import { saveModel } from "../../src/nn/model.js";
import type { Tensor } from "../../src/onnx/types.js";
import { temporaryFolder } from "./temporary.js";

/** A ReFusion config that runs in a millisecond. */
export const MICRO: ModelConfig = {
  architecture: "refusion",
  attention: "causal",
  vocab_size: 16,
  hidden_size: 8,
  mask_token_id: 13,
  eos_token_id: 14,
  pad_token_id: 15,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 4,
  intermediate_size: 12,
  rms_norm_eps: 1e-6,
  rope_theta: 10000,
  tie_word_embeddings: false,
};

/** Makes a tokenizer.json of one-letter tokens. */
export function letters(count: number): string {
  const vocab = Object.fromEntries(Array.from({ length: count }, (_, i) => [String.fromCharCode(97 + i), i]));
  return JSON.stringify({
    version: "1.0",
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: { type: "ByteLevel", add_prefix_space: false },
    post_processor: null,
    decoder: { type: "ByteLevel" },
    model: { type: "BPE", vocab, merges: [] },
  });
}

/** Draws weights of a config, larger than a trainer would, so that every part of the model affects the output. */
export async function freshWeights(config: ModelConfig = MICRO, seed = 0): Promise<Map<string, Tensor>> {
  const architecture = await architectureOf(config);
  const drawn = initialise(architecture.weights(config), Rng.named(seed, "weights"));
  return new Map(
    [...drawn].map(([name, { shape, data }]) => {
      const scaled = shape.length === 1 ? data : data.map((x) => x * 15);
      return [name, { dtype: "float32", shape, data: scaled } satisfies Tensor];
    }),
  );
}

/** Writes a micro model into a temporary folder. */
export async function microModel(config: ModelConfig = MICRO): Promise<string> {
  const dir = temporaryFolder("micro");
  await saveModel(dir, config, await freshWeights(config), letters(10));
  return dir;
}
