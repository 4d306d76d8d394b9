import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { KeysOf } from "../attention/keys.js";
import { fromOutside } from "../core/boundary.js";
import { fail, messageOf, UserError } from "../core/errors.js";
import { sha256File, writeAtomic, writeDirectory } from "../core/files.js";
import { ownFrame } from "../core/own-module.js";
import { decodeModel, encodeModel, readModelFile, writeModelFile } from "../onnx/format/proto.js";
import type { RawModel } from "../onnx/format/raw-model.js";
import type { GraphBuilder } from "../onnx/graph.js";
import { formatShape } from "../onnx/shapes.js";
import { type ExternalData, type Graph, isExternal, type Tensor, type Value } from "../onnx/types.js";
import { Tokenizer } from "../text/tokenizer.js";
import { readNf4State } from "../weights/model-weights.js";
import { openSafetensors, type SafetensorsHeader, writeSafetensors } from "../weights/safetensors.js";
import { architectureOf, LLAMA_NAMES, type WeightDeclarer, type WeightNames } from "./architecture.js";
import { eosIds, type ModelConfig, readModelConfig } from "./config.js";
import { checkOpset, isImported, normaliseImported } from "./imported.js";
import { PackedBuilder, type StoredWeight } from "./packed-builder.js";

export const WEIGHTS_FILE = "model.safetensors";

/** An open model directory (docs/model.md). The weights stay in their file. */
export interface Model {
  readonly dir: string;
  readonly config: ModelConfig;
  /** Undefined where the network reads no tokens (`reads_tokens: false` in config.json). */
  readonly tokenizer: Tokenizer | undefined;
  readonly graph: RawModel;
  readonly names: WeightNames;
  /**
   * The graph that this version builds from config.json, where it differs from model.onnx (engine/graph-check.ts
   * compares their outputs); absent where model.onnx is that graph, or another program's.
   */
  readonly described?: RawModel;
}

/** Opens and cross-checks a model directory. @throws UserError naming the file and its required content. */
export function loadModel(dir: string): Promise<Model> {
  const hint = "compare its files with docs/model.md: one is damaged, or of another model";
  return fromOutside(`The model ${dir}`, hint, () => openModel(dir));
}

async function openModel(dir: string): Promise<Model> {
  if (!existsSync(dir))
    fail(`There is no model directory ${dir}.`, { hint: "Shipped models: models/tiny-refusion-template." });
  const present = (file: string): void => {
    if (existsSync(join(dir, file))) return;
    const isCheckpoint = file === "model.onnx" && readdirSync(dir).some((name) => CHECKPOINT.test(name));
    fail(`The model directory ${dir} lacks ${file}.`, {
      hint: isCheckpoint
        ? `it is a checkpoint: refusion-train export --checkpoint ${dir} --out ${basename(dir)}-onnx makes a model directory of it`
        : "A model directory holds config.json, tokenizer.json and model.onnx with its weights.",
    });
  };
  ["config.json", "model.onnx"].forEach(present);
  const config = readModelConfig(dir);
  const path = join(dir, "model.onnx");
  if (config.reads_tokens === false)
    return { dir, config, tokenizer: undefined, ...(await readGraph(dir, path, config)) };
  present("tokenizer.json");
  const ends = eosIds(config);
  for (const key of ["mask_token_id", "eos_token_id", "pad_token_id"] as const) {
    const outside = [config[key]].flat().find((id) => id >= config.vocab_size);
    if (outside !== undefined)
      fail(`${join(dir, "config.json")}: ${key} ${outside} is outside the vocabulary of ${config.vocab_size}.`, {
        hint: "Set the ids that the model's tokenizer.json has for its special tokens.",
      });
  }
  if (ends.includes(config.mask_token_id))
    fail(
      `${join(dir, "config.json")}: mask_token_id and eos_token_id are both ${config.mask_token_id}: an open position could not be told from the end.`,
      { hint: "Set the ids that the model's tokenizer.json has for its special tokens." },
    );
  const tokenizer = Tokenizer.load(dir, [config.mask_token_id, ...ends, config.pad_token_id]);
  if (tokenizer.vocabSize > config.vocab_size)
    fail(
      `The tokenizer of ${dir} has ${tokenizer.vocabSize} tokens, its config.json only vocab_size ${config.vocab_size}.`,
      { hint: "Use the tokenizer.json that belongs to this model." },
    );
  const read = await readGraph(dir, path, config);
  checkTokenInputs(read.graph, path, config);
  return { dir, config, tokenizer, ...read };
}

/** Files of weights in a checkpoint of Hugging Face. */
const CHECKPOINT = /\.(?:safetensors|bin|gguf)$/;

/**
 * Tells whether a model is a plain causal language model, which was not trained on masks: it writes from left to right,
 * and its mask is a token without that name, which `export` borrowed.
 */
export function isPlainCausal({ config, tokenizer }: Model): boolean {
  const mask = tokenizer?.decode([config.mask_token_id]) ?? "mask";
  return config.attention === "causal" && !/mask/i.test(mask);
}

