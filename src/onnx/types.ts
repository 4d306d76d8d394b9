/** The types of graphs and tensors that all layers of the program share. */

/** Array types of the dtypes: fp16 and bf16 are raw bits, bool is one byte per element. */
export const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
  int64: BigInt64Array,
  int32: Int32Array,
  int8: Int8Array,
  uint8: Uint8Array,
  uint32: Uint32Array,
  bool: Uint8Array,
} as const;
export type DType = keyof typeof ARRAYS;

export type TypedArray =
  | Float32Array
  | Float64Array
  | Uint16Array
  | BigInt64Array
  | Int32Array
  | Int8Array
  | Uint8Array
  | Uint32Array;

/** A dense tensor in row-major order. Plain data, so that it can be posted to a worker. */
export interface Tensor {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly data: TypedArray;
}

/** A dimension: a number, or the name of a symbol (`"B"`, `"N"`, `"B*N"`) where it is not yet bound. */
export type Dim = number | string;

/** A tensor in a graph, with its properties known before a run. */
export interface Value {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly Dim[];
  /** Known elements of a small integer tensor (shape arithmetic), row-major. */
  readonly content?: readonly Dim[];
}

export type Attribute = number | bigint | string | readonly number[] | readonly string[] | Tensor;

export interface Node {
  /** Path name, as `/model/layers.0/self_attn/q_proj/Gemm`: unique in the graph. */
  readonly name: string;
  readonly op: string;
  /** `""` is ai.onnx; `"com.microsoft"` is ONNX Runtime's own. */
  readonly domain: string;
  /** An omitted optional input is undefined. */
  readonly inputs: readonly (Value | undefined)[];
  readonly outputs: readonly Value[];
  /** INT attributes are `number` where written as integers; floats get a decimal by the op's schema (see proto). */
  readonly attributes: Readonly<Record<string, Attribute>>;
}

/** The place of a weight's bytes: in a file beside the model. Offsets are absolute in that file. */
export interface ExternalData {
  readonly file: string;
  readonly offset: number;
  readonly length: number;
  /** The places of the bytes, one behind the other, if they are not in one piece. */
  readonly parts?: readonly ExternalData[];
}

export interface Initializer {
  readonly value: Value;
  /** In memory, or in an external file. */
  readonly data: TypedArray | ExternalData;
}

/** A whole graph: nodes in topological order. */
export interface Graph {
  readonly name: string;
  readonly opset: number;
  readonly inputs: readonly Value[];
  readonly outputs: readonly Value[];
  readonly nodes: readonly Node[];
  readonly initializers: ReadonlyMap<string, Initializer>;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Tells whether a tensor's data is in another file. */
export function isExternal(data: TypedArray | ExternalData): data is ExternalData {
  return "file" in data;
}

/** Bytes of one element. */
export const BYTES = Object.fromEntries(
  Object.entries(ARRAYS).map(([dtype, { BYTES_PER_ELEMENT }]) => [dtype, BYTES_PER_ELEMENT]),
) as Readonly<Record<DType, number>>;

/** ONNX TensorProto.DataType codes of the dtypes in use. */
export const DTYPE_CODE: Readonly<Record<DType, number>> = {
  float32: 1,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  float64: 11,
  uint32: 12,
  bfloat16: 16,
};
/** Dtypes by their codes. */
export const DTYPE_OF_CODE: Readonly<Record<number, DType>> = Object.fromEntries(
  Object.entries(DTYPE_CODE).map(([k, v]) => [v, k as DType]),
);
