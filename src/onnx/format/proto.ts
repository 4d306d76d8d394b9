import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fail, messageOf, UserError } from "../../core/errors.js";
import { writeAtomic } from "../../core/files.js";
import { type Graph, isExternal } from "../types.js";
import { decodeModel } from "./proto-decode.js";
import { encodeModel } from "./proto-encode.js";
import type { RawModel } from "./raw-model.js";

export { decodeModel, encodeModel };

/** Largest protobuf message in bytes. */
const MAX_MODEL_BYTES = 2 ** 31 - 1;

/**
 * Reads a model file and checks that its external data exists.
 * @throws UserError as decodeModel, and for a missing, oversized or truncated file.
 */
export async function readModelFile(path: string): Promise<RawModel> {
  let bytes: Uint8Array;
  try {
    const { size } = statSync(path);
    if (size > MAX_MODEL_BYTES)
      fail(`${path} has ${size} bytes, more than an ONNX file can hold`, {
        hint: "Save its weights as external data.",
      });
    bytes = await readFile(path);
  } catch (error) {
    if (error instanceof UserError) throw error;
    fail(`Cannot read the model ${path}: ${messageOf(error)}`, { cause: error });
  }
  const model = decodeModel(bytes, path);
  const ends = new Map<string, number>();
  for (const { data } of model.initializers.values()) {
    if (isExternal(data)) ends.set(data.file, Math.max(ends.get(data.file) ?? 0, data.offset + data.length));
  }
  for (const [file, end] of ends) {
    const weights = join(dirname(path), file);
    if (!existsSync(weights)) fail(`${path}: its weights ${weights} are missing`);
    const { size } = statSync(weights);
    if (size < end)
      fail(`${path}: its weights ${weights} have ${size} bytes, expected at least ${end}: the file is truncated`);
  }
  return model;
}

/** Writes a model file atomically. External data is not written and must already be beside it. */
export async function writeModelFile(path: string, model: Graph | RawModel): Promise<void> {
  const bytes = encodeModel(model);
  if (bytes.byteLength > MAX_MODEL_BYTES)
    fail(`The model for ${path} has ${bytes.byteLength} bytes, more than an ONNX file can hold`, {
      hint: "Keep its weights in external data.",
    });
  await writeAtomic(path, bytes);
}