/** Reads a model's graph: ours unchanged, an exporter's with our names. */
async function readGraph(
  dir: string,
  path: string,
  config: ModelConfig,
): Promise<Pick<Model, "graph" | "names" | "described">> {
  const graph = await readModelFile(path);
  checkOpset(graph, path);
  if (isImported(graph)) return { graph: normaliseImported(graph, path, config), names: LLAMA_NAMES };
  const described = await describedGraph(dir, config);
  const names = (await architectureOf(config)).names(config);
  checkDescribed(graph, described, dir);
  return Buffer.from(encodeModel(graph)).equals(encodeModel(described))
    ? { graph, names }
    : { graph, names, described };
}

/** Builds the graph of config.json on the weights' file. */
async function describedGraph(dir: string, config: ModelConfig): Promise<RawModel> {
  try {
    const architecture = await architectureOf(config);
    const made = emitGraph(dir, config, (g, weight) => architecture.build(g, config, weight));
    return decodeModel(encodeModel(made), `the graph of ${dir}`);
  } catch (error) {
    fail(`config.json of ${dir} describes no graph of its weights: ${messageOf(error)}`, {
      hint: (error instanceof UserError ? error.hint : undefined) ?? CONTRADICTION_HINT,
      cause: error,
    });
  }
}

/** Checks the properties that graphs of one model share across versions: architecture, weights, epsilons. */
function checkDescribed(graph: RawModel, described: RawModel, dir: string): void {
  const contradiction = (found: string, expected: string): UserError =>
    new UserError(
      `config.json and model.onnx of ${dir} contradict each other: the graph has ${found}, the config says ${expected}.`,
      {
        hint: CONTRADICTION_HINT,
      },
    );
  if (graph.name !== described.name) throw contradiction(`the architecture ${graph.name}`, described.name);
  const weights = ({ initializers }: RawModel): string[] =>
    [...initializers].flatMap(([name, { value, data }]) =>
      isExternal(data) ? [`${name} ${formatShape(value.shape)}`] : [],
    );
  const epsilons = ({ nodes }: RawModel): string[] =>
    nodes.flatMap(({ attributes: { epsilon } }) => (epsilon === undefined ? [] : [`epsilon ${epsilon}`]));
  for (const of of [weights, epsilons]) {
    const [existing, wanted] = [new Set(of(graph)), new Set(of(described))];
    const spare = [...existing].find((name) => !wanted.has(name));
    const lacking = [...wanted].find((name) => !existing.has(name));
    if (spare !== undefined || lacking !== undefined)
      throw contradiction(spare ?? `no ${lacking}`, lacking ?? `no ${spare}`);
  }
}

/** Advice for a graph that is not the one that config.json describes. */
export const CONTRADICTION_HINT =
  "Put back the config.json that the graph was exported with, or export the model again: the keys of docs/model.md must be the graph's own.";

/** @throws UserError where a graph of tokens lacks the output or inputs of the contract, or inputs derived from them. */
function checkTokenInputs(graph: RawModel, path: string, config: ModelConfig): void {
  const made = new Set([...graph.nodes.flatMap(({ outputs }) => outputs), ...graph.initializers.keys()]);
  if (!graph.outputs.some(({ name }) => name === "logits") || !made.has("logits"))
    fail(`${path} computes no output logits (it has ${graph.outputs.map(({ name }) => name).join(", ") || "none"}).`, {
      hint: "Export it again: the output [B, N, V] is named logits (docs/model.md).",
    });
  const names = graph.inputs.map((i) => i.name);
  const missing = ["input_ids", "position_ids", "attention_bias"].filter((input) => !names.includes(input));
  if (missing.length === 0) return;
  const what = `${path} reads no input ${missing.join(", ")} (it reads ${names.join(", ")})`;
  if (missing.includes("input_ids"))
    fail(`${what}.`, {
      hint: "Export it again with a tensor of its own for each input: an exporter merges inputs whose example is one tensor.",
    });
  if (config.attention === "causal")
    fail(`${what}, which a causal model needs here.`, {
      hint: "The unmask sampler moves committed tokens in front of the masks, which needs explicit positions and an additive attention bias. A bidirectional model may take attention_mask instead.",
    });
  if (!names.some((name) => name === "attention_bias" || name === "attention_mask"))
    fail(`${what}, and no attention_mask in its place: padding could not be hidden from it.`, {
      hint: "Export it with the inputs input_ids and attention_mask.",
    });
}

/**
 * Runs work on a model's graph; errors in the graph are reported as errors of its file.
 * @throws UserError that names the file, where the graph is refused for any reason.
 */
