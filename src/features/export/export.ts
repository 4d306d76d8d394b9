import { existsSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fromOutside } from "../../core/boundary.js";
import { fail, misuse } from "../../core/errors.js";
import { readJson, writeDirectory } from "../../core/files.js";
import { listed } from "../../core/problems.js";
import { loadFolder } from "../../core/registry.js";
import { architectureOf } from "../../nn/architecture.js";
import { eosIds, type ModelConfig } from "../../nn/config.js";
import { loadModel, WEIGHTS_FILE, writeModelGraph } from "../../nn/model.js";
import { readPeft } from "../../nn/peft.js";
import { sizeOf } from "../../onnx/shapes.js";
import { BYTES } from "../../onnx/types.js";
import { Tokenizer } from "../../text/tokenizer.js";
import { PRECISIONS, type Precision } from "../../weights/precision.js";
import { openCheckpoint } from "./checkpoint.js";
import type { Checkpoint, CheckpointSource, Json, SourceOptions } from "./checkpoint-source.js";
import { refuseQuantised } from "./float8.js";
import { FLOATS, formOf } from "./forms.js";
import { GGUF_FORMS, writeGguf } from "./gguf/write.js";
import { readCheckpointConfig } from "./hf-config.js";
import { mergeChanges } from "./merge.js";
import { holdsImported, mergeImported } from "./merge-imported.js";
import type { ExportOptions, ExportResult } from "./options.js";
import { rowsOf } from "./rows.js";
import { readTokenizerConfig, tokenizerJson } from "./tokenizer-files.js";
import { pruneTokenizer } from "./tokenizer-prune.js";
import { specsOf, type WeightTask, writeWeights } from "./transcode.js";

/**
 * Makes a model directory from a checkpoint. All inputs are checked first; then the weights are streamed through a few
 * tens of megabytes of memory. The directory is renamed to `out` when it is complete.
 * @throws UserError that names what is missing, broken or not supported; no files are left then.
 */
export function exportModel(options: ExportOptions): Promise<ExportResult> {
  const hint = "compare its files with those of the release: one is damaged, incomplete or of another model";
  return fromOutside(`The checkpoint ${options.checkpoint}`, hint, () => writeModel(options));
}

async function writeModel(options: ExportOptions): Promise<ExportResult> {
  const { checkpoint, precision, doubleQuant, signal } = options;
  const out = resolve(options.out);
  if (existsSync(out))
    fail(`${options.out} exists already, and a model is never overwritten.`, { hint: "give another --out" });
  if (await holdsImported(checkpoint)) return mergeImported(options);
  const source = await openSource(checkpoint, {
    ...(signal && { signal }),
    progress: (name, done, total) => options.progress?.({ stage: "downloading", name, done, total }),
  });
  const tokenizer = Tokenizer.fromJson(JSON.parse(source.tokenizer), `the tokenizer of ${checkpoint}`);
  const weights = options.weights === undefined ? source.weights : openCheckpoint(options.weights);
  const whole = await withStoredHead(readCheckpointConfig(source, tokenizer, options.tokens), weights);
  const always = [whole.mask_token_id, ...eosIds(whole), whole.pad_token_id];
  const pruned =
    options.keepTokens === undefined
      ? undefined
      : pruneTokenizer(source.tokenizer, options.keepTokens, always, `the tokenizer of ${checkpoint}`);
  const config = pruned === undefined ? whole : prunedConfig(whole, pruned.kept);
  const { tasks, from4Bits } = await planWeights(options, weights, config, pruned && { whole, kept: pruned.kept });
  const bytes = [...specsOf(tasks).values()].reduce((sum, { dtype, shape }) => sum + sizeOf(shape) * BYTES[dtype], 0);
  checkSpace(out, bytes);

  const parameters = tasks.reduce((sum, { shape }) => sum + sizeOf(shape), 0);
  await writeDirectory(options.out, async (aside) => {
    await writeWeights(join(aside, WEIGHTS_FILE), tasks, {
      signal,
      progress: (done, name) => options.progress?.({ stage: "exporting", name, done, total: parameters }),
    });
    writeFileSync(join(aside, "tokenizer.json"), pruned?.json ?? source.tokenizer);
    const written = exportedConfig(config, precision, doubleQuant);
    writeFileSync(join(aside, "config.json"), `${JSON.stringify(written, null, 2)}\n`);
    await writeModelGraph(aside, config);
    // verifies that the new directory can be loaded
    await loadModel(aside);
  });
  return { parameters, bytes, from4Bits, vocabulary: { kept: config.vocab_size, whole: whole.vocab_size } };
}

