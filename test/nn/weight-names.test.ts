import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { packageRoot } from "../../src/core/files.js";
import { architectureOf } from "../../src/nn/architecture.js";
import { type ModelConfig, readModelConfig } from "../../src/nn/config.js";
import { isTarget } from "../../src/nn/lora.js";

const config = readModelConfig(join(packageRoot(), "models", "tiny-masked-lm"));
const untied: ModelConfig = { ...config, tie_word_embeddings: false };

for (const [name, of] of [
  ["Llama's", config],
  ["untied Llama's", untied],
  ["LLaDA's", { ...untied, weight_names: "llada" }],
] as const)
  test(`under ${name} names a matrix gets an adapter by default, or is a table that AdamW updates`, async () => {
    const architecture = await architectureOf(of);
    const { loraTargets, tables } = architecture.names(of);
    const matrices = [...architecture.weights(of)].flatMap(([weight, { shape }]) =>
      shape.length === 2 ? [weight] : [],
    );
    for (const weight of matrices) {
      const targeted = isTarget(weight.replace(/\.weight$/, ""), { rank: 1, alpha: 1, targets: loraTargets });
      const expected = tables.some((part) => weight.includes(part));
      assert.notEqual(targeted, expected, weight);
    }
  });
