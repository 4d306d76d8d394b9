import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../core/errors.js";
import { sha256File, writeAtomic } from "../core/files.js";
import { GraphBuilder } from "../onnx/graph.js";
import { type RawModel, readModelFile, writeModelFile } from "../onnx/proto.js";
import type { Tensor } from "../onnx/types.js";
import { openSafetensors, writeSafetensors } from "../text/safetensors.js";
import { Tokenizer } from "../text/tokenizer.js";
import { architectureOf } from "./architecture.js";
import { type ModelConfig, readModelConfig } from "./config.js";

export const WEIGHTS_FILE = "model.safetensors";

/** A model directory, opened (docs/model.md). The weights stay in their file. */
export interface Model {
  readonly dir: string;
  readonly config: ModelConfig;
  readonly tokenizer: Tokenizer;
  readonly graph: RawModel;
}

/** Opens and cross-checks a model directory. Errors name the file and what it should hold. */
export async function loadModel(dir: string): Promise<Model> {
  if (!existsSync(dir))
    throw new UserError(`There is no model directory ${dir}.`, { hint: "Shipped models: models/tiny-refusion." });
  for (const file of ["config.json", "tokenizer.json", "model.onnx"]) {
    if (!existsSync(join(dir, file))) {
      throw new UserError(`The model directory ${dir} lacks ${file}.`, {
        hint: "A model directory holds config.json, tokenizer.json and model.onnx with its weights.",
      });
    }
  }
  const config = readModelConfig(dir);
  const tokenizer = Tokenizer.load(dir);
  if (tokenizer.vocabSize > config.vocab_size) {
    throw new UserError(
      `The tokenizer of ${dir} has ${tokenizer.vocabSize} tokens, its config.json only vocab_size ${config.vocab_size}.`,
      {
        hint: "Use the tokenizer.json that belongs to this model.",
      },
    );
  }
  for (const key of ["mask_token_id", "eos_token_id", "pad_token_id"] as const) {
    if (config[key] >= config.vocab_size)
      throw new UserError(
        `${join(dir, "config.json")}: ${key} ${config[key]} is outside the vocabulary of ${config.vocab_size}.`,
      );
  }
  const graph = await readModelFile(join(dir, "model.onnx"));
  const names = graph.inputs.map((i) => i.name);
  for (const input of ["input_ids", "position_ids", "attention_bias"]) {
    if (!names.includes(input)) {
      throw new UserError(`${join(dir, "model.onnx")} has no input ${input} (it has ${names.join(", ")}).`, {
        hint: "The unmask sampler moves committed tokens in front of the masks, which needs explicit positions and an additive attention bias.",
      });
    }
  }
  return { dir, config, tokenizer, graph };
}

/** Writes a model directory: weights as safetensors, and a graph that points into that very file. */
export async function saveModel(
  dir: string,
  config: ModelConfig,
  weights: ReadonlyMap<string, Tensor>,
  tokenizerJson: string,
): Promise<void> {
  await mkdir(dir, { recursive: true });
  const path = join(dir, WEIGHTS_FILE);
  await writeSafetensors(path, weights, { format: "pt" });
  const entries = openSafetensors(path).tensors;
  const architecture = await architectureOf(config);
  const g = new GraphBuilder(config.architecture);
  const declared = new Map<string, ReturnType<GraphBuilder["initializer"]>>();
  architecture.build(g, config, (name, shape) => {
    const known = declared.get(name);
    if (known !== undefined) return known;
    const entry = entries.get(name);
    if (entry === undefined) throw new UserError(`${path} lacks the weight ${name}.`);
    if (entry.shape.join() !== shape.join()) {
      throw new UserError(
        `${path}: ${name} should have the shape [${shape.join(", ")}], got [${entry.shape.join(", ")}].`,
      );
    }
    const value = g.initializer(name, entry.dtype, shape, {
      file: WEIGHTS_FILE,
      offset: entry.offset,
      length: entry.length,
    });
    declared.set(name, value);
    return value;
  });
  await writeModelFile(join(dir, "model.onnx"), g.build());
  await writeAtomic(join(dir, "config.json"), `${JSON.stringify(config, null, 2)}\n`);
  await writeAtomic(join(dir, "tokenizer.json"), tokenizerJson);
}

/** A hash of everything in a model directory that decides its output. */
export async function modelHash(dir: string): Promise<string> {
  const files = ["config.json", "tokenizer.json", "model.onnx", WEIGHTS_FILE].filter((f) => existsSync(join(dir, f)));
  const hashes = await Promise.all(files.map((f) => sha256File(join(dir, f))));
  return hashes.join("").replace(/(.{8}).{56}/g, "$1");
}
