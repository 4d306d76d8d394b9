import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { fail } from "../../core/errors.js";
import { readJson } from "../../core/files.js";
import { loadFolder } from "../../core/registry.js";
import { readTokenizerConfig, tokenizerJson } from "../../text/tokenizer-files.js";
import { openCheckpoint } from "../../weights/checkpoint.js";
import type { Checkpoint, CheckpointSource, Json, SourceOptions } from "../../weights/checkpoint-source.js";

/**
 * Opens a checkpoint: a directory, or what an entry of checkpoints/ takes (a GGUF file, `hf:org/name`).
 * @throws UserError naming what is missing or broken.
 */
export async function openSource(source: string, options: SourceOptions = {}): Promise<Checkpoint> {
  const kinds = await loadFolder<CheckpointSource>(new URL("./checkpoints/", import.meta.url), "checkpoints");
  const kind = [...kinds.values()].find((entry) => entry.takes(source));
  if (kind !== undefined) {
    const opened = await kind.open(source, options);
    return typeof opened === "string" ? openSource(opened, options) : opened;
  }
  if (existsSync(source) && statSync(source).isDirectory()) return openFolder(source);
  fail(`There is no checkpoint ${source}.`, {
    hint: "give the directory of a Hugging Face checkpoint or of a model, a GGUF file, or hf:org/name",
  });
}

function openFolder(dir: string): Checkpoint {
  const where = join(dir, "config.json");
  const generation = join(dir, "generation_config.json");
  return {
    // what is wrong with the tokenizer is said before the rest
    tokenizer: tokenizerJson(dir),
    where,
    config: objectOf(where),
    generationConfig: existsSync(generation) ? objectOf(generation) : {},
    tokenizerConfig: readTokenizerConfig(dir),
    weights: openCheckpoint(dir),
  };
}

function objectOf(path: string): Json {
  const json = readJson(path);
  if (typeof json !== "object" || json === null) fail(`${path} is not an object.`);
  return json as Json;
}
