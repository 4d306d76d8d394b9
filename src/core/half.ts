/** Conversions of 16-bit floats, given as raw bits. */

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
