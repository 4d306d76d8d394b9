import type { Dim, DType, Tensor } from "./types.js";

/** Tensors by the name of a graph input. */
export type NamedTensors = Readonly<Record<string, Tensor>>;

/** Input declarations of a part of a graph: dtypes and shapes, whose symbols are bound with the rest of the graph. */
export type InputSpecs = Readonly<Record<string, { readonly dtype: DType; readonly shape: readonly Dim[] }>>;

type Of<Data> = Tensor & { readonly data: Data };
export const f32 = (shape: readonly number[], data: Float32Array): Of<Float32Array> => ({
  dtype: "float32",
  shape,
  data,
});
export const i64 = (shape: readonly number[], data: BigInt64Array): Of<BigInt64Array> => ({
  dtype: "int64",
  shape,
  data,
});
export const i32 = (shape: readonly number[], data: Int32Array): Tensor => ({ dtype: "int32", shape, data });
export const scalar = (x: number): Tensor => f32([], Float32Array.of(x));

/** Wraps a flat array as a tensor of one dimension. */
export const vector = (data: Float32Array | BigInt64Array): Tensor =>
  data instanceof Float32Array ? f32([data.length], data) : i64([data.length], data);
