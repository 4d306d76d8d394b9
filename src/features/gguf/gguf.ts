import { statSync } from "node:fs";
import { fail, messageOf, UserError } from "../../core/errors.js";
import type { StoredMatrix } from "../../weights/model-weights.js";
import { readRange } from "../../weights/safetensors.js";
import { elements } from "../../weights/safetensors-write.js";
import { BLOCK_FORMATS } from "./gguf-blocks.js";

/** The values of a GGUF file's header, by key (`llama.embedding_length`). */
export type GgufMetadata = Readonly<Record<string, unknown>>;

export interface GgufFile {
  readonly path: string;
  readonly metadata: GgufMetadata;
  /** In the order of the file; shapes as PyTorch has them, [out, in]. */
  readonly tensors: ReadonlyMap<string, StoredMatrix>;
}

/**
 * Opens a GGUF file (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md): the header is read, tensors are decoded
 * piece by piece.
 * @throws UserError naming the file where it is no GGUF, cut off, one of several, or a tensor has a form that is not read.
 */
export async function openGguf(path: string): Promise<GgufFile> {
  const { gguf, GGMLQuantizationType } = await import("@huggingface/gguf").catch((error) => {
    fail("GGUF files are read by the package @huggingface/gguf, which is not installed.", {
      hint: "npm install (it is an optional dependency)",
      cause: error,
    });
  });
  const refuse = (why: string, hint = "Copy or download the file again."): UserError =>
    new UserError(`${path} cannot be read as GGUF: ${why}`, { hint });
  const file = await gguf(path, { allowLocalFile: true }).catch((error) => {
    throw refuse(messageOf(error));
  });
  const metadata = file.metadata as unknown as GgufMetadata;
  if (Number(metadata["split.count"] ?? 1) > 1)
    throw refuse("it is one of several parts", "Join them with llama.cpp's gguf-split --merge.");
  if (!file.littleEndian) throw refuse("its numbers are big-endian", "Use the little-endian file, which is usual.");
  const { size } = statSync(path);
  const tensors = new Map<string, StoredMatrix>();
  for (const { name, shape: reversed, dtype, offset } of file.tensorInfos) {
    const format = BLOCK_FORMATS[dtype];
    if (format === undefined)
      throw refuse(
        `${name} is ${GGMLQuantizationType[dtype] ?? `of type ${dtype}`}`,
        `Use a file in ${Object.values(BLOCK_FORMATS)
          .map(({ name }) => name)
          .join(", ")}.`,
      );
    const shape = reversed.map(Number).reverse();
    const { values, bytes } = format;
    const begin = Number(file.tensorDataOffset) + Number(offset);
    if ((shape.at(-1) ?? 0) % values !== 0) throw refuse(`the rows of ${name} are not made of blocks of ${values}`);
    if (begin + (elements(shape) / values) * bytes > size) throw refuse(`it is cut off: ${name} ends behind its end`);
    tensors.set(name, {
      shape,
      dtype: format.dtype,
      read(from, to) {
        // pieces that callers ask for need not be whole blocks
        const [first, last] = [Math.floor(from / values), Math.ceil(to / values)];
        const decoded = format.decode(new Uint8Array(readRange(path, begin + first * bytes, (last - first) * bytes)));
        return decoded.subarray(from - first * values, to - first * values);
      },
    });
  }
  return { path, metadata, tensors };
}
