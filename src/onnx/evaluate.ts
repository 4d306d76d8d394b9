/**
 * Computes known tensors while a graph is built: the shape arithmetic of exporters, whatever operators and types it is
 * written in. An operator without a kernel here is left to the runtime.
 */
import { bfloat16ToFloat, float16ToFloat } from "./half.js";
import {
  type Inferred,
  inside,
  intAttribute,
  intsAttribute,
  knownInts,
  type OpCall,
  reducedAxes,
  sliceRange,
} from "./infer.js";
import { axisOf, isStatic, product, sizeOf } from "./shapes.js";
import { ARRAYS, type Dim, type DType, type Tensor, type TypedArray, type Value } from "./types.js";

/** Most elements of a known tensor, and of one with a single axis (a position for each token). */
const [MOST, LONGEST] = [4096, 2 ** 20];

const isSmall = (shape: readonly Dim[]): shape is readonly number[] => {
  const size = isStatic(shape) ? sizeOf(shape) : Number.POSITIVE_INFINITY;
  return size <= MOST || (size <= LONGEST && shape.includes(size));
};

/** Returns the elements of a small constant, fp16 and bf16 decoded; none of 8 bits, which are codes of packed weights. */
export function contentOf({ dtype, shape }: Pick<Value, "dtype" | "shape">, data: TypedArray): number[] | undefined {
  if (!isSmall(shape) || dtype === "uint8" || dtype === "int8") return undefined;
  if (dtype === "float16") return Array.from(float16ToFloat(data as Uint16Array));
  return Array.from(dtype === "bfloat16" ? bfloat16ToFloat(data as Uint16Array) : data, Number);
}

/** A known tensor: elements row-major; in integers a symbol may stand for an open size. */
interface Known {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly data: readonly Dim[];
}

type At = readonly number[];
/** Returns one element of an output. `at` is its place, `k` the index of the output. */
type Element = (at: At, k: number) => Dim;
/** Prepares a call's elements. @returns undefined where it is left to the runtime. */
type Kernel = (call: OpCall, inputs: readonly Known[], out: Inferred) => Element | undefined;

/** Returns the outputs of an operator with their elements, where all its inputs are known and there are few. */
export function evaluated(call: OpCall, outputs: readonly Inferred[]): readonly Inferred[] {
  const kernel = KERNELS[call.op];
  if (kernel === undefined || !outputs.every(({ shape }) => isSmall(shape))) return outputs;
  const inputs: Known[] = [];
  for (const value of call.inputs) {
    // only a shape is read of these
    const data = value?.content ?? (call.op === "Shape" || call.op === "Size" || value === undefined ? [] : undefined);
    if (data === undefined) return outputs;
    inputs.push({ dtype: value?.dtype ?? "float32", shape: (value?.shape ?? []) as readonly number[], data });
  }
  const element = kernel(call, inputs, outputs[0] as Inferred);
  if (element === undefined) return outputs;
  return outputs.map((output, k) => ({
    ...output,
    content: each(output.shape as readonly number[], (at) => element(at, k)),
  }));
}

/** Calls a function at every place of a shape, row-major. */
function each<T>(shape: readonly number[], element: (at: At) => T): T[] {
  const at = shape.map(() => 0);
  return Array.from({ length: sizeOf(shape) }, () => {
    const made = element(at);
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      at[axis] = (at[axis] as number) + 1;
      if ((at[axis] as number) < (shape[axis] as number)) break;
      at[axis] = 0;
    }
    return made;
  });
}

/** Returns the element of a tensor at a place of a shape that it broadcasts to. */
function take({ shape, data }: Known, at: At): Dim {
  const skipped = at.length - shape.length;
  return data[shape.reduce((sum, size, i) => sum * size + (size === 1 ? 0 : (at[i + skipped] as number)), 0)] as Dim;
}

const indexOf = (shape: readonly number[], at: At): number =>
  shape.reduce((sum, size, i) => sum * size + (at[i] as number), 0);

/** Converts a number to a type, as Cast does, and as its arithmetic rounds; undefined: a type without arithmetic here. */
function rounding(dtype: DType): ((x: number) => number) | undefined {
  if (dtype === "float32") return Math.fround;
  if (dtype === "float64") return (x) => x;
  if (dtype === "bool") return (x) => (x === 0 ? 0 : 1);
  if (dtype === "float16" || dtype === "bfloat16") return undefined;
  if (dtype === "int64") return Math.trunc;
  const cell = new ARRAYS[dtype](1) as Int32Array;
  return (x) => {
    cell[0] = Math.trunc(x);
    return cell[0] as number;
  };
}

const isSymbolic = (inputs: readonly Known[]): boolean =>
  inputs.some(({ data }) => data.some((x) => typeof x === "string"));

