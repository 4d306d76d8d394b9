import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../core/errors.js";
import { readJson } from "../core/files.js";
import { readTokenizerConfig, tokenizerJson } from "../text/tokenizer-files.js";
import { openCheckpoint } from "../weights/checkpoint.js";
import { downloadFromHub, HUB_PREFIX, type HubOptions, parseHubSource } from "../weights/hub.js";
import type { Checkpoint } from "./checkpoint.js";
import type { Json } from "./families.js";
import { openGgufCheckpoint } from "./gguf-checkpoint.js";

/**
 * Opens a checkpoint: a directory, a GGUF file, or `hf:org/name[@revision][:file.gguf]`, which is downloaded.
 * @throws UserError naming what is missing or broken.
 */
export async function openSource(source: string, options: HubOptions = {}): Promise<Checkpoint> {
  if (source.startsWith(HUB_PREFIX)) return openSource(await downloadFromHub(parseHubSource(source), options));
  if (!existsSync(source)) {
    throw new UserError(`There is no checkpoint ${source}.`, {
      hint: "give the directory of a Hugging Face checkpoint or of a model, a GGUF file, or hf:org/name",
    });
  }
  return statSync(source).isDirectory() ? openFolder(source) : openGgufCheckpoint(source);
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
  if (typeof json !== "object" || json === null) throw new UserError(`${path} is not an object.`);
  return json as Json;
}
