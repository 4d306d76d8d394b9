import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { messageOf } from "../../src/core/errors.js";
import { Rng } from "../../src/core/rng.js";
import { contentOf, evaluated, FOLDED } from "../../src/onnx/evaluate.js";
import type { OpCall } from "../../src/onnx/infer.js";
import { MICROSOFT_OPS, OPS } from "../../src/onnx/ops.js";
import type { Attribute, Dim, DType, Graph, Initializer, Tensor, Value } from "../../src/onnx/types.js";
import { CASES } from "../autodiff/cases.js";
import {
  bools,
  c,
  draw,
  fixed,
  IN_FLOAT32,
  index,
  int,
  ints,
  type OpCase,
  type Operand,
  v,
} from "../autodiff/operands.js";
import { relativeError } from "../support/golden.js";
import { runGraph } from "../support/run-graph.js";
import { cpuRuntime } from "../support/temporary.js";

const runtime = await cpuRuntime();

const [a, b] = [bools([2, 3], [1, 0, 1, 1, 0, 0]), bools([3], [1, 0, 0])];
const comparisons = [
  c("floats", [fixed([2, 3]), fixed([3])]),
  c("integers", [index([2, 1], [1, 2]), index([3], [1, 2, 3])]),
];
const arguments_ = [
  c("keepdims", [fixed([2, 3])], { axis: -1 }),
  c("no keepdims", [fixed([2, 3])], { axis: 0, keepdims: 0 }),
  c("by default", [fixed([2, 3])]),
];
const rounding = [c("floats", [fixed([2, 3])])];
const shapeOf = (...dims: number[]) => fixed(dims);
const one: Attribute = { dtype: "int64", shape: [1], data: BigInt64Array.of(-3n) };
const matrix: Attribute = { dtype: "float32", shape: [2, 1], data: Float32Array.of(1, 2) };

/** A matrix [k, n] in int8 and its scales [n]. */
const codes = (k: number, n: number): Operand[] => [
  { role: "constant", shape: [k, n], values: Array.from({ length: k * n }, (_, i) => 7 * i - 20), dtype: "int8" },
  { role: "constant", shape: [n], values: Array.from({ length: n }, (_, i) => 0.1 + i), dtype: "float32" },
];

const ZEROS: Operand = { ...fixed([3], [0, 0, 0]), dtype: "int8" };
const STRIDES = { group: 2, strides: [2], pads: [1, 0], output_padding: [1] };

/** Ops that have no gradient cases. */
const OTHERS: Readonly<Record<string, readonly OpCase[]>> = {
  ConvTranspose: [c("grouped, with strides", [v([1, 2, 3]), fixed([2, 1, 3])], STRIDES, IN_FLOAT32)],
  DynamicQuantizeMatMul: [
    c("2-D", [v([2, 3]), ...codes(3, 4)], {}, IN_FLOAT32),
    c("a batch", [v([2, 2, 3]), ...codes(3, 2)], {}, IN_FLOAT32),
  ],
  QuantizeLinear: [c("a scale a column", [v([2, 3]), codes(2, 3)[1], ZEROS], { axis: 1 }, IN_FLOAT32)],
  And: [c("broadcast", [a, b])],
  Or: [c("broadcast", [b, a])],
  Xor: [c("broadcast", [a, b])],
  Mod: [c("integers", [index([2, 3], [-7, 7, 9, 4, 5, 6]), index([3], [2, 3, 4])])],
  Size: [c("a matrix", [fixed([2, 3])]), c("a scalar", [fixed([])])],
  Not: [c("a matrix", [a])],
  Equal: [...comparisons, c("known integers", [ints(1, -1, 3), int(-1)])],
  Greater: comparisons,
  GreaterOrEqual: comparisons,
  Less: comparisons,
  LessOrEqual: comparisons,
  IsNaN: rounding,
  IsInf: [c("float32", [{ ...fixed([2]), dtype: "float32" }])],
  Floor: rounding,
  Ceil: rounding,
  Round: rounding,
  Sign: rounding,
  ArgMax: arguments_,
  ArgMin: arguments_,
  OneHot: [
    c("the last axis", [index([2, 2], [0, 1, 2, 1]), int(4), scalar01()]),
    c("the first axis", [index([2], [0, 1]), ints(3), scalar01()], { axis: 0 }),
  ],
  TopK: [c("the last axis", [fixed([2, 4]), ints(3)]), c("axis 0", [fixed([3, 2]), ints(1)], { axis: 0 })],
  Shape: [
    c("whole", [shapeOf(2, 3, 1)]),
    c("from a start", [shapeOf(2, 3, 1)], { start: 1 }),
    c("negative start and end", [shapeOf(2, 3, 1, 5)], { start: -3, end: -1 }),
    c("an end beyond the rank", [shapeOf(2, 3)], { end: 9 }),
  ],
  Constant: [
    c("value_int", [], { value_int: 3 }),
    c("value_ints", [], { value_ints: [3, -1] }),
    c("value_float", [], { value_float: 0.5 }),
    c("value_floats", [], { value_floats: [1, 2] }),
    c("a small integer tensor", [], { value: one }),
    c("a matrix", [], { value: matrix }),
  ],
  ConstantOfShape: [
    c("zeros by default", [ints(2, 3)]),
    c("integers", [ints(4)], { value: one }),
    c("an integer scalar", [ints()], { value: one }),
  ],
  Range: [
    c("up", [int(2), int(9), int(3)]),
    c("down", [int(3), int(-1), int(-2)]),
    c("empty", [int(3), int(3), int(1)]),
  ],
};