/** An operator that computes each element from those at the same place of its inputs. */
const pointwise =
  (f: (x: readonly number[], call: OpCall, of: DType) => number): Kernel =>
  (call, inputs, out) => {
    const round = rounding(out.dtype);
    const dtype = inputs[0]?.dtype as DType;
    if (round === undefined || rounding(dtype) === undefined || isSymbolic(inputs)) return undefined;
    return (at) =>
      round(
        f(
          inputs.map((x) => take(x, at) as number),
          call,
          dtype,
        ),
      );
  };
const unary = (f: (x: number) => number): Kernel => pointwise(([x]) => f(x as number));
const binary = (f: (a: number, b: number, isFloat: boolean, call: OpCall) => number): Kernel =>
  pointwise(([a, b], call, of) => f(a as number, b as number, of.startsWith("float"), call));
const test = (f: (a: number, b: number) => boolean): Kernel => binary((a, b) => Number(f(a, b)));

/** An operator that moves elements: `from` maps a place of the output to the index in the first input. */
const moved =
  (
    from: (
      call: OpCall,
      x: Known,
      out: Inferred,
      inputs: readonly Known[],
    ) => ((at: At, k: number) => number) | undefined,
  ): Kernel =>
  (call, inputs, out) => {
    const [x] = inputs as [Known];
    const place = from(call, x, out, inputs);
    return place && ((at, k) => x.data[place(at, k)] as Dim);
  };
/** The elements in their order. */
const kept = moved(
  (_, __, { shape }) =>
    (at) =>
      indexOf(shape as readonly number[], at),
);

/** A reduction of the elements along axes. */
const reduction =
  (f: (x: number[]) => number): Kernel =>
  (call, inputs, { dtype }) => {
    const [x] = inputs as [Known];
    const round = rounding(dtype);
    if (round === undefined || isSymbolic(inputs)) return undefined;
    const given = call.inputs[1] === undefined ? intsAttribute(call, "axes") : knownInts(call, 1);
    const axes = reducedAxes(x.shape.length, given, intAttribute(call, "noop_with_empty_axes", 0) === 1);
    const keep = intAttribute(call, "keepdims", 1) === 1;
    const inner = axes.map((axis) => x.shape[axis] as number);
    return (at) => {
      let next = 0;
      const outer = x.shape.map((_, i) => (axes.includes(i) ? 0 : (at[keep ? i : next++] as number)));
      const one = (inside: At): number => {
        const place = outer.map((o, i) => (axes.includes(i) ? (inside[axes.indexOf(i)] as number) : o));
        return x.data[indexOf(x.shape, place)] as number;
      };
      return round(f(each(inner, one)));
    };
  };
const sum = (x: readonly number[]): number => x.reduce((a, b) => a + b, 0);

