import type { GraphBuilder } from "./graph.js";
import { product } from "./shapes.js";
import { type Dim, DTYPE_CODE, type DType, type Value } from "./types.js";

/**
 * Short names for the ops of layers, losses and gradient rules. A number among the operands becomes a scalar constant
 * of the other operand's dtype.
 */
export class Emitter {
  constructor(readonly g: GraphBuilder) {}

  private pair(op: string, a: Value | number, b: Value | number): Value {
    const dtype = typeof a === "number" ? (b as Value).dtype : a.dtype;
    const value = (v: Value | number): Value => (typeof v === "number" ? this.g.scalar(v, dtype) : v);
    return this.g.op(op, [value(a), value(b)]);
  }

  add = (a: Value | number, b: Value | number): Value => this.pair("Add", a, b);
  sub = (a: Value | number, b: Value | number): Value => this.pair("Sub", a, b);
  mul = (a: Value | number, b: Value | number): Value => this.pair("Mul", a, b);
  div = (a: Value | number, b: Value | number): Value => this.pair("Div", a, b);
  max = (a: Value | number, b: Value | number): Value => this.pair("Max", a, b);
  min = (a: Value | number, b: Value | number): Value => this.pair("Min", a, b);
  greater = (a: Value | number, b: Value | number): Value => this.pair("Greater", a, b);
  greaterOrEqual = (a: Value | number, b: Value | number): Value => this.pair("GreaterOrEqual", a, b);
  less = (a: Value | number, b: Value | number): Value => this.pair("Less", a, b);
  lessOrEqual = (a: Value | number, b: Value | number): Value => this.pair("LessOrEqual", a, b);
  equal = (a: Value | number, b: Value | number): Value => this.pair("Equal", a, b);

  neg = (x: Value): Value => this.g.op("Neg", [x]);
  exp = (x: Value): Value => this.g.op("Exp", [x]);
  log = (x: Value): Value => this.g.op("Log", [x]);
  sqrt = (x: Value): Value => this.g.op("Sqrt", [x]);
  sin = (x: Value): Value => this.g.op("Sin", [x]);
  cos = (x: Value): Value => this.g.op("Cos", [x]);
  tanh = (x: Value): Value => this.g.op("Tanh", [x]);
  sigmoid = (x: Value): Value => this.g.op("Sigmoid", [x]);
  sign = (x: Value): Value => this.g.op("Sign", [x]);
  not = (x: Value): Value => this.g.op("Not", [x]);

  /** Returns x without a gradient. */
  stopGradient = (x: Value): Value => this.g.stopGradient(x);

  where = (condition: Value, a: Value, b: Value): Value => this.g.op("Where", [condition, a, b]);
  clip = (x: Value, low: number, high: number): Value =>
    this.g.op("Clip", [x, this.g.scalar(low, x.dtype), this.g.scalar(high, x.dtype)]);
  cast = (x: Value, dtype: DType): Value => (x.dtype === dtype ? x : this.g.op("Cast", [x], { to: DTYPE_CODE[dtype] }));
  /** 1 where the condition holds, else 0, in the wanted dtype. */
  indicator = (condition: Value, dtype: DType = "float32"): Value => this.cast(condition, dtype);

  matmul = (a: Value, b: Value): Value => this.g.op("MatMul", [a, b]);
  /** alpha * op(a) op(b) + c, all 2-D. */
  gemm(a: Value, b: Value, options: { transA?: boolean; transB?: boolean; alpha?: number; c?: Value } = {}): Value {
    const inputs = options.c === undefined ? [a, b] : [a, b, options.c];
    return this.g.op("Gemm", inputs, {
      ...(options.transA ? { transA: 1 } : {}),
      ...(options.transB ? { transB: 1 } : {}),
      ...(options.alpha === undefined || options.alpha === 1 ? {} : { alpha: options.alpha }),
    });
  }

  sum = (x: Value, axes: readonly number[], keep = true): Value =>
    this.g.op("ReduceSum", [x, this.g.ints(axes)], { keepdims: keep ? 1 : 0 });
  mean = (x: Value, axes: readonly number[], keep = true): Value =>
    this.g.op("ReduceMean", [x, this.g.ints(axes)], { keepdims: keep ? 1 : 0 });
  maxOver = (x: Value, axes: readonly number[], keep = true): Value =>
    this.g.op("ReduceMax", [x, this.g.ints(axes)], { keepdims: keep ? 1 : 0 });
  /** The sum of all elements, a scalar. */
  total = (x: Value): Value =>
    x.shape.length === 0
      ? x
      : this.sum(
          x,
          x.shape.map((_, i) => i),
          false,
        );

  /** Leaves a single open dimension to the runtime (-1), so that no shape is computed for it. */
  reshape = (x: Value, shape: readonly Dim[]): Value => {
    const open = shape.filter((d) => typeof d !== "number");
    const isOne = open.length === 1 && !shape.includes(-1) && !shape.includes(0);
    const target = isOne ? shape.map((d) => (typeof d === "number" ? d : -1)) : shape;
    return this.g.op("Reshape", [x, this.g.ints(target)]);
  };
  reshapeTo = (x: Value, shape: Value): Value => this.g.op("Reshape", [x, shape]);
  transpose = (x: Value, perm: readonly number[]): Value => this.g.op("Transpose", [x], { perm });
  /** Swaps the last two axes. */
  swap(x: Value): Value {
    const n = x.shape.length;
    return this.transpose(x, [...Array(n - 2).keys(), n - 1, n - 2]);
  }
  unsqueeze = (x: Value, axes: readonly number[]): Value => this.g.op("Unsqueeze", [x, this.g.ints(axes)]);
  squeeze = (x: Value, axes: readonly number[]): Value => this.g.op("Squeeze", [x, this.g.ints(axes)]);
  /** [x | 1] along an axis. */
  withOnes = (x: Value, axis: number): Value => {
    const shape = x.shape.map((d, i) => (i === axis ? 1 : d));
    return this.concat([x, this.expand(this.g.scalar(1, x.dtype), shape)], axis);
  };
  concat = (parts: readonly Value[], axis: number): Value => this.g.op("Concat", parts, { axis });
  slice = (x: Value, axis: number, start: number, end: number): Value =>
    this.g.op("Slice", [x, this.g.ints([start]), this.g.ints([end]), this.g.ints([axis])]);
  split = (x: Value, sizes: readonly number[], axis: number): Value[] =>
    this.g.node("Split", [x, this.g.ints(sizes)], { axis });
  expand = (x: Value, shape: readonly Dim[]): Value => this.g.op("Expand", [x, this.g.ints(shape)]);
  gather = (x: Value, indices: Value, axis = 0): Value => this.g.op("Gather", [x, indices], { axis });
  gatherElements = (x: Value, indices: Value, axis: number): Value =>
    this.g.op("GatherElements", [x, indices], { axis });
  zeros = (shape: readonly Dim[], dtype: DType): Value =>
    this.g.op("Expand", [this.g.scalar(0, dtype), this.g.ints(shape)]);

  softmax = (x: Value): Value => this.g.op("Softmax", [x], { axis: -1 });
  logSoftmax = (x: Value): Value => this.g.op("LogSoftmax", [x], { axis: -1 });

  /** Returns a dimension as a divisor. */
  count = (d: Dim, dtype: DType): Value | number =>
    typeof d === "number" ? d : this.cast(this.reshape(this.g.ints([d]), []), dtype);

  /** Mean over all elements, a scalar. */
  average = (x: Value): Value => this.div(this.total(x), this.count(product(x.shape), x.dtype));
}
