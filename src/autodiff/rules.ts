/**
 * Gradients: one row an op. A rule gets the node and the gradient of its outputs and returns, for each input,
 * a thunk that emits the gradient (or null where an input has none: indices, shapes, bounds).
 * Un-broadcasting, accumulation, dead gradients and arity live in the walk (backward.ts), never here.
 */
import { UserError } from "../core/errors.js";
import { Emitter } from "../onnx/emit.js";
import type { GraphBuilder } from "../onnx/graph.js";
import { reducedAxes, sliceRange } from "../onnx/ops.js";
import { axisOf, sizeOf } from "../onnx/shapes.js";
import type { Node, Value } from "../onnx/types.js";

/** Emits a gradient. A fused thunk adds to `accumulated` itself (Gemm's C), the others are added by the walk. */
export interface Thunk {
  (accumulated?: Value): Value;
  readonly fused?: true;
}

export class RuleContext {
  readonly e: Emitter;
  constructor(
    readonly g: GraphBuilder,
    readonly node: Node,
    private readonly gradients: readonly (Value | undefined)[],
  ) {
    this.e = new Emitter(g);
  }

  x(i = 0): Value {
    const v = this.node.inputs[i];
    if (v === undefined) throw new Error(`${this.node.op} has no input ${i} (at ${this.node.name})`);
    return v;
  }

  y(i = 0): Value {
    return this.node.outputs[i] as Value;
  }

  /** The gradient of the first output. */
  get dy(): Value {
    return this.dyOf(0);
  }

  dyOf(i: number): Value {
    const given = this.gradients[i];
    if (given !== undefined) return given;
    const y = this.y(i);
    return this.e.zeros(y.shape, y.dtype);
  }

  int(name: string, fallback: number): number {
    const v = this.node.attributes[name];
    return v === undefined ? fallback : Number(v);
  }

  ints(input: number, attribute: string): readonly number[] | undefined {
    const content = this.node.inputs[input]?.content as readonly number[] | undefined;
    if (content !== undefined) return content;
    const v = this.node.attributes[attribute];
    return Array.isArray(v) ? (v as readonly number[]).map(Number) : undefined;
  }

  /** Ends the walk for a form of the op that has no rule. */
  refuse(form: string): never {
    throw new UserError(`No gradient rule for ${this.node.op} ${form} at ${this.node.name}.`, {
      hint: "Export the model without it, or extend the rule in src/autodiff/rules.ts.",
    });
  }

  /** For ops whose further outputs (statistics) have no gradient of their own. */
  firstOutputOnly(): void {
    if (this.gradients.slice(1).some((g) => g !== undefined)) this.refuse("through an output beside the first");
  }
}

export type Rule = (c: RuleContext) => readonly (Thunk | null)[];

const fused = (build: (accumulated?: Value) => Value): Thunk => Object.assign(build, { fused: true as const });

/** y = f(x), dx = dy * f'(x). */
const unary =
  (derivative: (c: RuleContext) => Value): Rule =>
  (c) => [() => c.e.mul(c.dy, derivative(c))];

/** Layout ops: the gradient has the input's shape again. */
const reshaped: Rule = (c) => [() => c.e.reshape(c.dy, c.x().shape as number[]), null];

function axesOf(c: RuleContext): readonly number[] {
  return reducedAxes(c.x().shape.length, c.ints(1, "axes"), c.int("noop_with_empty_axes", 0) === 1);
}

/** Puts back the axes that a reduction dropped. */
function keptShape(c: RuleContext, v: Value): Value {
  if (c.int("keepdims", 1) === 1) return v;
  const axes = axesOf(c);
  return c.e.reshape(
    v,
    c.x().shape.map((d, i) => (axes.includes(i) ? 1 : (d as number))),
  );
}

const extremum: Rule = (c) => [
  // ties share the gradient equally
  () => {
    const hit = c.e.indicator(c.e.equal(c.x(), keptShape(c, c.y())), c.x().dtype);
    return c.e.mul(hit, c.e.div(keptShape(c, c.dy), c.e.sum(hit, axesOf(c))));
  },
  null,
];

