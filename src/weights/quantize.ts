import { NF4_BLOCK, NF4_CODE } from "../onnx/nf4.js";

/** The arithmetic of 4-bit weights, equal to bitsandbytes' on the same layout. */

/** Absolute maxima per second-level maximum. */
export const NESTED_BLOCK = 256;

/** Decodes weights from codes and absolute maxima, from a block boundary on. */
export function decodeNf4(codes: Uint8Array, absmax: Float32Array): Float32Array {
  const weights = new Float32Array(codes.length * 2);
  for (let i = 0; i < codes.length; i++) {
    const scale = absmax[((2 * i) / NF4_BLOCK) | 0] as number;
    const byte = codes[i] as number;
    weights[2 * i] = (NF4_CODE[byte >> 4] as number) * scale;
    weights[2 * i + 1] = (NF4_CODE[byte & 15] as number) * scale;
  }
  return weights;
}

/**
 * Returns the 256 values of bitsandbytes' signed dynamic 8-bit type (Dettmers 2015): seven decades with 1 to 64 values.
 */
export function dynamicMap(): Float32Array {
  const values = [0, 1];
  for (let decade = 0; decade < 7; decade++) {
    const count = 2 ** decade;
    for (let i = 0; i < count; i++) {
      const low = Math.fround(0.1 + (0.9 * i) / count);
      const high = Math.fround(0.1 + (0.9 * (i + 1)) / count);
      const value = 10 ** (decade - 6) * Math.fround((low + high) / 2);
      values.push(value, -value);
    }
  }
  return Float32Array.from(values).sort();
}

/** Absolute maxima in 8 bits: absmax ~ map[codes] * nested + offset. */
export interface NestedScales {
  readonly codes: Uint8Array;
  /** One per block of 256. */
  readonly nested: Float32Array;
  readonly offset: number;
}

/** Computes the scales of blocks from their own 8-bit codes. */
export function decodeScales({ codes, nested, offset }: NestedScales, map: Float32Array = dynamicMap()): Float32Array {
  return Float32Array.from(
    codes,
    (code, i) => Math.fround((map[code] as number) * (nested[Math.floor(i / NESTED_BLOCK)] as number)) + offset,
  );
}
