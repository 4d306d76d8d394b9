/**
 * Shape and dtype inference: the rules that rows of the table of operators (ops.ts) share. A graph may have symbolic
 * dimensions (model.onnx) or numbers only (every differentiated graph). evaluate.ts computes the elements of known
 * outputs.
 */
import { axisOf, broadcast, formatShape, product, quotient } from "./shapes.js";
import { type Attribute, type Dim, DTYPE_OF_CODE, type DType, type Tensor, type Value } from "./types.js";

export interface Inferred {
  readonly dtype: DType;
  readonly shape: readonly Dim[];
  readonly content?: readonly Dim[];
}

export interface OpCall {
  readonly op: string;
  readonly inputs: readonly (Value | undefined)[];
  readonly attributes: Readonly<Record<string, Attribute>>;
}

export type InferRule = (call: OpCall) => Inferred[];

/** Returns the i-th input. @throws Error where it is missing. */
export function required(call: OpCall, i: number): Value {
  const value = call.inputs[i];
  if (value === undefined) throw new Error(`${call.op} needs input ${i}`);
  return value;
}

/** Reads an integer attribute. */
export function intAttribute(call: OpCall, name: string, fallback: number): number {
  const v = call.attributes[name];
  if (v === undefined) return fallback;
  if (typeof v !== "number" && typeof v !== "bigint") throw new Error(`${call.op}.${name} must be a number`);
  return Number(v);
}

/** Reads an attribute that is a list of integers. */
export function intsAttribute(call: OpCall, name: string): readonly number[] | undefined {
  const v = call.attributes[name];
  if (v === undefined) return undefined;
  if (!Array.isArray(v)) throw new Error(`${call.op}.${name} must be a list of integers`);
  return v.map(Number);
}

/** Returns the known integers of input i (a shape, axes, indices), numbers only. */
export function knownInts(call: OpCall, i: number): readonly number[] | undefined {
  const content = call.inputs[i]?.content;
  if (content === undefined || !content.every((d) => typeof d === "number")) return undefined;
  return content as readonly number[];
}

/** Reads the value of an input. @throws Error where it is not known while the graph is built. */
export function mustKnow(call: OpCall, i: number, what: string): readonly number[] {
  const ints = knownInts(call, i);
  if (ints === undefined) throw new Error(`${call.op}: ${what} must be constant, got ${call.inputs[i]?.name}`);
  return ints;
}

export const same: InferRule = (call) => {
  const x = required(call, 0);
  return [{ dtype: x.dtype, shape: x.shape }];
};

/** Returns the shape to which all inputs broadcast. */
export function broadcastOf(call: OpCall): Dim[] {
  const values = call.inputs.filter((v) => v !== undefined);
  const shape = broadcast(...values.map((v) => v.shape));
  if (shape === undefined)
    throw new Error(`${call.op}: shapes ${values.map((v) => formatShape(v.shape)).join(" and ")} do not broadcast`);
  return shape;
}

/** Elementwise over broadcast inputs. */
export const elementwise =
  (dtype?: DType): InferRule =>
  (call) => {
    const shape = broadcastOf(call);
    const typed = required(call, call.op === "Where" ? 1 : 0);
    const other = call.inputs[call.op === "Where" ? 2 : 1];
    if (other !== undefined && other.dtype !== typed.dtype && call.op !== "Pow")
      throw new Error(`${call.op}: dtypes ${typed.dtype} and ${other.dtype} differ`);
    return [{ dtype: dtype ?? typed.dtype, shape }];
  };

/** Returns the axes, from 0, that a Reduce* op reduces: an empty list means all, unless `noop_with_empty_axes`. */
export function reducedAxes(rank: number, axes: readonly number[] | undefined, noop: boolean): readonly number[] {
  if (axes !== undefined && (axes.length > 0 || noop)) return axes.map((a) => axisOf(a, rank));
  return noop ? [] : [...Array(rank).keys()];
}

export const reduce: InferRule = (call) => {
  const x = required(call, 0);
  const axesIn = call.inputs[1] === undefined ? intsAttribute(call, "axes") : mustKnow(call, 1, "axes");
  const keep = intAttribute(call, "keepdims", 1) === 1;
  const axes = new Set(reducedAxes(x.shape.length, axesIn, intAttribute(call, "noop_with_empty_axes", 0) === 1));
  const shape = x.shape.flatMap((d, i) => (axes.has(i) ? (keep ? [1] : []) : [d]));
  return [{ dtype: x.dtype, shape }];
};

