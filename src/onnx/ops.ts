/**
 * The operators this project knows: one row per op, with the dtype and shape of its outputs. A graph may have symbolic
 * dimensions (model.onnx) or numbers only (every differentiated graph).
 */
import {
  argReduce,
  cast,
  concat,
  constant,
  constantOfShape,
  elementwise,
  expand,
  gather,
  gatherND,
  gemm,
  type InferRule,
  intAttribute,
  matmul,
  mustKnow,
  normalization,
  oneHot,
  range,
  reduce,
  required,
  reshape,
  same,
  slice,
  split,
  squeeze,
  transpose,
  unsqueeze,
} from "./infer.js";
import { conv, convTranspose, pad } from "./infer-conv.js";
import { axisOf, formatShape, product } from "./shapes.js";

/** Operators of ONNX Runtime's own domain that the standard domain lacks. */
export const MICROSOFT_OPS: ReadonlySet<string> = new Set([
  "DynamicQuantizeMatMul",
  "MatMulBnb4",
  "PagedAttention",
  "QuickGelu",
  "RotaryEmbedding",
]);

const TABLE = {
  // elementwise, one input
  Abs: same,
  Ceil: same,
  Cos: same,
  Elu: same,
  Clip: same,
  Erf: same,
  Exp: same,
  Floor: same,
  Gelu: same,
  Identity: same,
  LogSoftmax: same,
  LeakyRelu: same,
  Log: same,
  Neg: same,
  Not: same,
  QuickGelu: same,
  Reciprocal: same,
  Relu: same,
  RotaryEmbedding: same,
  Round: same,
  Sigmoid: same,
  Sign: same,
  Sin: same,
  Softmax: same,
  Softplus: same,
  Sqrt: same,
  Tanh: same,
  Trilu: same,
  CumSum: same,
  IsNaN: (c) => [{ dtype: "bool", shape: required(c, 0).shape }],
  IsInf: (c) => [{ dtype: "bool", shape: required(c, 0).shape }],
  // elementwise, two or more inputs
  Add: elementwise(),
  Sub: elementwise(),
  Mul: elementwise(),
  Div: elementwise(),
  Mod: elementwise(),
  Pow: elementwise(),
  Max: elementwise(),
  Min: elementwise(),
  Sum: elementwise(),
  Where: elementwise(),
  And: elementwise("bool"),
  Or: elementwise("bool"),
  Xor: elementwise("bool"),
  Equal: elementwise("bool"),
  Greater: elementwise("bool"),
  GreaterOrEqual: elementwise("bool"),
  Less: elementwise("bool"),
  LessOrEqual: elementwise("bool"),
  // reductions
  ReduceSum: reduce,
  ReduceMean: reduce,
  ReduceMax: reduce,
  ReduceMin: reduce,
  ReduceProd: reduce,
  ReduceSumSquare: reduce,
  ReduceL2: reduce,
  ArgMax: argReduce,
  ArgMin: argReduce,
  // products
  MatMul: matmul,
  Gemm: gemm,
  QuantizeLinear: (c) => [{ dtype: required(c, 2).dtype, shape: required(c, 0).shape }],
  DynamicQuantizeMatMul: (c) => [
    {
      dtype: required(c, 0).dtype,
      shape: [...required(c, 0).shape.slice(0, -1), required(c, 1).shape.at(-1) as number],
    },
  ],
  // x [..., K] times a matrix [N, K] in 4 bits
  MatMulBnb4: (c) => {
    const x = required(c, 0);
    const [n, k] = [intAttribute(c, "N", 0), intAttribute(c, "K", 0)];
    if (x.shape.at(-1) !== k) throw new Error(`MatMulBnb4: ${formatShape(x.shape)} does not fit K = ${k}`);
    return [{ dtype: x.dtype, shape: [...x.shape.slice(0, -1), n] }];
  },
  // queries [T, H*D]; keys and values of earlier forwards and of this one
  PagedAttention: (c) => [0, 3, 4].map((i) => required(c, i)).map(({ dtype, shape }) => ({ dtype, shape })),
  Conv: conv,
  ConvTranspose: convTranspose,
  // layout
  Pad: pad,
  Reshape: reshape,
  Transpose: transpose,
  Concat: concat,
  Slice: slice,
  Split: split,
  Unsqueeze: unsqueeze,
  Squeeze: squeeze,
  Expand: expand,
  Tile: (c) => {
    const x = required(c, 0);
    const repeats = mustKnow(c, 1, "repeats");
    return [{ dtype: x.dtype, shape: x.shape.map((d, i) => product([d, repeats[i] as number])) }];
  },
  Flatten: (c) => {
    const x = required(c, 0);
    const axis = intAttribute(c, "axis", 1);
    return [{ dtype: x.dtype, shape: [product(x.shape.slice(0, axis)), product(x.shape.slice(axis))] }];
  },
  // indexing
  Gather: gather,
  GatherElements: (c) => [{ dtype: required(c, 0).dtype, shape: required(c, 1).shape }],
  GatherND: gatherND,
  ScatterElements: same,
  ScatterND: same,
  OneHot: oneHot,
  TopK: (c) => {
    const x = required(c, 0);
    const axis = axisOf(intAttribute(c, "axis", -1), x.shape.length);
    const k = mustKnow(c, 1, "k")[0] as number;
    const shape = x.shape.map((d, i) => (i === axis ? k : d));
    return [
      { dtype: x.dtype, shape },
      { dtype: "int64", shape },
    ];
  },
  // types and shapes
  Cast: cast,
  Shape: (c) => {
    const x = required(c, 0);
    const dims = x.shape.slice(intAttribute(c, "start", 0), intAttribute(c, "end", x.shape.length));
    return [{ dtype: "int64", shape: [dims.length] }];
  },
  Size: () => [{ dtype: "int64", shape: [] }],
  Constant: constant,
  ConstantOfShape: constantOfShape,
  Range: range,
  // normalisation, with the statistics that the backward pass reuses
  SimplifiedLayerNormalization: normalization(1),
  LayerNormalization: normalization(2),
} satisfies Readonly<Record<string, InferRule>>;

/** Name of an operator of the table. */
export type OpName = keyof typeof TABLE;

/** op -> shape and dtype inference. Ops of ONNX Runtime's own domain are listed by their bare name. */
export const OPS: Readonly<Record<string, InferRule>> = TABLE;
