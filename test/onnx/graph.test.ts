import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Emitter } from "../../src/onnx/emit.js";
import { GraphBuilder, typedArray } from "../../src/onnx/graph.js";
import type { Value } from "../../src/onnx/types.js";
import { intsOf } from "../support/tensors.js";

const make = () => {
  const g = new GraphBuilder("test");
  return { g, e: new Emitter(g), ops: () => g.nodes.map((n) => n.op) };
};

describe("GraphBuilder", () => {
  it("names nodes by their path and keeps names unique", () => {
    const { g, e } = make();
    const x = g.input("x", "float32", [2]);
    g.scope("layers.0", () => g.scope("mlp", () => [e.exp(x), e.exp(x)]));
    assert.throws(() => g.scope("broken", () => g.op("Nonsense", [x])));
    e.exp(x);
    const names = g.nodes.map((n) => n.name);
    assert.deepEqual(names, ["/layers.0/mlp/Exp", "/layers.0/mlp/Exp_1", "/Exp"]);
    assert.equal(g.nodes[1]?.outputs[0]?.name, "/layers.0/mlp/Exp_1:0");
  });

  it("refuses a name that is used twice", () => {
    const { g, e } = make();
    const x = g.input("x", "float32", [2]);
    const twice = /the name x is used twice in graph test/;
    assert.throws(() => g.input("x", "float32", [2]), twice);
    assert.throws(() => g.initializer("x", "float32", [1], Float32Array.of(1)), twice);
    assert.throws(() => g.output("x", e.exp(x)), twice);
  });

  it("makes up names that nothing has, whatever names a file brings", () => {
    const { g } = make();
    const x = g.input("x", "float32", [2]);
    const names = ["/Exp", "/Exp", "/Exp:0", "/Exp_1:0"].map((name) => g.node("Exp", [x], {}, { name })[0]?.name);
    g.initializer("/constants/0", "float32", [1], Float32Array.of(1));
    const more = [g.op("Exp", [x]), g.scalar(3), g.initializer("/Exp", "float32", [1], Float32Array.of(1))];
    const all = [...g.nodes.map(({ name }) => name), ...names, ...more.map(({ name }) => name)];
    assert.equal(new Set(all.slice(0, 5)).size, 5);
    assert.equal(new Set(all.slice(5)).size, names.length + more.length);
  });

  it("names op and node path in errors", () => {
    const { g, e } = make();
    const [a, b] = [g.input("a", "float32", [2, 3]), g.input("b", "float32", [4, 5])];
    const fails = (build: () => unknown, message: RegExp): void =>
      assert.throws(() => g.scope("layers.1", build), message);
    fails(() => e.add(a, b), /Add: shapes \[2, 3\] and \[4, 5\] do not broadcast \(at \/layers\.1\/Add\)/);
    fails(() => e.gemm(a, b), /Gemm: \[2, 3\] and \[4, 5\] do not multiply .* \(at \/layers\.1\/Gemm\)/);
    fails(() => e.matmul(a, b), /MatMul: inner dimensions differ.*\(at \/layers\.1\/MatMul\)/);
    fails(() => g.op("Hardmax", [a]), /Unknown op Hardmax at \/layers\.1\/Hardmax/);
    fails(() => g.op("Exp", []), /Exp needs input 0 \(at \/layers\.1\/Exp\)/);
  });

  it("shares equal constants, and only those", () => {
    const { g } = make();
    assert.equal(g.scalar(0.5), g.scalar(0.5));
    assert.equal(g.ints([1, 2]), g.ints([1, 2]));
    assert.notEqual(g.scalar(1), g.scalar(1, "float64"));
    assert.notEqual(g.scalar(1), g.constant("float32", [1], [1]));
    assert.notEqual(g.constant("int64", [2, 1], [1, 2]), g.ints([1, 2]));
    assert.equal(g.initializers.size, 6);
    assert.throws(() => g.constant("float32", [3], [1, 2]), /constant of shape \[3\] with 2 values/);
  });

  it("makes the typed array of each dtype", () => {
    assert.deepEqual(typedArray("float32", [1.5]), Float32Array.of(1.5));
    assert.deepEqual(typedArray("float64", [1.5]), Float64Array.of(1.5));
    assert.deepEqual(typedArray("int64", [-1]), BigInt64Array.of(-1n));
    assert.deepEqual(typedArray("int32", [-1]), Int32Array.of(-1));
    assert.deepEqual(typedArray("int8", [-1]), Int8Array.of(-1));
    assert.deepEqual(typedArray("uint8", [255]), Uint8Array.of(255));
    assert.deepEqual(typedArray("bool", [1]), Uint8Array.of(1));
    assert.deepEqual(typedArray("uint32", [7]), Uint32Array.of(7));
    assert.deepEqual(typedArray("float16", [1.5]), Uint16Array.of(0x3e00));
    assert.deepEqual(typedArray("bfloat16", [1.5]), Uint16Array.of(0x3fc0));
  });

  it("folds Shape -> Gather -> Concat -> Reshape to a constant target", () => {
    const { g, e, ops } = make();
    const x = g.input("x", "float32", [2, 3, 4]);
    const shape = g.op("Shape", [x]);
    const batch = e.unsqueeze(e.gather(shape, g.scalar(0, "int64")), [0]);
    const rest = e.mul(e.slice(shape, 0, 1, 2), g.ints([4]));
    const target = e.concat([batch, rest], 0);
    assert.deepEqual(e.reshapeTo(x, target).shape, [2, 12]);
    assert.deepEqual(ops(), ["Reshape"]);
  });

  it("carries symbols through shape arithmetic where it cannot fold", () => {
    const { g, e, ops } = make();
    const x = g.input("x", "float32", ["B", "N", 4]);
    const batch = g.op("Shape", [x], { start: 0, end: 1 });
    const y = e.reshapeTo(x, e.concat([batch, g.ints([-1])], 0));
    assert.deepEqual(y.shape, ["B", "4*N"]);
    assert.deepEqual(ops(), ["Shape", "Concat", "Reshape"]);
  });

  it("folds an exporter's expand: Where(Equal(shape, -1), ones, shape)", () => {
    const { g, e, ops } = make();
    const x = g.input("x", "float32", [1, 3]);
    const like = g.input("like", "float32", [5, 2]);
    const wanted = e.concat([g.op("Shape", [like], { end: 1 }), g.ints([-1])], 0);
    const ones = g.op("ConstantOfShape", [g.ints([2])], { value: intsOf([1], () => 1) });
    const target = e.where(e.equal(wanted, e.mul(ones, -1)), ones, wanted);
    assert.deepEqual(g.op("Expand", [x, target]).shape, [5, 3]);
    assert.deepEqual(ops(), ["Equal", "Expand"]);
    // and what only led to the folded shape is not in the graph
    g.output("y", g.op("Expand", [x, target]));
    const actual = g.build().nodes.map((n) => n.op);
    assert.deepEqual(actual, ["Expand", "Identity"]);
  });

  it("leaves out what no output needs", () => {
    const { g, e } = make();
    const x = g.input("x", "float32", [2]);
    const w = g.initializer("w", "float32", [2], new Float32Array(2));
    g.initializer("unused", "float32", [1], new Float32Array(1));
    e.exp(e.mul(x, w));
    e.add(x, 3);
    g.output("y", e.add(x, w));
    const graph = g.build({ made: "by test" });
    const ops = graph.nodes.map((n) => n.op);
    assert.deepEqual(ops, ["Add", "Identity"]);
    assert.deepEqual([...graph.initializers.keys()], ["w"]);
    const names = graph.outputs.map((o) => o.name);
    assert.deepEqual(names, ["y"]);
    assert.deepEqual(graph.metadata, { made: "by test" });
  });

  it("keeps one output under two names apart", () => {
    const { g, e } = make();
    const y: Value = e.exp(g.input("x", "float32", [2]));
    g.output("a", y);
    g.output("b", y);
    const names = g.build().outputs.map((o) => o.name);
    assert.deepEqual(names, ["a", "b"]);
  });
});
