import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { UserError } from "../../../src/core/errors.js";
import { OrtApi } from "../../../src/features/gpu/ort-api.js";
import { encodeModel } from "../../../src/onnx/format/proto.js";
import { libraryPath } from "../../../src/onnx/runtimes/library.js";
import { Runtime } from "../../../src/onnx/session.js";
import { f32 } from "../../../src/onnx/tensors.js";
import { DTYPE_CODE, type Node, type Tensor, type Value } from "../../../src/onnx/types.js";
import { temporaryFolder } from "../../support/temporary.js";

const refused = (promise: Promise<unknown>, message: RegExp, hint: RegExp): Promise<void> =>
  assert.rejects(promise, (error) => {
    assert.ok(error instanceof UserError, String(error));
    assert.match(error.message, message);
    assert.match(error.hint ?? "", hint);
    return true;
  });

describe("OrtApi", () => {
  const dir = temporaryFolder("ort-api");
  it("says what is missing or wrong, and what to do", async () => {
    await refused(OrtApi.load("/nowhere/libonnxruntime.so.1"), /is missing/, /npm ci/);
    await refused(OrtApi.load(libraryPath(), 9999), /is ONNX Runtime \d+\.\d+.*no version 9999/, /npm ci/);
    const junk = join(dir, "libonnxruntime.so.1");
    writeFileSync(junk, "no library");
    await refused(OrtApi.load(junk), /cannot be used as ONNX Runtime's library/, /npm ci/);
  });

  it("refuses a handle after its release, and releases once", async () => {
    const api = await OrtApi.load(libraryPath());
    const options = api.make("CreateSessionOptions", "ReleaseSessionOptions");
    api.check("SetIntraOpNumThreads", options, 1);
    options.free();
    options.free();
    assert.throws(() => api.check("SetIntraOpNumThreads", options, 1), /after its release/);
  });

  it("passes on what ONNX Runtime refuses", async () => {
    const api = await OrtApi.load(libraryPath());
    const options = api.make("CreateSessionOptions", "ReleaseSessionOptions");
    try {
      assert.throws(() => api.check("SetSessionGraphOptimizationLevel", options, 12345), /graph_optimization_level/);
    } finally {
      options.free();
    }
  });
});

describe("the C API binding", () => {
  it("casts a parameter to 16 bits once for each of its values", async (t) => {
    const value = (name: string, dtype: Value["dtype"]): Value => ({ name, dtype, shape: [2] });
    const node = (inputs: Value[], y: Value, op: string, attributes = {}): Node => {
      return { name: `/${y.name}`, op, domain: "", inputs, outputs: [y], attributes };
    };
    const [a, x, y] = [value("base_model.m.lora_A.weight", "float32"), value("x", "float32"), value("y", "float32")];
    const [half, back] = [value("half", "bfloat16"), value("back", "float32")];
    const cast = (from: Value, to: Value): Node => node([from], to, "Cast", { to: DTYPE_CODE[to.dtype] });
    const nodes = [cast(a, half), cast(half, back), node([back, x], y, "Add")];
    const graph = { name: "casts", opset: 21, inputs: [a, x], outputs: [y], nodes, initializers: new Map() };
    const runtime = await Runtime.open({ provider: "cpu", binding: "c-api", threads: 1 });
    t.after(() => runtime.close());
    await runtime.load("casts", { bytes: encodeModel(graph) });
    const run = async (shift: number): Promise<number[]> => {
      const feeds = { x: f32([2], Float32Array.of(shift, 0)) };
      const { y } = await runtime.run("casts", { feeds, bind: { [a.name]: "a" } });
      return Array.from((y as Tensor).data, Number);
    };
    // 1 + 2^-9 has no place in 16 bits
    for (const [first, second] of [
      [1.001953125, 3],
      [-2, 5],
    ] as const) {
      await runtime.put("a", f32([2], Float32Array.of(first, second)));
      for (const shift of [0, 4]) assert.deepEqual(await run(shift), [Math.round(first) + shift, second]);
    }
  });

  it("names an allocation that fails, with a next step, and goes on working", async () => {
    const shape: Value = { name: "shape", dtype: "int64", shape: [1] };
    const zeros: Value = { name: "zeros", dtype: "float32", shape: ["N"] };
    const bytes = encodeModel({
      name: "zeros",
      opset: 21,
      inputs: [shape],
      outputs: [zeros],
      nodes: [{ name: "/Zeros", op: "ConstantOfShape", domain: "", inputs: [shape], outputs: [zeros], attributes: {} }],
      initializers: new Map(),
    });
    const runtime = await Runtime.open({ provider: "cpu", binding: "c-api", threads: 1 });
    try {
      await runtime.load("zeros", { bytes });
      const of = (n: bigint): Tensor => ({ dtype: "int64", shape: [1], data: BigInt64Array.of(n) });
      await refused(
        runtime.run("zeros", { feeds: { shape: of(2n ** 50n) } }),
        /session "zeros": the memory does not suffice/,
        /gradient_checkpointing/,
      );
      const out = await runtime.run("zeros", { feeds: { shape: of(3n) } });
      assert.deepEqual(out.zeros, { dtype: "float32", shape: [3], data: new Float32Array(3) });
    } finally {
      await runtime.close();
    }
  });
});