/** Max or Min of any number of inputs: the gradient goes to the first that holds the extremum. */
const selected: Rule = (c) =>
  c.node.inputs.map((_, i) => () => {
    let hit = c.e.equal(c.x(i), c.y());
    for (let j = 0; j < i; j++) hit = c.g.op("And", [hit, c.e.not(c.e.equal(c.x(j), c.y()))]);
    return c.e.mul(c.dy, c.e.indicator(hit, c.x(i).dtype));
  });

/** d/dx of Gelu, exact: Phi(x) + x phi(x); tanh form: by the chain rule. */
function geluDerivative(c: RuleContext): Value {
  const { e } = c;
  const x = c.x();
  if (c.node.attributes.approximate === "tanh") {
    const k = Math.sqrt(2 / Math.PI);
    const x2 = e.mul(x, x);
    const t = e.tanh(e.mul(e.mul(x, e.add(e.mul(x2, 0.044715), 1)), k));
    const inner = e.mul(e.add(e.mul(x2, 3 * 0.044715), 1), k);
    const left = e.mul(e.add(t, 1), 0.5);
    return e.add(left, e.mul(e.mul(e.mul(x, 0.5), e.sub(1, e.mul(t, t))), inner));
  }
  const cdf = e.mul(e.add(c.g.op("Erf", [e.mul(x, Math.SQRT1_2)]), 1), 0.5);
  const pdf = e.mul(e.exp(e.mul(e.mul(x, x), -0.5)), 1 / Math.sqrt(2 * Math.PI));
  return e.add(cdf, e.mul(x, pdf));
}

const gemm: Rule = (c) => {
  // Y = alpha A' B' + beta C; weights are multiplied as they lie, never transposed in memory
  const alpha = c.int("alpha", 1);
  const beta = c.int("beta", 1);
  const tA = c.int("transA", 0) === 1;
  const tB = c.int("transB", 0) === 1;
  const product = (a: Value, b: Value, transA: boolean, transB: boolean): Thunk =>
    fused((acc) => c.e.gemm(a, b, { transA, transB, alpha, ...(acc === undefined ? {} : { c: acc }) }));
  return [
    tA ? product(c.x(1), c.dy, tB, true) : product(c.dy, c.x(1), false, !tB),
    tB ? product(c.dy, c.x(0), true, tA) : product(c.x(0), c.dy, !tA, false),
    () => (beta === 1 ? c.dy : c.e.mul(c.dy, beta)),
  ];
};

const matmul: Rule = (c) => {
  const { e } = c;
  const [a, b] = [c.x(0), c.x(1)];
  if (b.shape.length === 2) {
    // a stack of rows times one matrix: two plain products, no transposed weight
    const rows = (v: Value): Value => e.reshape(v, [-1, v.shape.at(-1) as number]);
    return [
      () => e.reshape(e.gemm(rows(c.dy), b, { transB: true }), a.shape as number[]),
      fused((acc) => e.gemm(rows(a), rows(c.dy), { transA: true, ...(acc === undefined ? {} : { c: acc }) })),
    ];
  }
  return [() => e.matmul(c.dy, e.swap(b)), () => e.matmul(e.swap(a), c.dy)];
};

/** dx = (dy - sum(dy * y)) * y over the axis. */
const softmax: Rule = (c) => [
  () => {
    const axis = [c.int("axis", -1)];
    return c.e.mul(c.e.sub(c.dy, c.e.sum(c.e.mul(c.dy, c.y()), axis)), c.y());
  },
];

/** dx = dy - exp(y) * sum(dy) over the axis. */
const logSoftmax: Rule = (c) => [() => c.e.sub(c.dy, c.e.mul(c.e.exp(c.y()), c.e.sum(c.dy, [c.int("axis", -1)])))];

