import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../src/core/files.js";
import type { ModelConfig } from "../../src/nn/config.js";
import { letters } from "./micro-model.js";
import { temporaryFolder } from "./temporary.js";

/** Graphs of scripts/golden/imported.py, by the model's golden and the exporter that wrote the graph. */
export const EXPORTS = [
  "albert-dynamo",
  "opt-torchscript",
  "bert-torchscript",
  "bert-dynamo",
  "modernbert-dynamo",
  "qwen3-torchscript",
  "qwen3-dynamo",
  "nano-torchscript",
  "nano-dynamo",
  "recipe-docs",
] as const;

const CONFIG: ModelConfig = {
  architecture: "imported",
  attention: "bidirectional",
  vocab_size: 64,
  hidden_size: 16,
  mask_token_id: 62,
  eos_token_id: 61,
  pad_token_id: 63,
};

/** Makes a model directory from an exported graph, as a user would. */
export function importedModel(name: (typeof EXPORTS)[number], changes: Partial<ModelConfig> = {}): string {
  const dir = temporaryFolder("imported");
  cpSync(join(packageRoot(), "test", "golden", "imported", name), dir, { recursive: true });
  const attention = /^(qwen3|opt)/.test(name) ? "causal" : "bidirectional";
  writeFileSync(join(dir, "config.json"), JSON.stringify({ ...CONFIG, attention, ...changes }));
  writeFileSync(join(dir, "tokenizer.json"), letters(10));
  return dir;
}