/**
 * Unties a head that is stored and differs from the embedding: merges of a LoRA of lm_head leave a config that still
 * says tied, and transformers 5 keeps such a head.
 */
async function withStoredHead(config: ModelConfig, weights: Checkpoint["weights"]): Promise<ModelConfig> {
  if (config.tie_word_embeddings !== true) return config;
  const untied = { ...config, tie_word_embeddings: false };
  const { weights: specs } = await architectureOf(config);
  const tied = specs(config);
  const own = [...specs(untied).keys()].find((name) => !tied.has(name));
  const [embedding, head] = [[...tied.keys()][0], own].map((name) => weights.get(name ?? ""));
  if (embedding === undefined || head === undefined) return config;
  if (embedding.shape.join() !== head.shape.join()) return untied;
  const [a, b, size] = [embedding.open(), head.open(), sizeOf(head.shape)];
  for (let begin = 0; begin < size; begin += PIECE) {
    const [left, right] = [a, b].map((matrix) => matrix.read(begin, Math.min(size, begin + PIECE)));
    if (left?.some((value, i) => value !== right?.[i])) return untied;
  }
  return config;
}

/** Elements that are compared at once. */
const PIECE = 2 ** 20;

/** Names of tensors of GPTQ, AWQ, llm-compressor and bitsandbytes' 8 bits. */
const PACKED = /\.(qweight|qzeros|scales|weight_packed|SCB)$/;
/** Names of tensors in checkpoints that are not weights of the model. */
const IGNORED: readonly RegExp[] = [/\.rotary_emb\.inv_freq$/];

/** Plans the source and the form of every weight, and checks all shapes against the architecture first. */
async function planWeights(
  options: ExportOptions,
  weights: Checkpoint["weights"],
  config: ModelConfig,
  pruned: { readonly whole: ModelConfig; readonly kept: readonly number[] } | undefined,
): Promise<{ tasks: WeightTask[]; from4Bits: boolean }> {
  const { precision, doubleQuant } = options;
  const checkpoint = options.weights ?? options.checkpoint;
  const architecture = await architectureOf(config);
  const specs = architecture.weights(config);
  // shapes in the file: its token tables are longer than the pruned ones
  const stored = pruned === undefined ? specs : architecture.weights(pruned.whole);
  const problems: string[] = [];
  const tasks: WeightTask[] = [];
  let from4Bits = false;
  const shapes = new Map([...specs].map(([name, { shape }]) => [name, shape]));
  const { adapter } = options;
  const changes = adapter === undefined ? undefined : mergeChanges(readPeft(adapter), shapes, adapter);
  for (const [name, { shape }] of specs) {
    const weight = weights.get(name);
    const expected = stored.get(name)?.shape ?? shape;
    if (weight === undefined) {
      problems.push(`missing ${name} [${expected.join(", ")}]`);
      continue;
    }
    const { dtype, path, open, shape: got } = weight;
    from4Bits ||= dtype === "uint8";
    if (got.join() !== expected.join())
      problems.push(`${name}: expected [${expected.join(", ")}], got [${got.join(", ")}] in ${basename(path)}`);
    const isTable = pruned !== undefined && expected.join() !== shape.join();
    const form = formOf(name, shape, dtype, precision, doubleQuant);
    const kept = isTable ? () => rowsOf(open(), pruned.kept) : open;
    tasks.push({ name, shape, form, open: kept, change: changes?.get(name) });
  }
  // a tied head may be stored a second time (withStoredHead compared it); no other weight is dropped
  const spare = new Set(config.tie_word_embeddings === true ? ["lm_head.weight"] : []);
  for (const name of weights.keys()) {
    if (!specs.has(name) && !spare.has(name) && !IGNORED.some((pattern) => pattern.test(name)))
      problems.push(`unexpected ${name}: the architecture ${config.architecture} has no such weight`);
  }
  if (problems.length > 0) {
    const quantised = config.quantization_config ?? [...weights.keys()].find((name) => PACKED.test(name));
    if (quantised !== undefined) refuseQuantised(checkpoint, config, listed(problems));
    fail(`The weights of ${checkpoint} are not those of its config.json:${listed(problems)}`, {
      hint: "Check that config.json and the weights come from the same release, and that all of it was downloaded.",
    });
  }
  return { tasks, from4Bits };
}

