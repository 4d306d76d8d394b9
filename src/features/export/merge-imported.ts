import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { fail, misuse } from "../../core/errors.js";
import { writeDirectory } from "../../core/files.js";
import { valuesOf } from "../../engine/base-sample.js";
import { moduleOf } from "../../nn/bind.js";
import { readModelConfig } from "../../nn/config.js";
import { isImported, normaliseImported, storedNames } from "../../nn/imported.js";
import { loadModel, WEIGHTS_FILE } from "../../nn/model.js";
import { readPeft } from "../../nn/peft.js";
import { projectionOf } from "../../nn/projection.js";
import { readModelFile, writeModelFile } from "../../onnx/format/proto.js";
import type { RawModel } from "../../onnx/format/raw-model.js";
import { sizeOf } from "../../onnx/shapes.js";
import { type Initializer, isExternal } from "../../onnx/types.js";
import { FLOATS, readStored } from "../../weights/model-weights.js";
import { openSafetensors } from "../../weights/safetensors.js";
import { type Change, mergeChanges } from "./merge.js";
import type { ExportOptions, ExportResult } from "./options.js";
import { type WeightTask, writeWeights } from "./transcode.js";

type Float = "float32" | "bfloat16" | "float16";

/** Tells whether a directory contains a graph exported by another program. */
export async function holdsImported(dir: string): Promise<boolean> {
  const path = join(dir, "model.onnx");
  return existsSync(path) && isImported(await readModelFile(path));
}

/**
 * Merges an adapter into an imported graph. The graph stays the same; the new weights keep their layout and element
 * type. They are written to model.safetensors, because large ones do not fit into the graph's file.
 * @throws UserError if there is no adapter, or if it changes a weight that is also the embedding table.
 */
export async function mergeImported(options: ExportOptions): Promise<ExportResult> {
  const { checkpoint: dir, adapter } = options;
  if (adapter === undefined || options.precision !== "none" || options.keepTokens !== undefined || options.tokens?.mask)
    misuse(`${dir} holds a graph of another program: all that export does with one is to merge an adapter.`, {
      hint: "give --merge, and leave --quantize, --keep-tokens and tokens out: its weights keep their form",
    });
  const path = join(dir, "model.onnx");
  const file = await readModelFile(path);
  const changes = changesOf(normaliseImported(file, path, readModelConfig(dir)), adapter);
  const stored = [...file.initializers.values()].filter(
    ({ value, data }) => FLOATS.includes(value.dtype) && (isExternal(data) || changes.has(value.name)),
  );
  const tasks = stored.map(({ value, data }): WeightTask => {
    const { name, dtype } = value;
    const shape = value.shape as number[];
    return { name, shape, form: dtype as Float, open: () => valuesOf(dir, { value, data }), change: changes.get(name) };
  });
  const total = tasks.reduce((sum, { shape }) => sum + sizeOf(shape), 0);
  let bytes = 0;
  await writeDirectory(options.out, async (aside) => {
    const weights = join(aside, WEIGHTS_FILE);
    await writeWeights(weights, tasks, {
      signal: options.signal,
      progress: (done, name) => options.progress?.({ stage: "exporting", name, done, total }),
    });
    const { tensors } = openSafetensors(weights);
    const initializers = new Map<string, Initializer>();
    for (const [name, { value, data }] of file.initializers) {
      const entry = tensors.get(name);
      const at = entry && { file: WEIGHTS_FILE, offset: entry.offset, length: entry.length };
      initializers.set(name, { value, data: at ?? (isExternal(data) ? readStored(dir, data, value.dtype) : data) });
      bytes += entry?.length ?? 0;
    }
    await writeModelFile(join(aside, "model.onnx"), { ...file, initializers });
    for (const other of ["config.json", "tokenizer.json"]) copyFileSync(join(dir, other), join(aside, other));
    await loadModel(aside);
  });
  const { vocab_size: tokens } = (await loadModel(options.out)).config;
  return { parameters: total, bytes, from4Bits: false, vocabulary: { kept: tokens, whole: tokens } };
}

/** Computes the adapter's changes, by the names of the file's initializers. */
function changesOf(model: RawModel, adapter: string): Map<string, Change> {
  const shapes = new Map<string, readonly number[]>();
  const transposed = new Set<string>();
  const weights = new Map<string, string>();
  for (const node of model.nodes) {
    const projection = projectionOf(model, node);
    if (projection === undefined) continue;
    const { name } = projection.weight.value;
    const key = `${moduleOf(name)}.weight`;
    const [rows, columns] = projection.shape;
    weights.set(key, name);
    shapes.set(key, projection.transposed ? [rows, columns] : [columns, rows]);
    if (!projection.transposed) transposed.add(key);
  }
  const tables = new Set(model.nodes.flatMap(({ op, inputs }) => (op === "Gather" ? [inputs[0] ?? ""] : [])));
  const changes = new Map<string, Change>();
  for (const [key, change] of mergeChanges(readPeft(adapter), shapes, adapter, transposed)) {
    const weight = weights.get(key) as string;
    if (tables.has(weight))
      fail(`${adapter} changes ${weight}, which is also the model's table of embeddings.`, {
        hint: "The adapter acts on the head only: use it beside the model (init_adapter).",
      });
    for (const name of storedNames(model, weight)) changes.set(name, change);
  }
  return changes;
}
