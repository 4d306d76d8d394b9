import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../src/core/files.js";

/** Copies a tiny model whose mask has another name, as in an exported causal language model. @returns its folder. */
export function causalModel(dir: string): string {
  const model = join(dir, "causal");
  cpSync(join(packageRoot(), "models", "tiny-refusion"), model, { recursive: true });
  const tokenizer = join(model, "tokenizer.json");
  writeFileSync(tokenizer, readFileSync(tokenizer, "utf8").replaceAll("<|mask|>", "<reponame>"));
  return model;
}