/** Adds the rows of dy into zeros of x's shape at the gathered places. */
const gather: Rule = (c) => [
  () => {
    const { e } = c;
    const [x, indices] = [c.x(0), c.x(1)];
    const axis = axisOf(c.int("axis", 0), x.shape.length);
    const shape = x.shape as number[];
    const n = sizeOf(indices.shape);
    if (axis !== 0) {
      const place =
        indices.shape.length === 0
          ? e.unsqueeze(c.dy, [axis])
          : e.reshape(c.dy, [...shape.slice(0, axis), n, ...shape.slice(axis + 1)]);
      const index = e.expand(
        e.reshape(
          indices,
          shape.map((_, i) => (i === axis ? n : 1)),
        ),
        place.shape as number[],
      );
      return c.g.op("ScatterElements", [e.zeros(shape, x.dtype), index, place], { axis, reduction: "add" });
    }
    const rows = e.reshape(c.dy, [n, ...shape.slice(1)]);
    // ScatterND takes int64 only, Gather int32 too
    return c.g.op("ScatterND", [e.zeros(shape, x.dtype), e.cast(e.reshape(indices, [n, 1]), "int64"), rows], {
      reduction: "add",
    });
  },
  null,
];

/** The axes that a normalisation's statistics are taken over. */
function normalizedAxes(c: RuleContext): readonly number[] {
  const rank = c.x().shape.length;
  return [...Array(rank).keys()].slice(axisOf(c.int("axis", -1), rank));
}

/** 1 / sqrt(mean(v^2) + eps) from the forward pass, or again where the graph does not save it. */
function inverseDeviation(c: RuleContext, saved: Value | undefined, v: Value): Value {
  const { e } = c;
  if (saved !== undefined) return e.cast(saved, v.dtype);
  return c.g.op("Reciprocal", [e.sqrt(e.add(e.mean(e.mul(v, v), normalizedAxes(c)), c.int("epsilon", 1e-5)))]);
}

const simplifiedLayerNormalization: Rule = (c) => {
  // y = x * inv * w with inv = 1 / sqrt(mean(x^2) + eps)
  c.firstOutputOnly();
  const { e } = c;
  const [x, w] = [c.x(0), c.x(1)];
  const axes = normalizedAxes(c);
  const inv = inverseDeviation(c, c.node.outputs[1], x);
  const normalized = (): Value => e.mul(x, inv);
  return [
    () => {
      const g = e.mul(c.dy, w);
      const n = normalized();
      return e.mul(e.sub(g, e.mul(n, e.mean(e.mul(g, n), axes))), inv);
    },
    () => e.mul(c.dy, normalized()),
  ];
};

const layerNormalization: Rule = (c) => {
  c.firstOutputOnly();
  const { e } = c;
  const [x, w] = [c.x(0), c.x(1)];
  const axes = normalizedAxes(c);
  const mean = c.node.outputs[1];
  const centered = (): Value => e.sub(x, mean === undefined ? e.mean(x, axes) : e.cast(mean, x.dtype));
  const normalized = (): Value => e.mul(centered(), inverseDeviation(c, c.node.outputs[2], centered()));
  return [
    () => {
      const g = e.mul(c.dy, w);
      const n = normalized();
      const inv = inverseDeviation(c, c.node.outputs[2], centered());
      return e.mul(e.sub(e.sub(g, e.mean(g, axes)), e.mul(n, e.mean(e.mul(g, n), axes))), inv);
    },
    () => e.mul(c.dy, normalized()),
    () => c.dy,
  ];
};

/** `part` is every `step`-th of `size` places of an axis, from `first` on: zeros in the others. */
function padded(c: RuleContext, part: Value, axis: number, size: number, first: number, step: number): Value {
  const { e } = c;
  const n = part.shape[axis] as number;
  const sized = (d: number): number[] => part.shape.map((own, i) => (i === axis ? d : (own as number)));
  if (step === 1) {
    const around = (d: number): Value[] => (d === 0 ? [] : [e.zeros(sized(d), part.dtype)]);
    return e.concat([...around(first), part, ...around(size - first - n)], axis);
  }
  const index = e.reshape(
    c.g.ints(Array.from({ length: n }, (_, i) => first + i * step)),
    part.shape.map((_, i) => (i === axis ? n : 1)),
  );
  return c.g.op("ScatterElements", [e.zeros(sized(size), part.dtype), e.expand(index, part.shape as number[]), part], {
    axis,
  });
}

