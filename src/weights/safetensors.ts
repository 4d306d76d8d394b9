import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { fail, messageOf, UserError } from "../core/errors.js";
import { sizeOf } from "../onnx/shapes.js";
import { ARRAYS, BYTES, type DType, type Tensor } from "../onnx/types.js";
import { DTYPE_NAMES, MAX_CHUNK } from "./safetensors-write.js";

export { writeSafetensors } from "./safetensors-write.js";

/**
 * The safetensors format (https://huggingface.co/docs/safetensors): 8 bytes little-endian header length, a JSON header
 * `{name: {dtype, shape, data_offsets: [begin, end]}}` with offsets counted from the header's end, then the data.
 */

const DTYPES: ReadonlyMap<string, DType> = new Map(
  Object.entries(DTYPE_NAMES).map(([dtype, name]) => [name, dtype as DType]),
);

/** The format's further types: such a file is valid, and not read here. */
const UNREAD = /^(?:I16|U16|U64|C64|F4|F6_E[23]M[23]|F8_E(?:\d(?!M3)M\d|\dM\dFNUZ))$/;

/** FP8, without its scales a code: such a tensor is read as bytes. */
const FLOAT8 = "F8_E4M3";

/** The limit of the reference implementation. */
const MAX_HEADER = 100_000_000;

/** The place of a tensor. */
export interface SafetensorsEntry {
  readonly dtype: DType;
  /** True for FP8 (E4M3) in bytes of `uint8`. */
  readonly float8?: true;
  readonly shape: readonly number[];
  /** First byte, counted from the start of the file. */
  readonly offset: number;
  /** Bytes. */
  readonly length: number;
}

/** A checked header. */
export interface SafetensorsHeader {
  readonly path: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** In the order of the header. */
  readonly tensors: ReadonlyMap<string, SafetensorsEntry>;
}

/** Reads and checks the header only: a whole checkpoint can be listed without loading it. */
export const openSafetensors = (path: string): SafetensorsHeader => withFile(path, (fd) => readHeader(fd, path));

/** Reads one tensor of an opened file. bf16 and fp16 stay raw bits in a Uint16Array. */
export function readTensor(header: SafetensorsHeader, name: string): Tensor {
  const entry = header.tensors.get(name);
  if (entry === undefined) fail(`${header.path} has no tensor "${name}"`);
  return withFile(header.path, (fd) => loadTensor(fd, header.path, name, entry));
}

/** Reads bytes [begin, end) of one tensor, counted from its first. */
export function readTensorBytes(header: SafetensorsHeader, name: string, begin: number, end: number): ArrayBuffer {
  const entry = header.tensors.get(name);
  if (entry === undefined || begin < 0 || end > entry.length)
    throw new RangeError(`bytes ${begin} to ${end} are not inside the tensor ${name} of ${header.path}`);
  return withFile(header.path, (fd) => readBytes(fd, header.path, entry.offset + begin, end - begin));
}

/** Reads a whole file: tensors by name. */
export function readSafetensors(path: string): Map<string, Tensor> {
  return withFile(path, (fd) => {
    const tensors = new Map<string, Tensor>();
    for (const [name, entry] of readHeader(fd, path).tensors) tensors.set(name, loadTensor(fd, path, name, entry));
    return tensors;
  });
}

/** Reads bytes of any file into a new buffer. @throws UserError where the file ends before. */
export const readRange = (path: string, offset: number, length: number): ArrayBuffer =>
  withFile(path, (fd) => readBytes(fd, path, offset, length));

function withFile<T>(path: string, use: (fd: number) => T): T {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch (error) {
    fail(`Cannot read ${path}: ${messageOf(error)}`, { cause: error });
  }
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}