export function usingGraph<T>(model: Pick<Model, "dir">, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const message = messageOf(error);
    if (ownFrame(error) !== undefined) throw error;
    if (error instanceof UserError && (error.exitCode === 2 || message.includes(model.dir))) throw error;
    fail(`${join(model.dir, "model.onnx")} cannot be used: ${message}`, {
      hint:
        (error instanceof UserError ? error.hint : undefined) ??
        "Export it again with dynamo=True and dynamic batch and length (TorchScript fixes sizes that Python computes); docs/model.md says what the graph must be.",
      cause: error,
    });
  }
}

/**
 * Writes a model directory: weights as safetensors, and a graph that refers to that file. A new directory is created
 * atomically; in an existing one, the model's own files are replaced.
 */
export async function saveModel(
  dir: string,
  config: ModelConfig,
  weights: ReadonlyMap<string, Tensor>,
  tokenizerJson: string | undefined,
): Promise<void> {
  const write = async (into: string): Promise<void> => {
    writeSafetensors(join(into, WEIGHTS_FILE), weights, { format: "pt" });
    await writeAtomic(join(into, "config.json"), `${JSON.stringify(config, null, 2)}\n`);
    if (tokenizerJson !== undefined) await writeAtomic(join(into, "tokenizer.json"), tokenizerJson);
    await writeModelGraph(into, config);
  };
  await (existsSync(dir) ? write(dir) : writeDirectory(dir, write));
}

/** Writes the graph for the weights already in a directory, in any storage form. */
export async function writeModelGraph(dir: string, config: ModelConfig): Promise<void> {
  const architecture = await architectureOf(config);
  const graph = emitGraph(dir, config, (g, weight) => architecture.build(g, config, weight));
  await writeModelFile(join(dir, "model.onnx"), graph);
}

/**
 * Builds the graph whose tokens see keys and values of an earlier forward or of other sequences (attention/keys.ts), from
 * config.json and the weights' file, like model.onnx. Undefined where the graph is not ours, or its tokens see later
 * ones.
 */
export async function graphWithKeys({ dir, config, graph }: Model, of: KeysOf): Promise<RawModel | undefined> {
  if (isImported(graph) || config.attention !== "causal") return undefined;
  const architecture = await architectureOf(config);
  if (architecture.buildWithKeys === undefined) return undefined;
  const made = emitGraph(dir, config, (g, weight) => architecture.buildWithKeys?.(of, g, config, weight));
  return decodeModel(encodeModel(made), `the graph of ${dir} with ${of} keys`);
}

function emitGraph(dir: string, config: ModelConfig, build: (g: GraphBuilder, weight: WeightDeclarer) => void): Graph {
  const header = openSafetensors(join(dir, WEIGHTS_FILE));
  const g = new PackedBuilder(config.architecture);
  const declared = new Map<string, Value>();
  build(g, (name, shape) => {
    const earlier = declared.get(name);
    if (earlier !== undefined) return earlier;
    const stored = storedWeight(header, name);
    if (stored.shape.join() !== shape.join())
      fail(`${header.path}: ${name} should have the shape [${shape.join(", ")}], got [${stored.shape.join(", ")}].`);
    const value = g.weight(name, stored);
    declared.set(name, value);
    return value;
  });
  return g.build();
}

/** Returns the reference to a weight of a file. @throws UserError where it is missing or of an unsupported form. */
function storedWeight(header: SafetensorsHeader, name: string): StoredWeight {
  const place = (part: string): ExternalData => {
    const entry = header.tensors.get(part);
    if (entry === undefined) fail(`${header.path} lacks ${part}, a part of the weight ${name}.`);
    return { file: WEIGHTS_FILE, offset: entry.offset, length: entry.length };
  };
  const state = readNf4State(header, name);
  if (state !== undefined) {
    const { shape, offset } = state;
    return offset === undefined ? { form: "nf4", shape, place } : { form: "nf4-nested", shape, place, offset };
  }
  const entry = header.tensors.get(name);
  if (entry === undefined) fail(`${header.path} lacks the weight ${name}.`);
  const { dtype, shape } = entry;
  if (dtype !== "float32" && dtype !== "bfloat16" && dtype !== "float16")
    fail(`${header.path}: the weight ${name} is ${dtype}, expected float32, bfloat16 or float16.`);
  return { form: dtype, shape, place };
}

/** Lists the files of a model directory with its graph's weights; none where they are inside model.onnx. */
export function weightFiles(graph: RawModel): string[] {
  return [...new Set([...graph.initializers.values()].flatMap(({ data }) => (isExternal(data) ? [data.file] : [])))];
}

/** Returns a hash of all files of a model directory that determine its output. */
export async function modelHash(dir: string): Promise<string> {
  const weights = weightFiles(await readModelFile(join(dir, "model.onnx"))).sort();
  const tokenizer = existsSync(join(dir, "tokenizer.json")) ? ["tokenizer.json"] : [];
  const files = ["config.json", ...tokenizer, "model.onnx", ...weights];
  const hashes = await Promise.all(files.map((f) => sha256File(join(dir, f))));
  return hashes.join("").replace(/(.{8}).{56}/g, "$1");
}
