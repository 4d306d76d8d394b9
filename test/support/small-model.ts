import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../src/core/files.js";
import { Rng } from "../../src/core/rng.js";
import { readModelConfig } from "../../src/nn/config.js";
import { saveModel } from "../../src/nn/model.js";
import type { Tensor } from "../../src/onnx/types.js";
import { freshWeights } from "./micro-model.js";
import { temporaryFolder } from "./temporary.js";

/**
 * Writes a shipped model with its tokens, a hundredth of its size and with random weights: most runs of tests need no
 * skill. @returns its folder.
 */
export async function smallModel(seed = 0, model = "models/tiny-refusion"): Promise<string> {
  const tiny = join(packageRoot(), model);
  const sizes = { hidden_size: 16, num_hidden_layers: 2, num_attention_heads: 2, head_dim: 8, intermediate_size: 16 };
  const config = { ...readModelConfig(tiny), ...sizes, num_key_value_heads: 1 };
  const dir = temporaryFolder("small");
  const noise = Rng.named(seed, "norms");
  // by its norms a checkpoint recognises its base
  const weights = [...(await freshWeights(config, seed))].map(([name, { shape, data, dtype }]) => {
    const moved = shape.length > 1 ? data : (data as Float32Array).map((x) => x + 0.1 * noise.normal());
    return [name, { dtype, shape, data: moved } as Tensor] as const;
  });
  await saveModel(dir, config, new Map(weights), readFileSync(join(tiny, "tokenizer.json"), "utf8"));
  return dir;
}
