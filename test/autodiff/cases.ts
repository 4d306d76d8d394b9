/**
 * op -> cases whose gradients are checked by finite differences (rules.test.ts). Every row of RULES needs one.
 * Values are drawn by the case's own seed; those of ops with kinks keep clear of them.
 */
import {
  apart,
  bools,
  c,
  constant,
  DEFAULT,
  fixed,
  IN_FLOAT32,
  index,
  int,
  ints,
  type OpCase,
  type Operand,
  POSITIVE,
  scalar,
  type Values,
  v,
} from "./operands.js";

/** Codes and absolute maxima of a 4-bit matrix [n, k]. */
function fourBit(n: number, k: number): Operand[] {
  const codes = Array.from({ length: (n * k) / 2 }, (_, i) => (i * 89 + 7) % 256);
  const absmax = Array.from({ length: (n * k) / 64 }, (_, i) => 0.5 + 0.25 * i);
  return [constant([codes.length], codes, "uint8"), constant([absmax.length], absmax, "float32")];
}
const bnb4 = (n: number, k: number) => ({ N: n, K: k, block_size: 64, quant_type: 1, transB: 1 });

/** One input of shape [2, 3]. */
const unary = (values: Values = DEFAULT, extra: Partial<OpCase> = {}): OpCase[] => [
  c("[2, 3]", [v([2, 3], values)], {}, extra),
  c("a scalar", [v([], values)], {}, extra),
];

/** Shapes of two inputs, between semicolons, broadcast in every direction. */
const PAIRS = ["2,3; 2,3", "2,3; 3", "3; 2,3", "2,1; 1,3", "2,3; ", "; 2,3", "2,1,3; 4,1", "2,3; 1,1,1"];
const pairs = (a: Values = DEFAULT, b: Values = a): OpCase[] =>
  PAIRS.map((pair) => {
    const [x = [], y = []] = pair.split("; ").map((shape) => (shape.match(/\d/g) ?? []).map(Number));
    return c(`[${x}] and [${y}]`, [v(x, a), v(y, b)]);
  });

const extrema: OpCase[] = [
  ...pairs(apart(0.5), apart(0.5, 0.2)),
  c("three inputs", [v([2, 3], apart(0.5)), v([3], apart(0.5, 0.15)), v([2, 1], apart(0.5, 0.3))]),
  c("one input", [v([2, 3])]),
];

/** Reductions over the last, a middle, two, all axes, with and without keepdims. */
const reductions = (values: Values = DEFAULT): OpCase[] =>
  [0, 1].flatMap((keepdims) => [
    c(`the last axis, keepdims ${keepdims}`, [v([2, 3], values), ints(-1)], { keepdims }),
    c(`a middle axis, keepdims ${keepdims}`, [v([2, 3, 2], values), ints(1)], { keepdims }),
    c(`two axes, keepdims ${keepdims}`, [v([2, 3, 2], values), ints(-1, 0)], { keepdims }),
    c(`all axes by default, keepdims ${keepdims}`, [v([2, 3], values)], { keepdims }),
    c(`an empty list of axes, keepdims ${keepdims}`, [v([2, 3], values), ints()], { keepdims }),
  ]);

const axes = (extra: Partial<OpCase> = {}): OpCase[] => [
  c("the last axis by default", [v([2, 4])], {}, extra),
  c("a middle axis", [v([2, 3, 2])], { axis: 1 }, extra),
  c("axis -2", [v([2, 3, 2])], { axis: -2 }, extra),
  c("the first axis", [v([4, 2])], { axis: 0 }, extra),
];

function gemms(): OpCase[] {
  const transposed = [0, 1].flatMap((transA) =>
    [0, 1].flatMap((transB) => {
      const inputs = [v(transA ? [3, 2] : [2, 3]), v(transB ? [4, 3] : [3, 4])];
      const title = `transA ${transA}, transB ${transB}`;
      return [
        c(title, inputs, { transA, transB }),
        c(`${title}, alpha, beta, C`, [...inputs, v([2, 4])], { transA, transB, alpha: 0.5, beta: 2 }),
      ];
    }),
  );
  const shapes = [[2, 4], [4], [1, 4], [2, 1], []];
  return [
    ...transposed,
    ...shapes.flatMap((shape) => [
      c(`C [${shape}]`, [v([2, 3]), v([3, 4]), v(shape)]),
      c(`C [${shape}], beta`, [v([2, 3]), v([4, 3]), v(shape)], { transB: 1, beta: 0.25 }),
    ]),
  ];
}

