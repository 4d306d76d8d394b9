/** Conversions of 16-bit floats, given as raw bits; to them rounded to nearest, ties to even. */

export function bfloat16ToFloat(source: Uint16Array): Float32Array {
  const out = new Uint32Array(source.length);
  for (let i = 0; i < source.length; i++) out[i] = (source[i] as number) << 16;
  return new Float32Array(out.buffer);
}

/** All 65,536 values, computed on first use. */
let halves: Float32Array | undefined;

export function float16ToFloat(source: Uint16Array): Float32Array {
  halves ??= Float32Array.from({ length: 65536 }, (_, h) => halfValue(h));
  const out = new Float32Array(source.length);
  for (let i = 0; i < source.length; i++) out[i] = halves[source[i] as number] as number;
  return out;
}

function halfValue(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 31;
  const fraction = half & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

const oneFloat = new Float32Array(1);
const bits = new Uint32Array(oneFloat.buffer);

export function floatToBfloat16(source: Float32Array): Uint16Array {
  const from = new Uint32Array(source.buffer, source.byteOffset, source.length);
  const out = new Uint16Array(source.length);
  for (let i = 0; i < source.length; i++) {
    const b = from[i] as number;
    // NaN: rounding could carry into infinity
    out[i] = (b & 0x7fffffff) > 0x7f800000 ? (b >>> 16) | 0x40 : (b + 0x7fff + ((b >>> 16) & 1)) >>> 16;
  }
  return out;
}

/** Converts to float16; values beyond 65504 become infinite, as in IEEE 754. */
export function floatToFloat16(source: Float32Array): Uint16Array {
  return Uint16Array.from(source, halfBits);
}

function halfBits(value: number): number {
  oneFloat[0] = value;
  const b = bits[0] as number;
  const sign = (b >>> 16) & 0x8000;
  const magnitude = b & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  if (magnitude < 0x38800000) {
    // subnormal: a multiple of 2^-24; the scaled value is exact, so rounding it is rounding once
    const scaled = Math.abs(value) * 2 ** 24;
    const low = Math.floor(scaled);
    const rest = scaled - low;
    return sign | (low + (rest > 0.5 || (rest === 0.5 && low % 2 === 1) ? 1 : 0));
  }
  const rebased = magnitude - 0x38000000;
  return sign | ((rebased + 0xfff + ((rebased >>> 13) & 1)) >>> 13);
}