export const argReduce: InferRule = (call) => {
  const x = required(call, 0);
  const axis = axisOf(intAttribute(call, "axis", 0), x.shape.length);
  const keep = intAttribute(call, "keepdims", 1) === 1;
  return [{ dtype: "int64", shape: x.shape.flatMap((d, i) => (i === axis ? (keep ? [1] : []) : [d])) }];
};

export const matmul: InferRule = (call) => {
  const a = required(call, 0);
  const b = required(call, 1);
  if (a.shape.length < 2 || b.shape.length < 2) throw new Error("MatMul of vectors is not supported");
  const k = a.shape.at(-1);
  if (k !== b.shape.at(-2))
    throw new Error(`MatMul: inner dimensions differ: ${formatShape(a.shape)} x ${formatShape(b.shape)}`);
  const batch = broadcast(a.shape.slice(0, -2), b.shape.slice(0, -2));
  if (batch === undefined)
    throw new Error(`MatMul: batch dimensions differ: ${formatShape(a.shape)} x ${formatShape(b.shape)}`);
  return [{ dtype: a.dtype, shape: [...batch, a.shape.at(-2) as Dim, b.shape.at(-1) as Dim] }];
};

export const gemm: InferRule = (call) => {
  const a = required(call, 0);
  const b = required(call, 1);
  const [m, ka] = intAttribute(call, "transA", 0) ? [a.shape[1], a.shape[0]] : a.shape;
  const [kb, n] = intAttribute(call, "transB", 0) ? [b.shape[1], b.shape[0]] : b.shape;
  if (a.shape.length !== 2 || b.shape.length !== 2 || ka !== kb) {
    throw new Error(
      `Gemm: ${formatShape(a.shape)} and ${formatShape(b.shape)} do not multiply (transA, transB = ${intAttribute(call, "transA", 0)}, ${intAttribute(call, "transB", 0)})`,
    );
  }
  return [{ dtype: a.dtype, shape: [m as Dim, n as Dim] }];
};

export const reshape: InferRule = (call) => {
  const x = required(call, 0);
  const target = required(call, 1).content;
  if (target === undefined) throw new Error(`Reshape: the target shape ${required(call, 1).name} is not known`);
  const allowZero = intAttribute(call, "allowzero", 0) === 1;
  const shape: Dim[] = target.map((d, i) => (d === 0 && !allowZero ? (x.shape[i] as Dim) : d));
  const free = shape.indexOf(-1);
  const total = product(x.shape);
  if (free >= 0) {
    const rest = product(shape.filter((_, i) => i !== free));
    const d = quotient(total, rest);
    if (d === undefined) throw new Error(`Reshape: ${formatShape(x.shape)} does not fit ${formatShape(target)}`);
    shape[free] = d;
  } else if (product(shape) !== total) {
    throw new Error(`Reshape: ${formatShape(x.shape)} does not fit ${formatShape(target)}`);
  }
  return [{ dtype: x.dtype, shape }];
};

export const transpose: InferRule = (call) => {
  const x = required(call, 0);
  const perm = intsAttribute(call, "perm") ?? x.shape.map((_, i) => x.shape.length - 1 - i);
  if ([...perm].sort((a, b) => a - b).join() !== [...x.shape.keys()].join())
    throw new Error(`Transpose: perm [${perm.join(", ")}] is no order of the axes of ${formatShape(x.shape)}`);
  return [{ dtype: x.dtype, shape: perm.map((p) => x.shape[p] as Dim) }];
};

/** Returns an index counted from the start. @throws Error where it is outside: some runtimes read another row. */
export function inside(call: OpCall, index: Dim, size: number): number {
  const i = Number(index) < 0 ? Number(index) + size : Number(index);
  if (i >= 0 && i < size) return i;
  throw new Error(`${call.op}: index ${index} is outside the ${size} rows of ${call.inputs[0]?.name}`);
}