function normalizations(bias: boolean, float32: Partial<OpCase>): OpCase[] {
  const extra = { ...float32, outputs: 1 };
  const b = (shape: readonly number[]): Operand[] => (bias ? [v(shape)] : []);
  return [
    c("the last axis", [v([3, 4]), v([4], POSITIVE), ...b([4])], { axis: -1, epsilon: 1e-5 }, extra),
    c("default attributes", [v([2, 2, 4]), v([4]), ...b([4])], {}, extra),
    c("a large epsilon", [v([3, 4]), v([4]), ...b([4])], { axis: 1, epsilon: 0.5 }, extra),
    c("statistics that are not saved", [v([3, 4]), v([4]), ...b([4])], { epsilon: 0.25 }, { ...extra, keep: 1 }),
    c("only x", [v([3, 4]), fixed([4], POSITIVE)], { axis: -1, epsilon: 1e-5 }, extra),
  ];
}

const row = [0.5, 1.5, -0.5];
/** The tables of cos and sin. */
const angles = (shape: readonly number[]) => [fixed(shape), fixed(shape)];
const DILATED = { group: 2, dilations: [2, 1], strides: [2, 2], pads: [0, 1, 1, 0] };

/** Ops in the order of RULES. */
export const CASES: Readonly<Record<string, readonly OpCase[]>> = {
  Add: pairs(),
  Sub: pairs(),
  Mul: pairs(),
  Div: pairs(DEFAULT, POSITIVE),
  Pow: [
    c("a non-integer exponent", [v([2, 3], POSITIVE), scalar(2.5)]),
    c("a negative exponent", [v([2, 3], POSITIVE), scalar(-0.5)]),
    c("an integer exponent and negative bases", [v([2, 3]), scalar(3)]),
    c("an exponent of an integer type", [v([2, 3]), int(2)]),
    c("an exponent for each column", [v([2, 3], POSITIVE), fixed([3], [2, 0.5, -1])]),
    c("a broadcast base", [v([3], POSITIVE), fixed([2, 3], POSITIVE)]),
  ],
  Sum: [
    c("one input", [v([2, 3])]),
    c("three inputs", [v([2, 3]), v([3]), v([2, 1])]),
    c("the same shape", [v([2, 3]), v([2, 3])]),
  ],
  Max: extrema,
  Min: extrema,
  Neg: unary(),
  Abs: unary(apart(0.5)),
  Reciprocal: unary(POSITIVE),
  Sqrt: unary(POSITIVE),
  Exp: unary(),
  Log: unary(POSITIVE),
  Sin: unary(),
  Cos: unary(),
  Identity: unary(),
  Cast: [
    c("to its own type", [v([2, 3])], { to: 11 }),
    c("to a wider type", [v([2, 3])], { to: 11 }, { float32: "from float32 to float64" }),
    c("to a narrower type", [v([2, 3])], { to: 1 }, { float32: "to float32" }),
  ],
  Clip: [
    c("both bounds", [v([2, 4], apart(0.5)), scalar(-1), scalar(1.1)]),
    c("only a lower bound", [v([2, 4], apart(0.5)), scalar(-1)]),
    c("only an upper bound", [v([2, 4], apart(0.5)), undefined, scalar(1.1)]),
    c("no bound", [v([2, 3])]),
  ],
  Where: [
    c("one shape", [bools([2, 3], [1, 0, 1, 0, 1, 1]), v([2, 3]), v([2, 3])]),
    c("a broadcast condition", [bools([2, 1], [1, 0]), v([2, 3]), v([2, 3])]),
    c("broadcast choices", [bools([2, 3], [1, 0, 1, 0, 1, 1]), v([3]), v([2, 1])]),
    c("all three broadcast", [bools([2, 1, 1], [0, 1]), v([1, 3]), v([2, 1])]),
    c("a scalar choice", [bools([3], [0, 1, 1]), v([2, 3]), v([])]),
  ],
  Sigmoid: unary(),
  Tanh: unary(),
  Elu: [...unary(apart(0.5), IN_FLOAT32), c("alpha", [v([2, 3], apart(0.5))], { alpha: 0.5 }, IN_FLOAT32)],
  LeakyRelu: [...unary(apart(0.5), IN_FLOAT32), c("alpha", [v([2, 3], apart(0.5))], { alpha: 0.3 }, IN_FLOAT32)],
  QuickGelu: [...unary(DEFAULT, IN_FLOAT32), c("SiLU", [v([2, 3])], { alpha: 1 }, IN_FLOAT32)],
  RotaryEmbedding: [
    c("one token behind the other", [v([1, 2, 8]), ints(0), ...angles([2, 2])], { num_heads: 2 }, IN_FLOAT32),
    c("heads apart", [v([2, 2, 2, 2]), index([2, 2], [3, 0, 2, 2]), ...angles([4, 1])], {}, IN_FLOAT32),
  ],
  Relu: unary(apart(0.5)),
  Softplus: unary(DEFAULT, IN_FLOAT32),
  Erf: unary(DEFAULT, IN_FLOAT32),
  Gelu: [
    c("exact", [v([2, 3])], {}, IN_FLOAT32),
    c("exact, by name", [v([2, 3])], { approximate: "none" }, IN_FLOAT32),
    c("by tanh", [v([2, 3])], { approximate: "tanh" }, IN_FLOAT32),
  ],
  Softmax: axes(),
  LogSoftmax: axes(),
  CumSum: [
    c("without attributes", [v([2, 3]), int(1)]),
    ...[0, 1, 2, 3].map((i) => {
      const attributes = { reverse: i >> 1, exclusive: i & 1 };
      return c(JSON.stringify(attributes), [v([2, 3]), int(1)], attributes);
    }),
  ],
  Trilu: [
    c("upper", [v([3, 3])]),
    c("lower of a batch", [v([2, 3, 3])], { upper: 0 }),
    c("above the diagonal", [v([3, 4]), int(1)], { upper: 1 }),
  ],
  Gemm: gemms(),
  MatMulBnb4: [
    c("2-D", [v([1, 16]), ...fourBit(8, 16)], bnb4(8, 16), { float32: "the kernel is for float32" }),
    c("a batch", [v([2, 1, 8]), ...fourBit(24, 8)], bnb4(24, 8), { float32: "the kernel is for float32" }),
  ],
  MatMul: [
    c("2-D", [v([2, 3]), v([3, 4])]),
    c("a batch", [v([2, 2, 3]), v([2, 3, 2])]),
    c("a batch times 2-D", [v([2, 2, 3]), v([3, 2])]),
    c("two batch axes times 2-D", [v([2, 1, 2, 3]), v([3, 2])]),
    c("2-D times a batch", [v([2, 3]), v([2, 3, 2])]),
    c("a broadcast batch", [v([2, 1, 2, 3]), v([2, 3, 2])]),
    c("a batch of one", [v([1, 2, 3]), v([2, 3, 2])]),
    c("a wide result", [v([2, 2, 2]), v([2, 2, 3])]),
  ],
  ReduceSum: [
    ...reductions(),
    c("an empty list of axes as no operation", [v([2, 3]), ints()], { noop_with_empty_axes: 1 }),
  ],
  ReduceMean: reductions(),
  ReduceSumSquare: reductions(),
  ReduceProd: [...reductions(), c("with a zero", [v([2, 3], [0, 2, 3, 1, 4, 5]), ints(1)])],
  ReduceL2: reductions(POSITIVE),
  ReduceMax: reductions(apart(0.5)),
  ReduceMin: reductions(apart(0.5)),
  Reshape: [
    c("to numbers", [v([2, 6]), ints(3, 4)]),
    c("with 0 and -1", [v([2, 6]), ints(0, 2, -1)]),
    c("to a scalar", [v([1, 1]), ints()]),
  ],
  Flatten: [
    c("by default", [v([2, 2, 3])]),
    c("at axis 0", [v([2, 3])], { axis: 0 }),
    c("at a negative axis", [v([2, 2, 3])], { axis: -1 }),
  ],
  Squeeze: [c("given axes", [v([1, 2, 1, 3]), ints(0, -2)]), c("all axes of one", [v([1, 2, 1, 3])])],
  Unsqueeze: [c("given axes", [v([2, 3]), ints(0, -1)])],
  Transpose: [
    c("reversed by default", [v([2, 3, 2])]),
    c("given", [v([2, 3, 2])], { perm: [1, 2, 0] }),
    c("given, 4-D", [v([2, 1, 3, 2])], { perm: [0, 2, 1, 3] }),
  ],
  Expand: [
    c("a middle axis", [v([2, 1, 3]), ints(2, 2, 3)]),
    c("new axes", [v([3]), ints(2, 2, 3)]),
    c("a target with ones", [v([2, 3]), ints(2, 1, 1)]),
    c("a scalar", [v([]), ints(2, 3)]),
    c("its own shape", [v([2, 3]), ints(2, 3)]),
  ],
  Tile: [
    c("two axes", [v([2, 3]), ints(2, 1)]),
    c("all axes", [v([2, 1, 2]), ints(2, 3, 2)]),
    c("once", [v([2, 3]), ints(1, 1)]),
    c("a row", [v([3]), ints(4)]),
  ],
  Concat: [
    c("three parts", [v([2, 1]), v([2, 3]), v([2, 2])], { axis: 1 }),
    c("a negative axis", [v([1, 2, 2]), v([1, 1, 2]), v([1, 3, 2])], { axis: -2 }),
    c("parts that are not differentiated", [fixed([2]), v([3]), fixed([1])], { axis: 0 }),
  ],
  Split: [
    c("uneven parts", [v([2, 6]), ints(1, 3, 2)], { axis: -1 }),
    c("equal parts", [v([4, 2])], { num_outputs: 2 }),
    c("a smaller last part", [v([5, 2])], { num_outputs: 2 }),
    c("one unused part", [v([2, 6]), ints(1, 3, 2)], { axis: 1 }, { outputs: 2 }),
  ],
  Conv: [
    c("1-D", [v([1, 2, 6]), fixed([3, 2, 3]), v([3])], { pads: [1, 1] }, IN_FLOAT32),
    c("depth-wise with strides", [v([1, 3, 8]), fixed([3, 1, 3])], { group: 3, strides: [2] }, IN_FLOAT32),
    c("2-D, dilated, grouped, uneven padding", [v([1, 2, 4, 3]), fixed([2, 1, 2, 3])], DILATED, IN_FLOAT32),
  ],
  Pad: [
    c("with zeros", [v([2, 3]), ints(0, 1, 1, 2)]),
    c("with a value, on an axis", [v([2, 3]), ints(2, 1), scalar(0.5), ints(-1)]),
    c("cutting off", [v([2, 5]), ints(0, -1, 1, -2)], { mode: "constant" }),
  ],
  Slice: [
    c("from the start", [v([4, 2]), ints(0), ints(2), ints(0)]),
    c("negative start and axis", [v([2, 5]), ints(-3), ints(-1), ints(-1)]),
    c("a step", [v([2, 7]), ints(1), ints(2 ** 40), ints(1), ints(3)]),
    c("a negative step", [v([2, 5]), ints(-2), ints(-(2 ** 40)), ints(1), ints(-2)]),
    c("several axes", [v([4, 5]), ints(1, 0), ints(3, 5), ints(0, 1), ints(1, 2)]),
    c("axes by default", [v([4, 3]), ints(1, 1), ints(9, 2)]),
    c("everything", [v([2, 3]), ints(0), ints(3), ints(1)]),
  ],
  Gather: [
    c("duplicates on axis 0", [v([4, 2]), index([3], [1, 3, 1])]),
    c("a scalar on axis 0", [v([4, 2]), index([], [2])]),
    c("2-D indices on axis 0", [v([4, 2]), index([2, 2], [0, 3, 3, 0])]),
    c("duplicates on axis 1", [v([2, 4]), index([3], [1, 3, 1])], { axis: 1 }),
    c("a scalar on axis 1", [v([2, 4, 2]), index([], [2])], { axis: 1 }),
    c("2-D indices on a middle axis", [v([2, 3, 2]), index([2, 2], [0, 2, 2, 1])], { axis: -2 }),
    c("negative indices", [v([4]), index([2], [-1, -1])]),
    c("int32 indices", [v([4, 2]), index([3], [1, 3, 1], "int32")]),
    c("int32 indices on axis 1", [v([2, 4]), index([3], [1, 3, 1], "int32")], { axis: 1 }),
  ],
  GatherElements: [
    c("duplicates on axis 1", [v([2, 3]), index([2, 4], [0, 0, 2, 1, 2, 2, 2, 0])], { axis: 1 }),
    c("fewer rows on axis 0", [v([3, 3]), index([1, 2], [2, 0])]),
    c("a negative axis", [v([2, 3]), index([2, 1], [1, -1])], { axis: -1 }),
  ],
  GatherND: [
    c("rows", [v([3, 2]), index([3, 1], [2, 0, 2])]),
    c("elements", [v([3, 2]), index([2, 2, 2], [0, 1, 2, 0, 0, 1, 1, 1])]),
  ],
  ScatterElements: [
    c("overwriting", [v([2, 4]), index([2, 2], [0, 3, 1, 2]), v([2, 2])], { axis: 1 }),
    c("adding, with duplicates", [v([3, 2]), index([3, 2], [0, 1, 0, 1, 2, 1]), v([3, 2])], { reduction: "add" }),
    c("adding on a negative axis", [v([2, 3]), index([2, 1], [1, -1]), v([2, 1])], { axis: -1, reduction: "add" }),
    c("an explicit reduction of none", [v([3]), index([1], [1]), v([1])], { reduction: "none" }),
  ],
  ScatterND: [
    c("overwriting rows", [v([4, 2]), index([2, 1], [3, 0]), v([2, 2])]),
    c("adding rows, with duplicates", [v([3, 2]), index([3, 1], [2, 0, 2]), v([3, 2])], { reduction: "add" }),
    c("adding elements", [v([3, 2]), index([3, 2], [2, 0, 0, 1, 2, 0]), v([3], row)], { reduction: "add" }),
  ],
  SimplifiedLayerNormalization: normalizations(false, {}),
  LayerNormalization: [
    ...normalizations(true, {}),
    c("two axes", [v([2, 2, 3]), v([2, 3]), v([2, 3])], { axis: 1 }, { outputs: 1 }),
  ],
};
