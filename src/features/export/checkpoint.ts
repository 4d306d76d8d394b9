import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { fail } from "../../core/errors.js";
import { readJson } from "../../core/files.js";
import { openWeight, readNf4State } from "../../weights/model-weights.js";
import { nf4Part } from "../../weights/precision.js";
import { openSafetensors, type SafetensorsEntry, type SafetensorsHeader } from "../../weights/safetensors.js";
import type { CheckpointWeight, Json } from "./checkpoint-source.js";
import { openFloat8, quantisationIn, refuseQuantised, scalesOf, UNUSED_SCALES } from "./float8.js";

const SINGLE = "model.safetensors";
const INDEX = "model.safetensors.index.json";

/**
 * Opens the weights of a Hugging Face checkpoint: model.safetensors, or the shards listed in
 * model.safetensors.index.json. Every file's header is checked first, to detect truncated shards.
 * @returns weights by name; the parts of a 4-bit one are one weight.
 * @throws UserError naming the missing or damaged part.
 */
export function openCheckpoint(dir: string): Map<string, CheckpointWeight> {
  const single = join(dir, SINGLE);
  const index = join(dir, INDEX);
  if (existsSync(index)) return weightsOf(openShards(dir, index), dir);
  if (existsSync(single)) {
    const header = openSafetensors(single);
    return weightsOf(new Map([...header.tensors.keys()].map((name) => [name, header])), dir);
  }
  const others = existsSync(dir) ? readdirSync(dir).filter((file) => /\.(bin|pth|pt|ckpt)$/.test(file)) : [];
  fail(
    existsSync(dir)
      ? `There are no weights in ${dir}: neither ${SINGLE} nor ${INDEX}.`
      : `There is no checkpoint directory ${dir}.`,
    {
      hint:
        others.length === 0
          ? "A checkpoint directory holds config.json, the tokenizer's files and model.safetensors or its shards."
          : `${others.join(", ")} can only be read by PyTorch: save the model as safetensors there (FS-DFM: scripts/fsdfm-to-safetensors.py).`,
    },
  );
}

function weightsOf(tensors: ReadonlyMap<string, SafetensorsHeader>, dir: string): Map<string, CheckpointWeight> {
  const weights = new Map<string, CheckpointWeight>();
  const parts = new Set<string>();
  for (const [name, header] of tensors) {
    const { dtype, shape, float8 } = header.tensors.get(name) as SafetensorsEntry;
    if (float8) {
      const scales = scalesOf(name, tensors);
      if (scales === undefined)
        refuseQuantised(dir, configOf(dir), `\n  ${name} is in FP8, and ${name}_scale_inv is missing`);
      parts.add(scales);
      for (const other of tensors.keys()) if (UNUSED_SCALES.test(other)) parts.add(other);
      const open = () =>
        openFloat8(header, name, openWeight(tensors.get(scales) as SafetensorsHeader, scales), float8Block(dir));
      weights.set(name, { path: header.path, shape, dtype: "bfloat16", open });
      continue;
    }
    const packed = dtype === "uint8" ? readNf4State(header, name) : undefined;
    if (packed !== undefined) for (const part of Object.values(nf4Part)) if (part(name) !== name) parts.add(part(name));
    weights.set(name, {
      path: header.path,
      shape: packed?.shape ?? shape,
      dtype,
      open: () => openWeight(header, name),
    });
  }
  for (const part of parts) weights.delete(part);
  return weights;
}

const configOf = (dir: string): Json => readJson(join(dir, "config.json")) as Json;

/** Returns the rows and columns of a block of FP8 weights with one scale. */
const float8Block = (dir: string): readonly [number, number] =>
  (quantisationIn(configOf(dir)).weight_block_size ?? [128, 128]) as [number, number];

function openShards(dir: string, index: string): Map<string, SafetensorsHeader> {
  const { weight_map: map } = (readJson(index) ?? {}) as { weight_map?: unknown };
  if (typeof map !== "object" || map === null || !Object.values(map).every((file) => typeof file === "string"))
    fail(`${index} has no weight_map from tensors to files.`);
  const shards = new Map<string, SafetensorsHeader>();
  const files = [...new Set(Object.values(map as Record<string, string>))].sort();
  const outside = files.find((file) => basename(file) !== file);
  if (outside !== undefined) fail(`${index} names the shard "${outside}", which is not in ${dir}.`);
  const missing = files.filter((file) => !existsSync(join(dir, file)));
  if (missing.length > 0)
    fail(`${missing.length} of the ${files.length} shards that ${index} lists are missing: ${missing.join(", ")}.`, {
      hint: "Download the rest of the checkpoint.",
    });
  for (const file of files) shards.set(file, openSafetensors(join(dir, file)));
  const tensors = new Map<string, SafetensorsHeader>();
  for (const [name, file] of Object.entries(map as Record<string, string>)) {
    const shard = shards.get(file) as SafetensorsHeader;
    if (!shard.tensors.has(name)) fail(`${index} says that ${file} holds ${name}, but it does not.`);
    tensors.set(name, shard);
  }
  for (const shard of shards.values())
    for (const name of shard.tensors.keys()) if (!tensors.has(name)) tensors.set(name, shard);
  return tensors;
}
