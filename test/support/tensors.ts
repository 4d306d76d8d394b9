import { sizeOf } from "../../src/onnx/shapes.js";
import type { Tensor } from "../../src/onnx/types.js";

/** Makes a float32 tensor of these numbers, in row-major order. */
export const f32 = (shape: readonly number[], ...numbers: number[]): Tensor => floatsOf(shape, (i) => numbers[i]);

/** Makes a float32 tensor whose i-th number, in row-major order, is `of(i)`. */
export function floatsOf(shape: readonly number[], of: (i: number) => number | undefined): Tensor {
  return { dtype: "float32", shape, data: Float32Array.from({ length: sizeOf(shape) }, (_, i) => of(i) as number) };
}

/** Makes an int64 tensor whose i-th number, in row-major order, is `of(i)`. */
export function intsOf(shape: readonly number[], of: (i: number) => number | undefined): Tensor {
  return { dtype: "int64", shape, data: BigInt64Array.from({ length: sizeOf(shape) }, (_, i) => BigInt(of(i) ?? 0)) };
}