/** Makes the config for the pruned vocabulary. @param kept old token ids, in the order of the new ones. */
function prunedConfig(config: ModelConfig, kept: readonly number[]): ModelConfig {
  const places = new Map(kept.map((id, place) => [id, place]));
  const ids = Object.entries(config).flatMap(([key, id]) =>
    key.endsWith("_token_id") && (typeof id === "number" || Array.isArray(id))
      ? [[key, Array.isArray(id) ? id.map((one) => places.get(one)) : places.get(id)] as const]
      : [],
  );
  return { ...config, ...Object.fromEntries(ids), vocab_size: kept.length };
}

/** Makes config.json of the model directory: the checkpoint's keys, and the form of the weights as in Transformers. */
function exportedConfig(config: ModelConfig, precision: Precision, doubleQuant: boolean): Record<string, unknown> {
  const { quantization_config: _, torch_dtype, dtype, ...rest } = config as Record<string, unknown>;
  if (precision !== "nf4") return { ...rest, dtype: FLOATS[precision] };
  const quantization_config = {
    quant_method: "bitsandbytes",
    load_in_4bit: true,
    bnb_4bit_quant_type: "nf4",
    bnb_4bit_use_double_quant: doubleQuant,
  };
  return { ...rest, dtype: dtype ?? torch_dtype ?? "float32", quantization_config };
}

/** @throws UserError if the disk has not enough space for the weights. */
function checkSpace(out: string, bytes: number): void {
  let dir = dirname(out);
  while (!existsSync(dir)) dir = dirname(dir);
  const { bavail, bsize } = statfsSync(dir);
  const free = bavail * bsize;
  if (free >= bytes * 1.01 + 2 ** 26) return;
  const gib = (n: number): string => `${(n / 2 ** 30).toFixed(2)} GiB`;
  fail(`The model needs ${gib(bytes)} in ${dir}, where ${gib(free)} are free.`, {
    hint: "Free some space, give another --out, or use --quantize nf4.",
  });
}

/**
 * Opens a checkpoint: a directory, or a source known to an entry of checkpoints/ (a GGUF file, `hf:org/name`).
 * @throws UserError that names what is missing or broken.
 */
async function openSource(source: string, options: SourceOptions = {}): Promise<Checkpoint> {
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
    // errors of the tokenizer are reported first
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

/**
 * Exports to a model directory, or to one file where `out` ends in .gguf: a directory in float32 is made beside it, and
 * removed.
 * @param form how weights are kept (`--quantize`). @throws UserError where it is not one of the kind's, or cannot be.
 */
export async function exportTo(options: Omit<ExportOptions, "precision">, form: string): Promise<ExportResult> {
  const { out } = options;
  const isFile = out.endsWith(".gguf");
  const forms: readonly string[] = isFile ? GGUF_FORMS : PRECISIONS;
  if (!forms.includes(form)) misuse(`--quantize ${form} is not for ${out}.`, { hint: `give ${forms.join(", ")}` });
  if (!isFile) return exportModel({ ...options, precision: form as Precision });
  if (existsSync(out)) fail(`${out} exists already, and a model is never overwritten.`, { hint: "give another --out" });
  const dir = `${resolve(out)}.model-${process.pid}`;
  try {
    const made = await exportModel({ ...options, out: dir, precision: "none" });
    return { ...made, bytes: await writeGguf(dir, out, form) };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
