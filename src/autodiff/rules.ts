/**
 * Gradient rules: one row per op. A rule gets the node and the gradients of its outputs and returns, for each input, a
 * thunk that emits the gradient (or null where an input has none: indices, shapes, bounds). Un-broadcasting,
 * accumulation, dead gradients and arity belong to the walk (backward.ts), never to a rule.
 */
import { reducedAxes } from "../onnx/infer.js";
import { emitNf4Matrix, NF4_BLOCK } from "../onnx/nf4.js";
import type { OpName } from "../onnx/ops.js";
import { delayed } from "../onnx/passes/delayed.js";
import { axisOf, product } from "../onnx/shapes.js";
import type { Dim, Value } from "../onnx/types.js";
import { attentionOf } from "./attention.js";
import { conv, pad } from "./convolution.js";
import { gather, scatter, slice } from "./indexing.js";
import { layerNormalization, simplifiedLayerNormalization } from "./normalization.js";
import { fused, gradientOf, type Rule, type RuleContext, type Thunk } from "./rule.js";

/** y = f(x), dx = dy * f'(x). */
const unary =
  (derivative: (c: RuleContext) => Value): Rule =>
  (c) => [() => c.e.mul(c.dy, derivative(c))];

const one = (c: RuleContext): Value => c.g.scalar(1, c.x().dtype);

/** Gradient of a layout op: dy in the input's shape. */
const reshaped: Rule = (c) => [() => c.e.reshape(c.dy, c.x().shape), null];

const axesOf = (c: RuleContext): readonly number[] =>
  reducedAxes(c.x().shape.length, c.ints(1, "axes"), c.int("noop_with_empty_axes", 0) === 1);

/** Restores the axes that a reduction dropped. */
function keptShape(c: RuleContext, v: Value): Value {
  if (c.int("keepdims", 1) === 1) return v;
  const axes = axesOf(c);
  return c.e.reshape(
    v,
    c.x().shape.map((d, i) => (axes.includes(i) ? 1 : d)),
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
    const half = e.mul(e.add(t, 1), 0.5);
    return e.add(half, e.mul(e.mul(e.mul(x, 0.5), e.sub(1, e.mul(t, t))), inner));
  }
  const cdf = e.mul(e.add(c.g.op("Erf", [e.mul(x, Math.SQRT1_2)]), 1), 0.5);
  const pdf = e.mul(e.exp(e.mul(e.mul(x, x), -0.5)), 1 / Math.sqrt(2 * Math.PI));
  return e.add(cdf, e.mul(x, pdf));
}

const gemm: Rule = (c) => {
  // Y = alpha A' B' + beta C; weights are multiplied in their own layout, never transposed in memory
  const alpha = c.int("alpha", 1);
  const beta = c.int("beta", 1);
  const tA = c.int("transA", 0) === 1;
  const tB = c.int("transB", 0) === 1;
  const product = (operands: () => [a: Value, b: Value], transA: boolean, transB: boolean): Thunk =>
    fused((acc) => c.e.gemm(...operands(), { transA, transB, alpha, ...(acc === undefined ? {} : { c: acc }) }));
  return [
    tA ? product(() => [c.rematerialized(1), c.dy], tB, true) : product(() => [c.dy, c.rematerialized(1)], false, !tB),
    tB ? (narrowWeight(c) ?? product(() => [c.dy, c.x(0)], true, tA)) : product(() => [c.x(0), c.dy], !tA, false),
    () => (beta === 1 ? c.dy : c.e.mul(c.dy, beta)),
  ];
};

/** Most columns of x for which the product takes them as its rows. */
const NARROW = 8;

/**
 * dW = alpha dY^T X of Y = alpha X W^T with few columns in X, as LoRA's B has: (X^T dY)^T uses the vector registers
 * better than dY^T X.
 */
function narrowWeight(c: RuleContext): Thunk | undefined {
  const { e } = c;
  if (c.int("transA", 0) === 1 || (c.x(0).shape[1] as number) > NARROW) return undefined;
  // ONNX Runtime would turn a Gemm here back into dY^T X
  return () => {
    const alpha = c.int("alpha", 1);
    const product = e.swap(e.matmul(e.swap(c.x(0)), c.dy));
    return alpha === 1 ? product : e.mul(product, alpha);
  };
}