function readHeader(fd: number, path: string): SafetensorsHeader {
  const refuse = (why: string): UserError =>
    new UserError(`${path} is not a valid safetensors file: ${why}`, { hint: "Copy or download the file again." });
  const stat = fstatSync(fd);
  if (!stat.isFile()) throw refuse("it is not a regular file");
  const { size } = stat;
  if (size < 8) throw refuse(`${size} bytes, expected at least 8`);
  const headerLength = Number(new DataView(readBytes(fd, path, 0, 8)).getBigUint64(0, true));
  if (headerLength > MAX_HEADER) throw refuse(`a header of ${headerLength} bytes, expected at most ${MAX_HEADER}`);
  const dataStart = 8 + headerLength;
  if (dataStart > size) throw refuse(`truncated: the header ends at byte ${dataStart}, the file at ${size}`);

  let text: string;
  let raw: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(readBytes(fd, path, 8, headerLength));
    raw = JSON.parse(text);
  } catch (error) {
    throw refuse(`its header is not JSON (${messageOf(error)})`);
  }
  if (!isObject(raw)) throw refuse("its header is not an object");
  const repeated = repeatedKey(text);
  if (repeated !== undefined) throw refuse(`its header names "${repeated}" twice`);

  let metadata: Record<string, string> = {};
  const tensors = new Map<string, SafetensorsEntry>();
  for (const [name, value] of Object.entries(raw)) {
    if (name === "__metadata__") {
      if (!isObject(value) || !Object.values(value).every((item) => typeof item === "string"))
        throw refuse("__metadata__ is not an object of strings");
      metadata = value as Record<string, string>;
      continue;
    }
    const tensor = (why: string): UserError => refuse(`tensor "${name}": ${why}`);
    if (!isObject(value)) throw tensor("its entry is not an object");
    const { dtype: dtypeName, shape, data_offsets: range } = value;
    const float8 = dtypeName === FLOAT8;
    const dtype = float8 ? "uint8" : typeof dtypeName === "string" ? DTYPES.get(dtypeName) : undefined;
    if (dtype === undefined && typeof dtypeName === "string" && UNREAD.test(dtypeName))
      fail(`${path}: the tensor "${name}" is ${dtypeName}, and only ${[...DTYPES.keys()].join(", ")} are read here.`, {
        hint: "Convert the checkpoint first: most publishers also offer BF16.",
      });
    if (dtype === undefined)
      throw tensor(`dtype ${JSON.stringify(dtypeName)}, expected one of ${[...DTYPES.keys()].join(", ")}`);
    if (!isCounts(shape)) throw tensor(`shape ${JSON.stringify(shape)} is not a list of sizes`);
    if (!isCounts(range) || range.length !== 2)
      throw tensor(`data_offsets ${JSON.stringify(range)} is not [begin, end]`);
    const [begin, end] = range as [number, number];
    const length = sizeOf(shape) * BYTES[dtype];
    if (end - begin !== length)
      throw tensor(`${dtype} [${shape.join(", ")}] needs ${length} bytes, data_offsets span ${end - begin}`);
    if (dataStart + end > size)
      throw tensor(`truncated or out of range: it ends at byte ${dataStart + end}, the file at ${size}`);
    const entry = { dtype, shape, offset: dataStart + begin, length };
    tensors.set(name, float8 ? { ...entry, float8 } : entry);
  }

  // the format allows neither overlaps nor holes
  let position = dataStart;
  let before = "the header";
  for (const [name, { offset, length }] of [...tensors].sort(
    ([, a], [, b]) => a.offset - b.offset || a.length - b.length,
  )) {
    if (offset < position) throw refuse(`tensor "${name}" overlaps ${before}`);
    if (offset > position)
      throw refuse(`${offset - position} bytes between ${before} and tensor "${name}" belong to no tensor`);
    position = offset + length;
    before = `tensor "${name}"`;
  }
  if (position !== size) throw refuse(`${size - position} bytes behind ${before} belong to no tensor`);
  return { path, metadata, tensors };
}

/** Returns the first repeated key of a valid JSON text's top-level object; JSON.parse would silently keep the last. */
function repeatedKey(json: string): string | undefined {
  const seen = new Set<string>();
  let depth = 0;
  // strings, and the punctuation between them
  for (const { 0: token, index } of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]]/gs)) {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    else if (depth === 1 && /^\s*:/.test(json.slice(index + token.length, index + token.length + 64))) {
      const key = JSON.parse(token) as string;
      if (seen.has(key)) return key;
      seen.add(key);
    }
  }
  return undefined;
}

function loadTensor(
  fd: number,
  path: string,
  name: string,
  { dtype, shape, offset, length }: SafetensorsEntry,
): Tensor {
  let buffer: ArrayBuffer;
  try {
    buffer = readBytes(fd, path, offset, length);
  } catch (error) {
    if (error instanceof UserError) throw error;
    fail(`Cannot read tensor "${name}" (${length} bytes) of ${path}: ${messageOf(error)}`, { cause: error });
  }
  return { dtype, shape, data: new ARRAYS[dtype](buffer) };
}

/** Reads bytes [offset, offset + length) into a new buffer, so that any typed array can view them. */
function readBytes(fd: number, path: string, offset: number, length: number): ArrayBuffer {
  const bytes = new Uint8Array(new ArrayBuffer(length));
  for (let done = 0; done < length; ) {
    const got = readSync(fd, bytes, done, Math.min(MAX_CHUNK, length - done), offset + done);
    if (got === 0) fail(`${path} ended at byte ${offset + done} while it was read`);
    done += got;
  }
  return bytes.buffer;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCounts(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}