export const gather: InferRule = (call) => {
  const x = required(call, 0);
  const indices = required(call, 1);
  const axis = axisOf(intAttribute(call, "axis", 0), x.shape.length);
  const shape = [...x.shape.slice(0, axis), ...indices.shape, ...x.shape.slice(axis + 1)];
  const size = x.shape[axis];
  if (typeof size === "number") for (const index of knownInts(call, 1) ?? []) inside(call, index, size);
  return [{ dtype: x.dtype, shape }];
};

export const concat: InferRule = (call) => {
  const parts = call.inputs.map((_, i) => required(call, i));
  const first = required(call, 0);
  const axis = axisOf(intAttribute(call, "axis", 0), first.shape.length);
  let dim: Dim = 0;
  for (const part of parts) {
    const fits =
      part.shape.length === first.shape.length && part.shape.every((d, i) => i === axis || d === first.shape[i]);
    if (!fits)
      throw new Error(
        `Concat: shapes ${formatShape(first.shape)} and ${formatShape(part.shape)} differ beside axis ${axis}`,
      );
    const d = part.shape[axis] as Dim;
    if (typeof d === "number" && typeof dim === "number") dim += d;
    else dim = dim === 0 ? d : `(${dim}+${d})`;
  }
  const shape = first.shape.map((d, i) => (i === axis ? dim : d));
  return [{ dtype: first.dtype, shape }];
};

/** Returns the first index and the number of elements of a Slice along an axis (ONNX's clamping of starts and ends). */
export function sliceRange(size: number, start: number, end: number, step: number): { first: number; count: number } {
  const [low, high] = step > 0 ? [0, size] : [-1, size - 1];
  const clamp = (v: number, least: number): number => Math.max(least, Math.min(high, v < 0 ? v + size : v));
  const first = clamp(start, 0);
  return { first, count: Math.max(0, Math.ceil((clamp(end, low) - first) / step)) };
}

export const slice: InferRule = (call) => {
  const x = required(call, 0);
  const starts = mustKnow(call, 1, "starts");
  const ends = mustKnow(call, 2, "ends");
  const axes = call.inputs[3] ? mustKnow(call, 3, "axes") : starts.map((_, i) => i);
  const steps = call.inputs[4] ? mustKnow(call, 4, "steps") : starts.map(() => 1);
  const shape = [...x.shape];
  axes.forEach((rawAxis, i) => {
    const axis = axisOf(rawAxis, shape.length);
    const size = shape[axis] as Dim;
    const [start, end, step] = [starts[i] as number, ends[i] as number, steps[i] as number];
    if (typeof size !== "number") {
      if (start === 0 && end >= 2 ** 31 - 1 && step === 1) return;
      throw new Error(`Slice of the symbolic dimension ${size}`);
    }
    shape[axis] = sliceRange(size, start, end, step).count;
  });
  return [{ dtype: x.dtype, shape }];
};

/** Most parts of a Split, beyond any real model. */
const SPLIT_LIMIT = 4096;

export const split: InferRule = (call) => {
  const x = required(call, 0);
  const axis = axisOf(intAttribute(call, "axis", 0), x.shape.length);
  const size = x.shape[axis] as number;
  const count = intAttribute(call, "num_outputs", 2);
  if (!(count >= 1 && count <= SPLIT_LIMIT)) throw new Error(`Split into ${count} parts`);
  const parts = call.inputs[1]
    ? mustKnow(call, 1, "split")
    : Array.from({ length: count }, (_, i) => Math.min(Math.ceil(size / count), size - i * Math.ceil(size / count)));
  return parts.map((part) => ({ dtype: x.dtype, shape: x.shape.map((d, i) => (i === axis ? part : d)) }));
};

export const unsqueeze: InferRule = (call) => {
  const x = required(call, 0);
  const axesIn = call.inputs[1] ? mustKnow(call, 1, "axes") : (intsAttribute(call, "axes") ?? []);
  const rank = x.shape.length + axesIn.length;
  const axes = new Set(axesIn.map((a) => axisOf(a, rank)));
  const rest = [...x.shape];
  const shape = Array.from({ length: rank }, (_, i): Dim => (axes.has(i) ? 1 : (rest.shift() as Dim)));
  return [{ dtype: x.dtype, shape }];
};