const matmul: Rule = (c) => {
  const { e } = c;
  const [a, b] = [c.x(0), c.x(1)];
  if (b.shape.length === 2) {
    // a stack of rows times one matrix: two plain products, no transposed weight
    const rows = (v: Value): Value => e.reshape(v, [-1, v.shape.at(-1) as number]);
    return [
      () => e.reshape(e.gemm(rows(c.dy), c.rematerialized(1), { transB: true }), a.shape),
      fused((acc) => e.gemm(rows(a), rows(c.dy), { transA: true, ...(acc === undefined ? {} : { c: acc }) })),
    ];
  }
  // the narrower operand is the transposed one: A^T dY, or (dY^T A)^T
  const isNarrow = (c.dy.shape.at(-1) as number) < (a.shape.at(-1) as number);
  const acrossA = (by: Value): Value => (isNarrow ? e.swap(e.matmul(e.swap(c.dy), by)) : e.matmul(e.swap(by), c.dy));
  const attention = attentionOf(c);
  if (attention !== undefined) return [attention.scores, () => acrossA(attention.weights())];
  return [() => e.matmul(c.dy, e.swap(c.rematerialized(1))), () => acrossA(a)];
};

/**
 * dx = dy W through the decoded matrix. Never MatMulBnb4 with transB = 0, which was meant for this:
 * ONNX Runtime's CPU kernel ignores the flag.
 */
const matmulBnb4: Rule = (c) => [
  () => {
    const { e } = c;
    const [n, k] = [c.int("N", 0), c.int("K", 0)];
    if (c.int("quant_type", 1) !== 1 || c.int("block_size", 0) !== NF4_BLOCK || c.int("transB", 1) !== 1)
      c.refuse("other than NF4 in blocks of 64 with transB = 1");
    // scales stored in the file would be reshaped, and so copied, when the graph is loaded
    const blocks = [(n * k) / NF4_BLOCK, 1];
    const scales = c.g.initializers.has(c.x(2).name)
      ? delayed(e, c.x(2), c.dy, blocks)
      : e.reshape(c.rematerialized(2), blocks);
    const weight = emitNf4Matrix(e, delayed(e, c.x(1), c.dy), scales, n, k);
    if (c.dy.shape.length === 2) return e.gemm(c.dy, weight);
    return e.reshape(e.gemm(e.reshape(c.dy, [-1, n]), weight), c.x().shape);
  },
  null,
  null,
];

/** dx = (dy - sum(dy * y)) * y over the axis. */
const softmax: Rule = (c) => [
  () => {
    const axis = [c.int("axis", -1)];
    const y = withoutNan(c, c.y());
    return c.e.mul(c.e.sub(c.dy, c.e.sum(c.e.mul(c.dy, y), axis)), y);
  },
];

/**
 * Replaces a NaN that the graph itself expects by 0 (PyTorch's attention writes Where(IsNaN(p), 0, p) for fully masked
 * rows): those rows have no gradient, and 0 * NaN would give them one.
 */
function withoutNan(c: RuleContext, y: Value): Value {
  const test = c.g.nodes.find((n) => n.op === "IsNaN" && n.inputs[0]?.name === y.name);
  return test === undefined ? y : c.e.where(test.outputs[0] as Value, c.g.scalar(0, y.dtype), y);
}

/** Cross-entropy: for an element of log softmax(z), dz = dy at its place - exp(log softmax(z)) * the row's dy. */
const gatherElements: Rule = (c) => {
  const axis = c.int("axis", 0);
  const scattered = (into: Value): Value => c.g.op("ScatterElements", [into, c.x(1), c.dy], { axis, reduction: "add" });
  const behind = c.source();
  const logits = behind?.node.inputs[0];
  const isPick =
    behind?.node.op === "LogSoftmax" &&
    logits?.shape.join() === c.x().shape.join() &&
    axisOf(Number(behind.node.attributes.axis ?? -1), c.x().shape.length) === axisOf(axis, c.x().shape.length);
  if (!isPick) return [() => scattered(c.e.zeros(c.x().shape, c.x().dtype)), null];
  const perRow = (): Value => (c.dy.shape[axisOf(axis, c.x().shape.length)] === 1 ? c.dy : c.e.sum(c.dy, [axis]));
  return [gradientOf(logits as Value, () => scattered(c.e.mul(c.e.exp(c.x()), c.e.neg(perRow())))), null];
};

