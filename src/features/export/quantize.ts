import { NF4_BLOCK, NF4_CODE } from "../../onnx/nf4.js";
import { dynamicMap, NESTED_BLOCK, type NestedScales } from "../../weights/quantize.js";

/** Midpoints between code i and code i + 1. */
const THRESHOLDS = midpoints(NF4_CODE);

function midpoints(code: Float32Array): Float32Array {
  return Float32Array.from({ length: code.length - 1 }, (_, i) => ((code[i] as number) + (code[i + 1] as number)) / 2);
}

/**
 * Quantises blocks of 64 weights to codes and absolute maxima: w ~ code * absmax.
 * @param weights whole blocks.
 * @param codes output [weights / 2]. @param absmax output [weights / 64].
 */
export function encodeNf4(weights: Float32Array, codes: Uint8Array, absmax: Float32Array): void {
  const t = THRESHOLDS;
  for (let block = 0; block < absmax.length; block++) {
    const start = block * NF4_BLOCK;
    let largest = 0;
    for (let i = start; i < start + NF4_BLOCK; i++) largest = Math.max(largest, Math.abs(weights[i] as number));
    absmax[block] = largest;
    // a block of zeros: any scale works, as 0 is a code
    const inverse = largest === 0 ? 0 : Math.fround(1 / largest);
    for (let i = start; i < start + NF4_BLOCK; i += 2) {
      let byte = 0;
      for (let j = i; j < i + 2; j++) {
        const x = Math.fround((weights[j] as number) * inverse);
        let c = x > (t[7] as number) ? 8 : 0;
        if (x > (t[c + 3] as number)) c += 4;
        if (x > (t[c + 1] as number)) c += 2;
        if (x > (t[c] as number)) c += 1;
        byte = (byte << 4) | c;
      }
      codes[i >> 1] = byte;
    }
  }
}

/** Double quantisation (QLoRA, section 3): subtracts the scales' mean, and quantises the rest in blocks of 256. */
export function encodeScales(absmax: Float32Array): NestedScales {
  const map = dynamicMap();
  const thresholds = midpoints(map);
  const offset = Math.fround(absmax.reduce((a, b) => a + b, 0) / absmax.length);
  const codes = new Uint8Array(absmax.length);
  const nested = new Float32Array(Math.ceil(absmax.length / NESTED_BLOCK));
  for (let group = 0; group < nested.length; group++) {
    const rest = absmax.subarray(group * NESTED_BLOCK, (group + 1) * NESTED_BLOCK).map((x) => x - offset);
    const largest = rest.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    nested[group] = largest;
    rest.forEach((x, i) => {
      const unit = largest === 0 ? 0 : x / largest;
      let [low, high] = [0, thresholds.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (unit > (thresholds[middle] as number)) low = middle + 1;
        else high = middle;
      }
      codes[group * NESTED_BLOCK + i] = low;
    });
  }
  return { codes, nested, offset };
}