const slice: Rule = (c) => [
  () => {
    const shape = c.x().shape as number[];
    const starts = c.ints(1, "starts") as readonly number[];
    const ends = c.ints(2, "ends") as readonly number[];
    const axes = c.ints(3, "axes") ?? starts.map((_, i) => i);
    const steps = c.ints(4, "steps") ?? starts.map(() => 1);
    return axes.reduce((part, raw, i) => {
      const axis = axisOf(raw, shape.length);
      const size = shape[axis] as number;
      const step = steps[i] as number;
      return padded(c, part, axis, size, sliceRange(size, starts[i] as number, ends[i] as number, step).first, step);
    }, c.dy);
  },
  null,
  null,
  null,
  null,
];

/** Writing or adding into places of x: `take` reads the same places. */
const scatter =
  (take: (c: RuleContext) => Value): Rule =>
  (c) => {
    const reduction = c.node.attributes.reduction ?? "none";
    if (reduction !== "add" && reduction !== "none") c.refuse(`with reduction ${reduction}`);
    return [
      // without reduction, what was overwritten has no influence
      () =>
        reduction === "add"
          ? c.dy
          : c.g.op(c.node.op, [c.dy, c.x(1), c.e.zeros(c.x(2).shape, c.dy.dtype)], c.node.attributes),
      null,
      () => take(c),
    ];
  };