function scalar01() {
  return { ...fixed([2], [0, 1]), dtype: "float32" as const };
}

/** Shape arithmetic: integers that are known while a graph is built. */
const FOLDS: Readonly<Record<string, readonly OpCase[]>> = {
  Transpose: [c("a matrix", [{ ...ints(1, 2, 3, 4, 5, 6), shape: [2, 3] }])],
  Add: [c("a list and a scalar", [ints(2, 3), int(10)])],
  Sub: [c("lists", [ints(2, 3), ints(5, 1)])],
  Mul: [c("scalars", [int(4), int(-3)])],
  Max: [c("a list and a scalar", [ints(2, 30), int(10)])],
  Min: [c("lists", [ints(2, 3), ints(5, 1)])],
  Div: [c("towards zero", [ints(-7, 7, 9), int(2)])],
  Gather: [
    c("a scalar", [ints(5, 6, 7), int(-1)]),
    c("a list", [ints(5, 6, 7), ints(2, 0, -3)]),
    c("2-D indices", [ints(5, 6, 7), { ...ints(), shape: [2, 1], values: [2, 0] }]),
  ],
  Concat: [c("three lists", [ints(1, 2), ints(), ints(3)], { axis: -1 })],
  Slice: [
    c("the middle", [ints(1, 2, 3, 4), ints(-3), ints(-1)]),
    c("a step", [ints(1, 2, 3, 4, 5), ints(1), ints(2 ** 40), ints(0), ints(2)]),
    c("backwards", [ints(1, 2, 3, 4, 5), ints(-1), ints(-(2 ** 40)), ints(-1), ints(-2)]),
    c("nothing", [ints(1, 2, 3), ints(2), ints(1)]),
    c("rows backwards", [{ ...ints(1, 2, 3, 4, 5, 6), shape: [3, 2] }, ints(-1), ints(-(2 ** 40)), ints(0), ints(-1)]),
  ],
  Unsqueeze: [c("a scalar", [int(4), ints(0)])],
  Squeeze: [c("to a scalar", [ints(4), ints(0)])],
  Reshape: [c("to a list", [int(4), ints(1)])],
  Identity: [c("a list", [ints(4, 5)])],
  Cast: [c("to int32", [ints(4, 5)], { to: 6 })],
  Where: [
    c("by a known comparison", [bools([3], [1, 0, 1]), ints(1, 2, 3), ints(4, 5, 6)]),
    c("a scalar choice", [{ ...bools([3], [1, 0, 1]), role: "constant" }, int(1), ints(4, 5, 6)]),
  ],
};

/** Op, inputs between semicolons (a shape, or an integer list's content in braces), attributes, and what comes of it. */
type Row<T> = readonly [op: string, inputs: string, attributes: Record<string, Attribute>, outcome: T];

