import { bfloat16ToFloat, float16ToFloat } from "../../../onnx/half.js";
import type { DType } from "../../../onnx/types.js";

/** A tensor format of GGUF: blocks of `values` values in `bytes` bytes. */
interface BlockFormat {
  readonly name: string;
  /** Element type in safetensors that holds it without loss; uint8: there is none. */
  readonly dtype: DType;
  /** Number of values in a block. */
  readonly values: number;
  /** Size of a block in bytes. */
  readonly bytes: number;
  /** Decodes whole blocks. */
  decode(bytes: Uint8Array<ArrayBuffer>): Float32Array;
}

const scale = (bytes: Uint8Array<ArrayBuffer>, at: number): number =>
  float16ToFloat(Uint16Array.of((bytes[at] as number) | ((bytes[at + 1] as number) << 8)))[0] as number;

/** Makes a format of 16-bit values. */
function halves(toFloat: (source: Uint16Array) => Float32Array) {
  return { values: 1, bytes: 2, decode: (bytes: Uint8Array<ArrayBuffer>) => toFloat(new Uint16Array(bytes.buffer)) };
}

/** Makes a format of blocks of 32 values (ggml-quants.c): a scale, in some formats a minimum, and codes. */
function blocks(bytesOf: number, decode: (block: Uint8Array<ArrayBuffer>, out: Float32Array) => void) {
  return {
    dtype: "uint8" as const,
    values: 32,
    bytes: bytesOf,
    decode(bytes: Uint8Array<ArrayBuffer>): Float32Array {
      const out = new Float32Array((bytes.length / bytesOf) * 32);
      for (let block = 0; block * bytesOf < bytes.length; block++)
        decode(bytes.subarray(block * bytesOf, (block + 1) * bytesOf), out.subarray(block * 32, (block + 1) * 32));
      return out;
    },
  };
}

/** Decodes 4-bit codes: the low halves of 16 bytes are values 0 to 15, the high halves 16 to 31. */
function fourBits(codes: Uint8Array, out: Float32Array, value: (code: number) => number): void {
  for (let i = 0; i < 16; i++) {
    out[i] = value((codes[i] as number) & 15);
    out[i + 16] = value((codes[i] as number) >> 4);
  }
}

/** Formats by their number in the file (ggml_type). */
export const BLOCK_FORMATS: Readonly<Record<number, BlockFormat>> = {
  0: { name: "F32", dtype: "float32", values: 1, bytes: 4, decode: (bytes) => new Float32Array(bytes.buffer) },
  1: { name: "F16", dtype: "float16", ...halves(float16ToFloat) },
  30: { name: "BF16", dtype: "bfloat16", ...halves(bfloat16ToFloat) },
  2: {
    name: "Q4_0",
    // d (q - 8)
    ...blocks(18, (block, out) => {
      const d = scale(block, 0);
      fourBits(block.subarray(2), out, (code) => d * (code - 8));
    }),
  },
  3: {
    name: "Q4_1",
    // d q + m
    ...blocks(20, (block, out) => {
      const [d, m] = [scale(block, 0), scale(block, 2)];
      fourBits(block.subarray(4), out, (code) => d * code + m);
    }),
  },
  8: {
    name: "Q8_0",
    // d q
    ...blocks(34, (block, out) => {
      const d = scale(block, 0);
      for (let i = 0; i < 32; i++) out[i] = d * (((block[2 + i] as number) << 24) >> 24);
    }),
  },
};
