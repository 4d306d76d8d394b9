import type { Emitter } from "./emit.js";
import type { Value } from "./types.js";

/**
 * NF4 (Dettmers et al. 2023, QLoRA): the 16 quantiles of a normal distribution scaled to [-1, 1], one absolute maximum
 * per block of 64 weights. Two weights per byte, the first in the high half, in bitsandbytes' order.
 */
export const NF4_CODE: Float32Array = Float32Array.of(
  ...[-1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635],
  ...[-0.18477343022823334, -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725],
  ...[0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1],
);

/** Weights per absolute maximum. */
export const NF4_BLOCK = 64;

/** Returns ONNX Runtime's attributes of a product with a matrix [N, K] in NF4: y [M, N] = x [M, K] W^T. */
export const bnb4Attributes = (n: number, k: number): Readonly<Record<string, number>> => ({
  K: k,
  N: n,
  block_size: NF4_BLOCK,
  quant_type: 1,
  transB: 1,
});

/** Decodes a matrix [rows, columns]: codes uint8 [rows * columns / 2], absmax float32 [rows * columns / 64, 1]. */
export function emitNf4Matrix(e: Emitter, codes: Value, absmax: Value, rows: number, columns: number): Value {
  // a byte is an index into a table of pairs: no shifts, and half as many lookups as weights
  const pairs = Array.from({ length: 256 }, (_, byte) => [NF4_CODE[byte >> 4], NF4_CODE[byte & 15]] as number[]);
  const table = e.g.constant("float32", [256, 2], pairs.flat());
  const units = e.reshape(e.gather(table, e.cast(codes, "int32")), [-1, NF4_BLOCK]);
  return e.reshape(e.mul(units, absmax), [rows, columns]);
}