/** The outputs' shapes. */
const SYMBOLIC: readonly Row<string>[] = [
  ["Add", "B,1,N; N,1", {}, "B,N,N"],
  ["Softmax", "B,N", {}, "B,N"],
  ["ReduceSum", "B,N,4; {-1}", { keepdims: 0 }, "B,N"],
  ["ReduceMax", "B,N,4", {}, "1,1,1"],
  ["ArgMax", "B,N,4", { axis: -1, keepdims: 0 }, "B,N"],
  ["MatMul", "B,4,N,8; 1,8,N", {}, "B,4,N,N"],
  ["Gemm", "M,8; 16,8", { transB: 1 }, "M,16"],
  ["Reshape", "B,N,8; {-1,8}", {}, "B*N,8"],
  ["Reshape", "B,N,8; {0,0,2,4}", {}, "B,N,2,4"],
  ["Reshape", "B*N,8; {B,N,2,-1}", {}, "B,N,2,4"],
  ["Flatten", "B,N,8", { axis: 2 }, "B*N,8"],
  ["Transpose", "B,N,8", { perm: [0, 2, 1] }, "B,8,N"],
  ["Concat", "B,N; B,N", { axis: 1 }, "B,(N+N)"],
  ["Slice", "B,8; {4}; {8}; {1}", {}, "B,4"],
  ["Slice", "B,8; {0}; {4611686018427388000}; {0}", {}, "B,8"],
  ["Split", "B,8; {2,6}", { axis: -1 }, "B,2; B,6"],
  ["Unsqueeze", "B,N; {-1}", {}, "B,N,1"],
  ["Squeeze", "B,1,N; {1}", {}, "B,N"],
  ["Expand", "1,3; {B,1}", {}, "B,3"],
  ["Gather", "100,8; B,N", {}, "B,N,8"],
  ["GatherElements", "B,8; B,2", { axis: 1 }, "B,2"],
  ["GatherND", "B,N,8; R,2", {}, "R,8"],
  ["OneHot", "B,N; {5}; 2", {}, "B,N,5"],
  ["TopK", "B,N; {2}", {}, "B,2; B,2"],
  ["ConstantOfShape", "{B,4}", {}, "B,4"],
  ["SimplifiedLayerNormalization", "B*N,8; 8", {}, "B*N,8; B*N,1"],
  ["LayerNormalization", "B,N,8; 8", { axis: 2 }, "B,N,8; B,N,1; B,N,1"],
];

const REFUSED: readonly Row<RegExp>[] = [
  ["Add", "B; N", {}, /shapes \[B\] and \[N\] do not broadcast/],
  ["Reshape", "2,3; {4,-1}", {}, /\[2, 3\] does not fit \[4, -1\]/],
  ["Reshape", "2,3; {4}", {}, /\[2, 3\] does not fit \[4\]/],
  ["Reshape", "2,3; 2", {}, /the target shape x1 is not known/],
  ["Concat", "2,3; 3,3", { axis: 1 }, /\[2, 3\] and \[3, 3\] differ beside axis 1/],
  ["Concat", "2,3; 2", { axis: 0 }, /\[2, 3\] and \[2\] differ/],
  ["ReduceSum", "2,3; 1", {}, /ReduceSum: axes must be constant, got x1/],
  ["ReduceSum", "2,3; {2}", {}, /axis 2 is out of range for rank 2/],
  ["MatMul", "2,3; 4,5", {}, /inner dimensions differ: \[2, 3\] x \[4, 5\]/],
  ["MatMul", "2,2,3; 3,3,5", {}, /batch dimensions differ/],
  ["MatMul", "3; 3,5", {}, /MatMul of vectors/],
  ["Gemm", "2,3; 3,4", { transB: 1 }, /\[2, 3\] and \[3, 4\] do not multiply \(transA, transB = 0, 1\)/],
  ["Slice", "B; {1}; {2}", {}, /Slice of the symbolic dimension B/],
  ["Expand", "2; {3}", {}, /\[2\] does not fit \[3\]/],
  ["GatherND", "2; 1,2", {}, /indices \[1, 2\] do not fit \[2\]/],
  ["GatherND", "2,2; 2,1", { batch_dims: 1 }, /batch_dims is not supported/],
  ["Cast", "2", { to: 99 }, /unknown type 99/],
  ["Constant", "", { value_string: "x" }, /Constant with the attribute value_string/],
];

/** Reads shapes between semicolons, or contents in braces. */
const listed = (text: string): { dims: Dim[]; content: boolean }[] =>
  (text === "" ? [] : text.split("; ")).map((one) => ({
    dims: (one.match(/[^{},]+/g) ?? []).map((dim) => (Number.isNaN(Number(dim)) ? dim : Number(dim))),
    content: one.startsWith("{"),
  }));

function call(op: string, inputs: string, attributes: Record<string, Attribute>): OpCall {
  const values = listed(inputs).map(({ dims, content }, i): Value => {
    if (!content) return { name: `x${i}`, dtype: "float32", shape: dims };
    return { name: `x${i}`, dtype: "int64", shape: [dims.length], content: dims };
  });
  return { op, inputs: values, attributes };
}

const infer = (opCall: OpCall) => {
  const rule = OPS[opCall.op];
  assert.ok(rule !== undefined, `${opCall.op} is not in OPS`);
  return rule(opCall);
};