export const squeeze: InferRule = (call) => {
  const x = required(call, 0);
  const given = call.inputs[1] ? mustKnow(call, 1, "axes") : intsAttribute(call, "axes");
  const axes = new Set(
    (given ?? x.shape.flatMap((d, i) => (d === 1 ? [i] : []))).map((a) => axisOf(a, x.shape.length)),
  );
  return [{ dtype: x.dtype, shape: x.shape.filter((_, i) => !axes.has(i)) }];
};

export const expand: InferRule = (call) => {
  const x = required(call, 0);
  const target = required(call, 1).content;
  if (target === undefined) throw new Error(`Expand: the target shape ${required(call, 1).name} is not known`);
  const shape = broadcast(x.shape, target);
  if (shape === undefined) throw new Error(`Expand: ${formatShape(x.shape)} does not fit ${formatShape(target)}`);
  return [{ dtype: x.dtype, shape }];
};

export const gatherND: InferRule = (call) => {
  const x = required(call, 0);
  const indices = required(call, 1);
  const depth = indices.shape.at(-1);
  if (intAttribute(call, "batch_dims", 0) !== 0) throw new Error("GatherND with batch_dims is not supported");
  if (typeof depth !== "number" || depth > x.shape.length)
    throw new Error(`GatherND: indices ${formatShape(indices.shape)} do not fit ${formatShape(x.shape)}`);
  return [{ dtype: x.dtype, shape: [...indices.shape.slice(0, -1), ...x.shape.slice(depth)] }];
};

export const oneHot: InferRule = (call) => {
  const indices = required(call, 0);
  const depth = mustKnow(call, 1, "depth")[0] as number;
  const axis = axisOf(intAttribute(call, "axis", -1), indices.shape.length + 1);
  return [
    { dtype: required(call, 2).dtype, shape: [...indices.shape.slice(0, axis), depth, ...indices.shape.slice(axis)] },
  ];
};

/** A constant as a node, in exporters' graphs. */
export const constant: InferRule = (call) => {
  const [[kind, value] = []] = Object.entries(call.attributes);
  const shape = Array.isArray(value) ? [value.length] : [];
  if (kind === "value_int" || kind === "value_ints") return [{ dtype: "int64", shape }];
  if (kind === "value_float" || kind === "value_floats") return [{ dtype: "float32", shape }];
  if (kind !== "value") throw new Error(`Constant with the attribute ${kind} is not supported`);
  const tensor = value as Tensor;
  return [{ dtype: tensor.dtype, shape: tensor.shape }];
};

export const cast: InferRule = (call) => {
  const x = required(call, 0);
  const dtype = DTYPE_OF_CODE[intAttribute(call, "to", 1)];
  if (dtype === undefined) throw new Error(`Cast to the unknown type ${intAttribute(call, "to", 1)}`);
  return [{ dtype, shape: x.shape }];
};

export const normalization =
  (statistics: number): InferRule =>
  (call) => {
    const x = required(call, 0);
    const axis = axisOf(intAttribute(call, "axis", -1), x.shape.length);
    const stat = x.shape.map((d, i) => (i < axis ? d : 1));
    return [
      { dtype: x.dtype, shape: x.shape },
      ...Array.from({ length: statistics }, (): Inferred => ({ dtype: "float32", shape: stat })),
    ];
  };

export const constantOfShape: InferRule = (call) => {
  const shape = required(call, 0).content;
  if (shape === undefined) throw new Error("ConstantOfShape: the shape is not known");
  const value = call.attributes.value as Tensor | undefined;
  return [{ dtype: value?.dtype ?? "float32", shape }];
};

/** Largest Range: a sequence has fewer positions, and a corrupt file must not cost more. */
const RANGE_LIMIT = 2 ** 20;

export const range: InferRule = (call) => {
  const [start] = mustKnow(call, 0, "start");
  const [limit] = mustKnow(call, 1, "limit");
  const [delta] = mustKnow(call, 2, "delta");
  const n = Math.max(0, Math.ceil(((limit as number) - (start as number)) / (delta as number)));
  if (!(n <= RANGE_LIMIT)) throw new Error(`Range from ${start} to ${limit} in steps of ${delta} is too long`);
  return [{ dtype: required(call, 0).dtype, shape: [n] }];
};