/** op -> kernel. */
const KERNELS: Readonly<Record<string, Kernel>> = {
  ...{ Identity: kept, Reshape: kept, Squeeze: kept, Unsqueeze: kept, Flatten: kept },
  ...{ Abs: unary(Math.abs), Ceil: unary(Math.ceil), Floor: unary(Math.floor), Sign: unary(Math.sign) },
  ...{ Neg: unary((x) => -x), Not: unary((x) => 1 - x), Reciprocal: unary((x) => 1 / x) },
  ...{ Sqrt: unary(Math.sqrt), Exp: unary(Math.exp), Log: unary(Math.log), Sin: unary(Math.sin), Cos: unary(Math.cos) },
  ...{ IsNaN: unary((x) => Number(Number.isNaN(x))), Relu: unary((x) => Math.max(x, 0)) },
  // half to even
  Round: unary((x) => (x % 1 === 0.5 || x % 1 === -0.5 ? 2 * Math.round(x / 2) : Math.round(x))),
  ...{
    Add: binary((a, b) => a + b),
    Sub: binary((a, b) => a - b),
    Mul: binary((a, b) => a * b),
    Pow: binary((a, b) => a ** b),
  },
  Div: binary((a, b, isFloat) => (isFloat ? a / b : Math.trunc(a / b))),
  Mod: binary((a, b, _, call) => (intAttribute(call, "fmod", 0) === 1 ? a % b : ((a % b) + b) % b)),
  ...{ Max: pointwise((x) => Math.max(...x)), Min: pointwise((x) => Math.min(...x)), Sum: pointwise(sum) },
  ...{ And: test((a, b) => a !== 0 && b !== 0), Or: test((a, b) => a !== 0 || b !== 0), Xor: test((a, b) => a !== b) },
  ...{ Equal: test((a, b) => a === b), Greater: test((a, b) => a > b), GreaterOrEqual: test((a, b) => a >= b) },
  ...{ Less: test((a, b) => a < b), LessOrEqual: test((a, b) => a <= b) },
  Where: (_, [condition, a, b]) => {
    if (condition === undefined || isSymbolic([condition])) return undefined;
    return (at) => take((take(condition, at) !== 0 ? a : b) as Known, at);
  },
  Cast: (_, [x], { dtype }) => {
    const round = rounding(dtype);
    const from = x as Known;
    if (round === undefined || (isSymbolic([from]) && dtype !== "int64" && dtype !== "int32")) return undefined;
    return (at) => {
      const value = from.data[indexOf(from.shape, at)] as Dim;
      return typeof value === "string" ? value : round(value);
    };
  },
  ReduceSum: reduction(sum),
  ReduceMean: reduction((x) => sum(x) / x.length),
  ReduceMax: reduction((x) => Math.max(...x)),
  ReduceMin: reduction((x) => Math.min(...x)),
  ReduceProd: reduction((x) => x.reduce((a, b) => a * b, 1)),
  ReduceSumSquare: reduction((x) => sum(x.map((v) => v * v))),
  ReduceL2: reduction((x) => Math.hypot(...x)),
  Transpose: moved((call, { shape }) => {
    const perm = intsAttribute(call, "perm") ?? shape.map((_, i) => shape.length - 1 - i);
    return (at) =>
      indexOf(
        shape,
        shape.map((_, i) => at[perm.indexOf(i)] as number),
      );
  }),
  Expand:
    (_, [x]) =>
    (at) =>
      take(x as Known, at),
  Tile: moved(
    (_, { shape }) =>
      (at) =>
        indexOf(
          shape,
          shape.map((size, i) => (at[i] as number) % size),
        ),
  ),
  Slice: moved((call, { shape }) => {
    const [starts, ends, axes, steps] = [1, 2, 3, 4].map((i) => knownInts(call, i));
    const ranges = new Map(
      starts?.map((start, i) => {
        const axis = axisOf(axes?.[i] ?? i, shape.length);
        const step = steps?.[i] ?? 1;
        return [axis, { step, ...sliceRange(shape[axis] as number, start, ends?.[i] as number, step) }];
      }),
    );
    return (at) =>
      indexOf(
        shape,
        at.map((place, axis) => {
          const { first = 0, step = 1 } = ranges.get(axis) ?? {};
          return first + place * step;
        }),
      );
  }),
  Gather: moved((call, { shape }, _, [, indices]) => {
    if (indices === undefined || isSymbolic([indices])) return undefined;
    const axis = axisOf(intAttribute(call, "axis", 0), shape.length);
    const rank = indices.shape.length;
    return (at) => {
      const index = take(indices, at.slice(axis, axis + rank));
      return indexOf(shape, [
        ...at.slice(0, axis),
        inside(call, index, shape[axis] as number),
        ...at.slice(axis + rank),
      ]);
    };
  }),
  Split: moved((call, { shape }, out) => {
    const axis = axisOf(intAttribute(call, "axis", 0), shape.length);
    // all parts but the last have the first one's size, or their own in `split`
    const parts = knownInts(call, 1);
    const start = (k: number): number =>
      parts === undefined ? k * (out.shape[axis] as number) : sum(parts.slice(0, k));
    return (at, k) =>
      indexOf(
        shape,
        at.map((place, i) => (i === axis ? place + start(k) : place)),
      );
  }),
  Concat: (call, inputs, { shape }) => {
    const axis = axisOf(intAttribute(call, "axis", 0), shape.length);
    return (at) => {
      let place = at[axis] as number;
      const part = inputs.findIndex((x) => {
        const size = x.shape[axis] as number;
        if (place < size) return true;
        place -= size;
        return false;
      });
      const { shape, data } = inputs[part] as Known;
      return data[
        indexOf(
          shape,
          at.map((p, i) => (i === axis ? place : p)),
        )
      ] as Dim;
    };
  },
  Shape: (call) => {
    const { shape = [] } = call.inputs[0] ?? {};
    const dims = shape.slice(intAttribute(call, "start", 0), intAttribute(call, "end", shape.length));
    return ([i]) => dims[i as number] as Dim;
  },
  Size: (call) => () => product(call.inputs[0]?.shape ?? []),
  Range: (_, [start, , delta], { dtype }) => {
    const [first, step] = [start?.data[0] as number, delta?.data[0] as number];
    const round = rounding(dtype);
    return round && (([i]) => round(first + (i as number) * step));
  },
  Constant: ({ attributes }, _, { dtype, shape }) => {
    const [value] = Object.values(attributes);
    const list =
      typeof value === "object" && "data" in value
        ? contentOf({ dtype, shape }, value.data)
        : [value].flat().map(Number);
    return list && ((at) => list[indexOf(shape as readonly number[], at)] as number);
  },
  ConstantOfShape: ({ attributes }) => {
    const value = attributes.value as Tensor | undefined;
    const [fill] = value === undefined ? [0] : (contentOf(value, value.data) ?? []);
    return () => fill as number;
  },
};

/** The operators whose known results are computed here. */
export const FOLDED: ReadonlySet<string> = new Set(Object.keys(KERNELS));