/** dx = dy - exp(y) * sum(dy) over the axis. */
const logSoftmax: Rule = (c) => [() => c.e.sub(c.dy, c.e.mul(c.e.exp(c.y()), c.e.sum(c.dy, [c.int("axis", -1)])))];

/** Row of an op whose outputs are integers, booleans or piecewise constant. */
export const NO_GRADIENT = "no gradient";
/** Row of an op that cannot be differentiated: `backward` refuses a graph in which it would have to be. */
export const NO_RULE = "no rule";

/**
 * op -> rule. An op of the table of ops without a row does not compile; a rule without a finite-difference case in
 * test/autodiff/cases.ts fails the tests.
 */
export const RULES: Readonly<Record<OpName, Rule | typeof NO_GRADIENT | typeof NO_RULE>> = {
  // arithmetic
  Add: (c) => [() => c.dy, () => c.dy],
  Sub: (c) => [() => c.dy, () => c.e.neg(c.dy)],
  Mul: (c) => [() => c.e.mul(c.dy, c.x(1)), () => c.e.mul(c.dy, c.x(0))],
  Div: (c) => [() => c.e.div(c.dy, c.x(1)), () => c.e.neg(c.e.div(c.e.mul(c.dy, c.y()), c.x(1)))],
  // d(x^p) = p x^(p-1) dx; the exponent is a constant in every known graph
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
    // only inside the bounds; a bound itself counts as inside
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
  Elu: unary((c) => c.e.where(c.e.greater(c.x(), 0), one(c), c.e.add(c.y(), c.int("alpha", 1)))),
  LeakyRelu: unary((c) => c.e.where(c.e.greater(c.x(), 0), one(c), c.g.scalar(c.int("alpha", 0.01), c.x().dtype))),
  // y = x s with s = sigmoid(alpha x): y' = s + alpha (y - y s)
  QuickGelu: unary((c) => {
    const { e } = c;
    const alpha = c.int("alpha", 1.702);
    const s = e.sigmoid(alpha === 1 ? c.x() : e.mul(c.x(), alpha));
    const rest = e.sub(c.y(), e.mul(c.y(), s));
    return e.add(alpha === 1 ? rest : e.mul(rest, alpha), s);
  }),
  // the transpose of a rotation is the rotation by the opposite angle
  RotaryEmbedding: (c) => [
    () => c.g.op("RotaryEmbedding", [c.dy, c.x(1), c.x(2), c.e.neg(c.x(3))], c.node.attributes),
    null,
    null,
    null,
  ],
  Relu: unary((c) => c.e.indicator(c.e.greater(c.x(), 0), c.x().dtype)),
  Softplus: unary((c) => c.e.sigmoid(c.x())),
  Erf: unary((c) => c.e.mul(c.e.exp(c.e.neg(c.e.mul(c.x(), c.x()))), 2 / Math.sqrt(Math.PI))),
  Gelu: unary(geluDerivative),
  Softmax: softmax,
  LogSoftmax: logSoftmax,
  // along an axis: the sum of dy from each position on
  CumSum: (c) => [
    () => c.g.op("CumSum", [c.dy, c.x(1)], { ...c.node.attributes, reverse: 1 - c.int("reverse", 0) }),
    null,
  ],
  Trilu: (c) => [() => c.g.op("Trilu", [c.dy, ...c.node.inputs.slice(1)], c.node.attributes), null],
  // products
  Gemm: gemm,
  MatMul: matmul,
  MatMulBnb4: matmulBnb4,
  Conv: conv,
  // reductions
  ReduceSum: (c) => [() => c.e.expand(keptShape(c, c.dy), c.x().shape), null],
  ReduceMean: (c) => [
    () => {
      const count = product(axesOf(c).map((axis) => c.x().shape[axis] as Dim));
      return c.e.expand(keptShape(c, c.e.div(c.dy, c.e.count(count, c.dy.dtype))), c.x().shape);
    },
    null,
  ],
  // the product of the others: that of all nonzero elements over the own one, unless another one is zero
  ReduceProd: (c) => [
    () => {
      const { e } = c;
      const isZero = e.equal(c.x(), 0);
      const safe = e.where(isZero, one(c), c.x());
      const zeros = e.indicator(isZero, c.x().dtype);
      const others = e.indicator(e.equal(e.sub(e.sum(zeros, axesOf(c)), zeros), 0), c.x().dtype);
      const product = c.g.op("ReduceProd", [safe, c.g.ints(axesOf(c))], { keepdims: 1 });
      return e.mul(keptShape(c, c.dy), e.mul(others, e.div(product, safe)));
    },
    null,
  ],
  ReduceSumSquare: (c) => [() => c.e.mul(c.e.mul(c.x(), 2), keptShape(c, c.dy)), null],
  // 0 at the zero vector, as in PyTorch
  ReduceL2: (c) => [
    () => {
      const zero = c.g.scalar(0, c.y().dtype);
      const scaled = c.e.where(c.e.equal(c.y(), 0), zero, c.e.div(c.dy, c.y()));
      return c.e.mul(c.x(), keptShape(c, scaled));
    },
    null,
  ],
  ReduceMax: extremum,
  ReduceMin: extremum,
  // layout
  Pad: pad,
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
  // the walk sums over the broadcast axes
  Expand: (c) => [() => c.dy, null],
  // each axis is split into copies and content; the gradients of the copies are summed
  Tile: (c) => [
    () => {
      const repeats = c.ints(1, "") as readonly number[];
      const interleaved = c.x().shape.flatMap((d, i) => [repeats[i] as number, d as number]);
      return c.e.sum(
        c.e.reshape(c.dy, interleaved),
        repeats.map((_, i) => 2 * i),
        false,
      );
    },
    null,
  ],
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
  GatherElements: gatherElements,
  GatherND: (c) => [
    () => c.g.op("ScatterND", [c.e.zeros(c.x().shape, c.x().dtype), c.x(1), c.dy], { reduction: "add" }),
    null,
  ],
  ScatterElements: scatter((c) => c.e.gatherElements(c.dy, c.x(1), c.int("axis", 0))),
  ScatterND: scatter((c) => c.g.op("GatherND", [c.dy, c.x(1)])),
  // normalisation
  SimplifiedLayerNormalization: simplifiedLayerNormalization,
  LayerNormalization: layerNormalization,
  // integers, booleans or piecewise constant
  ArgMax: NO_GRADIENT,
  ArgMin: NO_GRADIENT,
  Constant: NO_GRADIENT,
  Shape: NO_GRADIENT,
  Range: NO_GRADIENT,
  ConstantOfShape: NO_GRADIENT,
  OneHot: NO_GRADIENT,
  Equal: NO_GRADIENT,
  Greater: NO_GRADIENT,
  GreaterOrEqual: NO_GRADIENT,
  Less: NO_GRADIENT,
  LessOrEqual: NO_GRADIENT,
  And: NO_GRADIENT,
  Or: NO_GRADIENT,
  Xor: NO_GRADIENT,
  Not: NO_GRADIENT,
  Mod: NO_GRADIENT,
  Size: NO_GRADIENT,
  IsNaN: NO_GRADIENT,
  IsInf: NO_GRADIENT,
  Floor: NO_GRADIENT,
  Ceil: NO_GRADIENT,
  Round: NO_GRADIENT,
  Sign: NO_GRADIENT,
  // in no graph that is differentiated
  TopK: NO_RULE,
  ConvTranspose: NO_RULE,
  DynamicQuantizeMatMul: NO_RULE,
  PagedAttention: NO_RULE,
  QuantizeLinear: NO_RULE,
};