/** op -> rule. Each row has a finite-difference case in test/autodiff/cases.ts; a row without one fails the tests. */
export const RULES: Readonly<Record<string, Rule>> = {
  // arithmetic
  Add: (c) => [() => c.dy, () => c.dy],
  Sub: (c) => [() => c.dy, () => c.e.neg(c.dy)],
  Mul: (c) => [() => c.e.mul(c.dy, c.x(1)), () => c.e.mul(c.dy, c.x(0))],
  Div: (c) => [() => c.e.div(c.dy, c.x(1)), () => c.e.neg(c.e.div(c.e.mul(c.dy, c.y()), c.x(1)))],
  // d(x^p) = p x^(p-1) dx; the exponent is a constant in every graph we know
  Pow: (c) => [
    () => {
      const p = c.e.cast(c.x(1), c.x(0).dtype);
      return c.e.mul(c.dy, c.e.mul(p, c.g.op("Pow", [c.x(0), c.e.sub(p, 1)])));
    },
    null,
  ],
  Sum: (c) => c.node.inputs.map(() => () => c.dy),
  Max: selected,
  Min: selected,
  Neg: (c) => [() => c.e.neg(c.dy)],
  Abs: unary((c) => c.e.sign(c.x())),
  Reciprocal: unary((c) => c.e.neg(c.e.mul(c.y(), c.y()))),
  Sqrt: (c) => [() => c.e.div(c.e.mul(c.dy, 0.5), c.y())],
  Exp: unary((c) => c.y()),
  Log: (c) => [() => c.e.div(c.dy, c.x())],
  Sin: unary((c) => c.e.cos(c.x())),
  Cos: unary((c) => c.e.neg(c.e.sin(c.x()))),
  Identity: (c) => [() => c.dy],
  Cast: (c) => [() => c.e.cast(c.dy, c.x().dtype)],
  Clip: (c) => [
    // inside the bounds only; a bound itself counts as inside
    () => {
      let inside: Value | undefined;
      if (c.node.inputs[1] !== undefined) inside = c.e.greaterOrEqual(c.x(), c.x(1));
      if (c.node.inputs[2] !== undefined) {
        const below = c.e.lessOrEqual(c.x(), c.x(2));
        inside = inside === undefined ? below : c.g.op("And", [inside, below]);
      }
      return inside === undefined ? c.dy : c.e.mul(c.dy, c.e.indicator(inside, c.x().dtype));
    },
    null,
    null,
  ],
  Where: (c) => {
    const zero = (): Value => c.g.scalar(0, c.dy.dtype);
    return [null, () => c.e.where(c.x(0), c.dy, zero()), () => c.e.where(c.x(0), zero(), c.dy)];
  },
  // activations
  Sigmoid: unary((c) => c.e.mul(c.y(), c.e.sub(1, c.y()))),
  Tanh: unary((c) => c.e.sub(1, c.e.mul(c.y(), c.y()))),
  Relu: unary((c) => c.e.indicator(c.e.greater(c.x(), 0), c.x().dtype)),
  Softplus: unary((c) => c.e.sigmoid(c.x())),
  Erf: unary((c) => c.e.mul(c.e.exp(c.e.neg(c.e.mul(c.x(), c.x()))), 2 / Math.sqrt(Math.PI))),
  Gelu: unary(geluDerivative),
  Softmax: softmax,
  LogSoftmax: logSoftmax,
  // along an axis: sums from here on become sums up to here
  CumSum: (c) => [
    () => c.g.op("CumSum", [c.dy, c.x(1)], { ...c.node.attributes, reverse: 1 - c.int("reverse", 0) }),
    null,
  ],
  Trilu: (c) => [() => c.g.op("Trilu", [c.dy, ...c.node.inputs.slice(1)], c.node.attributes), null],
  // products
  Gemm: gemm,
  MatMul: matmul,
  // reductions
  ReduceSum: (c) => [() => c.e.expand(keptShape(c, c.dy), c.x().shape as number[]), null],
  ReduceMean: (c) => [
    () => {
      const count = sizeOf(c.x().shape) / sizeOf(c.y().shape);
      return c.e.expand(keptShape(c, c.e.div(c.dy, count)), c.x().shape as number[]);
    },
    null,
  ],
  ReduceSumSquare: (c) => [() => c.e.mul(c.e.mul(c.x(), 2), keptShape(c, c.dy)), null],
  ReduceL2: (c) => [() => c.e.mul(c.x(), keptShape(c, c.e.div(c.dy, c.y()))), null],
  ReduceMax: extremum,
  ReduceMin: extremum,
  // layout
  Reshape: reshaped,
  Flatten: reshaped,
  Squeeze: reshaped,
  Unsqueeze: reshaped,
  Transpose: (c) => {
    const rank = c.x().shape.length;
    const perm = c.ints(-1, "perm") ?? [...Array(rank).keys()].reverse();
    return [
      () =>
        c.e.transpose(
          c.dy,
          perm.map((_, i) => perm.indexOf(i)),
        ),
    ];
  },
  // the walk sums what was broadcast
  Expand: (c) => [() => c.dy, null],
  Concat: (c) => {
    const axis = axisOf(c.int("axis", 0), c.y().shape.length);
    let start = 0;
    return c.node.inputs.map((_, i) => {
      const from = start;
      start += c.x(i).shape[axis] as number;
      const to = start;
      return () => c.e.slice(c.dy, axis, from, to);
    });
  },
  Split: (c) => [
    () =>
      c.e.concat(
        c.node.outputs.map((_, i) => c.dyOf(i)),
        axisOf(c.int("axis", 0), c.x().shape.length),
      ),
    null,
  ],
  Slice: slice,
  // indexing
  Gather: gather,
  GatherElements: (c) => [
    () =>
      c.g.op("ScatterElements", [c.e.zeros(c.x().shape, c.x().dtype), c.x(1), c.dy], {
        axis: c.int("axis", 0),
        reduction: "add",
      }),
    null,
  ],
  GatherND: (c) => [
    () => c.g.op("ScatterND", [c.e.zeros(c.x().shape, c.x().dtype), c.x(1), c.dy], { reduction: "add" }),
    null,
  ],
  ScatterElements: scatter((c) => c.e.gatherElements(c.dy, c.x(1), c.int("axis", 0))),
  ScatterND: scatter((c) => c.g.op("GatherND", [c.dy, c.x(1)])),
  // normalisation
  SimplifiedLayerNormalization: simplifiedLayerNormalization,
  LayerNormalization: layerNormalization,
};

/** Ops through which no gradient flows, because their outputs are integers, booleans or piecewise constant. */
export const NO_GRADIENT: ReadonlySet<string> = new Set([
  "ArgMax",
  "ArgMin",
  "Constant",
  "Shape",
  "Range",
  "ConstantOfShape",
  "OneHot",
  "Equal",
  "Greater",
  "GreaterOrEqual",
  "Less",
  "LessOrEqual",
  "And",
  "Or",
  "Not",
  "IsNaN",
  "IsInf",
  "Floor",
  "Ceil",
  "Round",
  "Sign",
]);
