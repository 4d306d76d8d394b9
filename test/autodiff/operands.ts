import type { Rng } from "../../src/core/rng.js";
import { typedArray } from "../../src/onnx/graph.js";
import { sizeOf } from "../../src/onnx/shapes.js";
import type { Attribute, DType, Tensor } from "../../src/onnx/types.js";

/** How the cases of cases.ts and of test/onnx/ops.test.ts are written. */

/** Numbers in row-major order, uniform in a range, or a shuffled grid with this distance between any two. */
export type Values = readonly number[] | { low: number; high: number } | { apart: number; shift: number };

export interface Operand {
  /** `wrt` is differentiated, `fixed` is a graph input that is not, `constant` an initializer. */
  readonly role: "wrt" | "fixed" | "constant";
  readonly shape: readonly number[];
  readonly values: Values;
  /** `float` is float64 or float32, as the case runs. */
  readonly dtype: DType | "float";
}

export interface OpCase {
  readonly title: string;
  readonly inputs: readonly (Operand | undefined)[];
  readonly attributes: Readonly<Record<string, Attribute>>;
  /** Only the first outputs enter the loss; default all of a float type. */
  readonly outputs?: number;
  /** Keeps only the first outputs of the node, as a graph that does not save the others. */
  readonly keep?: number;
  /** Why the case runs in float32: KERNEL (checked), or that its types are the point. */
  readonly float32?: string;
}

/** ONNX Runtime's CPU provider has no float64 kernel for the op. */
export const KERNEL = "no float64 kernel";
/** Of a case that runs in float32 for this reason. */
export const IN_FLOAT32: Partial<OpCase> = { float32: KERNEL };

export const DEFAULT: Values = { low: -2, high: 2 };
export const POSITIVE: Values = { low: 0.4, high: 2 };
/** Odd multiples of half a step: never 0, never two the same. */
export const apart = (step: number, shift = 0): Values => ({ apart: step, shift });

export const v = (shape: readonly number[], values: Values = DEFAULT): Operand => {
  return { role: "wrt", shape, values, dtype: "float" };
};
export const fixed = (...given: Parameters<typeof v>): Operand => ({ ...v(...given), role: "fixed" });
export const constant = (shape: readonly number[], values: readonly number[], dtype: Operand["dtype"]): Operand => {
  return { role: "constant", shape, values, dtype };
};
export const scalar = (x: number): Operand => constant([], [x], "float");
export const ints = (...values: number[]): Operand => constant([values.length], values, "int64");
export const int = (x: number): Operand => constant([], [x], "int64");
export const index = (shape: readonly number[], values: readonly number[], dtype: DType = "int64"): Operand => {
  return { role: "fixed", shape, values, dtype };
};
export const bools = (shape: readonly number[], values: readonly number[]): Operand => index(shape, values, "bool");

type Inputs = readonly (Operand | undefined)[];
type Attributes = Readonly<Record<string, Attribute>>;

export const c = (title: string, inputs: Inputs, attributes: Attributes = {}, extra: Partial<OpCase> = {}): OpCase => {
  return { title, inputs, attributes, ...extra };
};

function numbers(values: Values, n: number, rng: Rng): number[] {
  if ("low" in values) return Array.from({ length: n }, () => values.low + (values.high - values.low) * rng.uniform());
  if (!("apart" in values)) return [...values];
  const grid = Array.from({ length: n }, (_, i) => (i - Math.floor(n / 2) + 0.5) * values.apart + values.shift);
  return rng.shuffle(grid);
}

/** The tensor of an operand. */
export function draw({ dtype, shape, values }: Operand, float: DType, rng: Rng): Tensor {
  const own = dtype === "float" ? float : dtype;
  return { dtype: own, shape, data: typedArray(own, numbers(values, sizeOf(shape), rng)) };
}