describe("ops", () => {
  /** Compares what is inferred with what ONNX Runtime returns for one node. */
  async function check(op: string, test: OpCase, whole = false): Promise<boolean> {
    const rng = Rng.named(1, op);
    const float: DType = test.float32 === undefined ? "float64" : "float32";
    const feeds: Record<string, Tensor> = {};
    const initializers = new Map<string, Initializer>();
    const inputs = test.inputs.map((operand, i): Value | undefined => {
      if (operand === undefined) return undefined;
      const { dtype, shape, data } = draw(operand, float, rng);
      const known = whole || operand.role === "constant";
      const content = known ? contentOf({ dtype, shape }, data) : undefined;
      const value: Value = { name: `x${i}`, dtype, shape, ...(content && { content }) };
      if (operand.role === "constant") initializers.set(value.name, { value, data });
      else feeds[value.name] = { dtype, shape, data };
      return value;
    });
    const opCall = { op, inputs, attributes: test.attributes };
    const inferred = evaluated(opCall, infer(opCall)).slice(0, test.keep);
    // only the rank is declared, so that the runtime finds the dimensions itself
    const outputs = inferred.map(({ dtype, shape }, i): Value => {
      return { name: `y${i}`, dtype, shape: shape.map((_, axis) => `y${i}_${axis}`) };
    });
    const domain = MICROSOFT_OPS.has(op) ? "com.microsoft" : "";
    const nodes = [{ name: "/node", op, domain, inputs, outputs, attributes: test.attributes }];
    const given = inputs.filter((value) => value !== undefined && value.name in feeds) as Value[];
    const graph: Graph = { name: op, opset: 21, inputs: given, outputs, nodes, initializers };
    const out = await runGraph(runtime, graph, feeds);
    inferred.forEach(({ dtype, shape, content }, i) => {
      const { data, ...actual } = out[`y${i}`] as Tensor;
      assert.deepEqual({ dtype, shape: [...shape] }, { ...actual, shape: [...actual.shape] }, `output ${i}`);
      if (content === undefined) return;
      if (dtype.startsWith("float"))
        assert.ok(relativeError(content as number[], data as Float32Array) < 1e-6, `content ${content} for ${data}`);
      else assert.deepEqual([...content], Array.from(data as BigInt64Array, Number), "content");
    });
    return inferred.every(({ content }) => content !== undefined);
  }

  /** @param whole whether all inputs are known. @returns the number of cases whose outputs are known. */
  async function checkAll(op: string, cases: readonly OpCase[], whole = false): Promise<number> {
    const problems: string[] = [];
    let known = 0;
    for (const test of cases) {
      await check(op, test, whole).then(
        (is) => (known += Number(is)),
        (error: unknown) => problems.push(`${test.title}: ${messageOf(error)}`),
      );
    }
    assert.deepEqual(problems, []);
    return known;
  }

  for (const [op, cases] of Object.entries({ ...CASES, ...OTHERS })) {
    it(`infers what ONNX Runtime returns for ${op} (${cases.length} cases)`, async () => {
      await checkAll(op, cases);
    });
  }

  const folded = Object.entries({ ...CASES, ...OTHERS }).map(
    ([op, cases]) => [op, [...cases, ...(FOLDS[op] ?? [])]] as const,
  );
  for (const [op, cases] of folded.filter(([op]) => FOLDED.has(op))) {
    it(`folds known tensors of any type as ONNX Runtime computes them: ${op} (${cases.length} cases)`, async () => {
      assert.equal(await checkAll(op, cases, true), cases.length);
    });
  }

  it("has a case for every op", () => {
    // CUDA alone has PagedAttention; its twin (test/support/paged-attention.ts) is run in its place
    const others = Object.keys(OPS).filter((op) => op !== "PagedAttention");
    for (const op of others) assert.ok(op in CASES || op in OTHERS, `${op} has no case`);
  });

  for (const [op, inputs, attributes, outputs] of SYMBOLIC)
    it(`keeps symbols: ${op} ${inputs}`, () => {
      const shapes = infer(call(op, inputs, attributes)).map(({ shape }) => shape);
      const expected = listed(outputs).map(({ dims }) => dims);
      assert.deepEqual(shapes, expected);
    });

  for (const [op, inputs, attributes, message] of REFUSED)
    it(`refuses ${op}: ${message.source}`, () => assert.throws(() => infer(call(op, inputs, attributes)), message));

  it("refuses operands of different types, but for Pow", () => {
    const inputs = (["float32", "int64"] as const).map((dtype): Value => ({ name: dtype, dtype, shape: [2] }));
    assert.throws(() => infer({ op: "Mul", inputs, attributes: {} }), /Mul: dtypes float32 and int64 differ/);
    assert.equal(infer({ op: "Pow", inputs, attributes: {} })[0]?.dtype, "float32");
  });
});
