import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../src/core/files.js";
import type { ModelConfig } from "../../src/nn/config.js";
import type { Tensor } from "../../src/onnx/types.js";
import { writeSafetensors } from "../../src/weights/safetensors.js";
import { freshWeights } from "./micro-model.js";

/** Sizes of a Qwen3 whose projections can all be stored in 4 bits: rows of 64 and 128. */
const SIZES = {
  vocab_size: 342,
  hidden_size: 64,
  intermediate_size: 128,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
  rms_norm_eps: 1e-6,
  tie_word_embeddings: false,
} as const;

/** Writes a Hugging Face checkpoint of a ReFusion (Qwen3 blocks): random weights in shards, a byte-level BPE. */
export async function randomCheckpoint(dir: string, seed = 0): Promise<{ shards: string[]; weights: number }> {
  mkdirSync(dir, { recursive: true });
  const golden = join(packageRoot(), "test", "golden", "checkpoint", "qwen3");
  for (const file of ["vocab.json", "merges.txt", "added_tokens.json"]) cpSync(join(golden, file), join(dir, file));
  const config = {
    ...SIZES,
    architecture: "refusion",
    attention: "causal",
    rope_theta: 10000,
    ...{ mask_token_id: 1, eos_token_id: 0, pad_token_id: 0 },
  } satisfies ModelConfig;
  const drawn = [...(await freshWeights(config, seed))];
  // three shards, so that a layer can span two of them, as in a real checkpoint
  const count = 3;
  const shards = Array.from({ length: count }, (_, i) => `model-0000${i + 1}-of-0000${count}.safetensors`);
  const map: Record<string, string> = {};
  for (const [i, shard] of shards.entries()) {
    const part = drawn.slice(Math.ceil((drawn.length * i) / count), Math.ceil((drawn.length * (i + 1)) / count));
    for (const [name] of part) map[name] = shard;
    writeSafetensors(join(dir, shard), new Map<string, Tensor>(part), { format: "pt" });
  }
  writeFileSync(join(dir, "model.safetensors.index.json"), JSON.stringify({ metadata: {}, weight_map: map }));
  writeFileSync(
    join(dir, "config.json"),
    JSON.stringify({
      ...{ architectures: ["ReFusionForCausalLM"], model_type: "refusion", hidden_act: "silu", attention_bias: false },
      ...{ ...SIZES, rope_theta: 10000, torch_dtype: "float32" },
    }),
  );
  return { shards, weights: drawn.length };
}
