import { join } from "node:path";
import { fail } from "../core/errors.js";
import { bfloat16ToFloat, float16ToFloat } from "../onnx/half.js";
import { NF4_BLOCK } from "../onnx/nf4.js";
import { ARRAYS, BYTES, type DType, type ExternalData, type TypedArray } from "../onnx/types.js";
import { decodeState, type Nf4State, nf4Part } from "./precision.js";
import { decodeNf4, decodeScales } from "./quantize.js";
import { readRange, readTensor, readTensorBytes, type SafetensorsHeader } from "./safetensors.js";

/** A weight in any stored form, read as float32 piece by piece: a file never has to fit into memory. */
export interface StoredMatrix {
  readonly shape: readonly number[];
  /** Element type in the file; uint8 where it is in 4 bits. */
  readonly dtype: DType;
  /** Reads elements [begin, end), row-major. For a 4-bit weight: multiples of 64. */
  read(begin: number, end: number): Float32Array;
}

/** Reads the state of a 4-bit weight; undefined for other weights. */
export function readNf4State(header: SafetensorsHeader, name: string): Nf4State | undefined {
  const part = nf4Part.state(name);
  if (!header.tensors.has(part)) return undefined;
  return decodeState(readTensor(header, part).data as Uint8Array, name, header.path);
}

/** Opens a weight of a file. @throws UserError where it is missing or not of a float type. */
export function openWeight(header: SafetensorsHeader, name: string): StoredMatrix {
  const state = readNf4State(header, name);
  if (state !== undefined) return openNf4(header, name, state);
  const entry = header.tensors.get(name);
  if (entry === undefined) fail(`${header.path} has no tensor "${name}"`);
  const { dtype, shape } = entry;
  const convert = CONVERTERS[dtype];
  if (convert === undefined)
    fail(`${header.path}: ${name} is ${dtype}, expected float32, bfloat16, float16 or float64.`);
  const size = BYTES[dtype];
  return { shape, dtype, read: (begin, end) => convert(readTensorBytes(header, name, begin * size, end * size)) };
}

const CONVERTERS: Readonly<Partial<Record<DType, (bytes: ArrayBuffer) => Float32Array>>> = {
  float32: (bytes) => new Float32Array(bytes),
  float64: (bytes) => Float32Array.from(new Float64Array(bytes)),
  bfloat16: (bytes) => bfloat16ToFloat(new Uint16Array(bytes)),
  float16: (bytes) => float16ToFloat(new Uint16Array(bytes)),
};

/** Element types of weights that are read as floats. */
export const FLOATS = Object.keys(CONVERTERS) as DType[];

/** Wraps floats in memory, in their stored form. */
export function floatsOf(dtype: DType, shape: readonly number[], data: TypedArray): StoredMatrix {
  const convert = CONVERTERS[dtype] as (bytes: ArrayBuffer) => Float32Array;
  const size = BYTES[dtype];
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return { shape, dtype, read: (begin, end) => convert(bytes.slice(begin * size, end * size).buffer) };
}

/** Opens a weight of a graph in a file beside it. */
export function openStored(dir: string, data: ExternalData, dtype: DType, shape: readonly number[]): StoredMatrix {
  const convert = CONVERTERS[dtype] as (bytes: ArrayBuffer) => Float32Array;
  const size = BYTES[dtype];
  const at = (element: number): number => data.offset + element * size;
  return {
    shape,
    dtype,
    read: (begin, end) => convert(readRange(join(dir, data.file), at(begin), (end - begin) * size)),
  };
}

/** Reads all elements of data in a file beside a graph. */
export function readStored(dir: string, { file, offset, length }: ExternalData, dtype: DType): TypedArray {
  return new ARRAYS[dtype](readRange(join(dir, file), offset, length));
}

function openNf4(header: SafetensorsHeader, name: string, { shape, offset }: Nf4State): StoredMatrix {
  const scales = readTensor(header, nf4Part.absmax(name));
  const absmax =
    offset === undefined
      ? (scales.data as Float32Array)
      : decodeScales(
          {
            codes: scales.data as Uint8Array,
            nested: readTensor(header, nf4Part.nestedAbsmax(name)).data as Float32Array,
            offset,
          },
          readTensor(header, nf4Part.nestedMap(name)).data as Float32Array,
        );
  return {
    shape,
    dtype: "uint8",
    read: (begin, end) =>
      decodeNf4(
        new Uint8Array(readTensorBytes(header, nf4Part.codes(name), begin / 2, end / 2)),
        absmax.subarray(begin / NF4_BLOCK, end / NF4_BLOCK),
      ),
  };
}
