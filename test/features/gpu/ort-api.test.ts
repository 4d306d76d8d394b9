import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { OrtApi } from "../../../src/features/gpu/ort-api.js";
import { type ExternalWeight, type ReadBytes, SharedWeights } from "../../../src/features/gpu/shared-weights.js";
import { encodeModel } from "../../../src/onnx/format/proto.js";
import { floatToFloat16 } from "../../../src/onnx/half.js";
import { libraryPath } from "../../../src/onnx/runtimes/library.js";
import type { Runtime } from "../../../src/onnx/session.js";
import { f32, i64 } from "../../../src/onnx/tensors.js";
import { DTYPE_CODE, type Node, type Tensor, type Value } from "../../../src/onnx/types.js";
import { cpuRuntime, temporaryFolder } from "../../support/temporary.js";
import { userError } from "../../support/user-error.js";

const refused = (promise: Promise<unknown>, message: RegExp, hint: RegExp): Promise<void> =>
  assert.rejects(promise, userError(message, { hint }));

describe("OrtApi", () => {
  const dir = temporaryFolder("ort-api");
  it("says what is missing or wrong, and what to do", async () => {
    await refused(OrtApi.load("/nowhere/libonnxruntime.so.1"), /is missing/, /npm ci/);
    await refused(OrtApi.load(libraryPath(), 9999), /is ONNX Runtime \d+\.\d+.*no version 9999/, /npm ci/);
    const junk = join(dir, "libonnxruntime.so.1");
    writeFileSync(junk, "no library");
    await refused(OrtApi.load(junk), /cannot be used as ONNX Runtime's library/, /npm ci/);
  });

  it("passes on what ONNX Runtime refuses, and refuses a handle after its release, which is once", async () => {
    const api = await OrtApi.load(libraryPath());
    const options = api.make("CreateSessionOptions", "ReleaseSessionOptions");
    api.check("SetIntraOpNumThreads", options, 1);
    assert.throws(() => api.check("SetSessionGraphOptimizationLevel", options, 12345), /graph_optimization_level/);
    options.free();
    options.free();
    assert.throws(() => api.check("SetIntraOpNumThreads", options, 1), /after its release/);
  });
});

describe("the C API binding", () => {
  const value = (name: string, dtype: Value["dtype"], shape = [2]): Value => ({ name, dtype, shape });
  const node = (inputs: Value[], y: Value, op: string, attributes = {}): Node => {
    return { name: `/${y.name}`, op, domain: "", inputs, outputs: [y], attributes };
  };
  const cast = (from: Value, to: Value): Node => node([from], to, "Cast", { to: DTYPE_CODE[to.dtype] });
  const loaded = async (inputs: Value[], outputs: Value[], nodes: Node[]): Promise<Runtime> => {
    const runtime = await cpuRuntime({ binding: "c-api" });
    const graph = { name: "graph", opset: 21, inputs, outputs, nodes, initializers: new Map() };
    await runtime.load("graph", { bytes: encodeModel(graph) });
    return runtime;
  };
  const numbers = (tensor: Tensor | undefined): number[] => Array.from((tensor as Tensor).data, Number);

  it("joins and casts parameters once for each of their values, whichever changes", async () => {
    const [a, b] = ["q", "k"].map((m) => value(`base_model.${m}.lora_A.weight`, "float32", [1])) as [Value, Value];
    const [all, half] = [value("all", "float32"), value("half", "bfloat16")];
    const [back, x, y] = [value("back", "float32"), value("x", "float32"), value("y", "float32")];
    const joined = node([a, b], all, "Concat", { axis: 0 });
    const nodes = [joined, cast(all, half), cast(half, back), node([back, x], y, "Add")];
    const runtime = await loaded([a, b, x], [y], nodes);
    const put = (to: Value, number: number): Promise<void> => runtime.put(to.name, f32([1], Float32Array.of(number)));
    const run = async (shift: number): Promise<number[]> => {
      const feeds = { x: f32([2], Float32Array.of(shift, 0)) };
      return numbers((await runtime.run("graph", { feeds, bind: { [a.name]: a.name, [b.name]: b.name } })).y);
    };
    // 1 + 2^-9 has no place in 16 bits
    await put(a, 1.001953125);
    await put(b, 3);
    for (const shift of [0, 4]) assert.deepEqual(await run(shift), [1 + shift, 3]);
    await put(b, 5);
    assert.deepEqual(await run(0), [1, 5]);
    await put(a, -2);
    assert.deepEqual(await run(0), [-2, 5]);
  });

  it("keeps keys and values in the 16 bits in which a graph computes them", async () => {
    const [past, present] = [value("past/0", "float32"), value("present/0", "float32")];
    const [old, sum, half] = ["old", "sum", "half"].map((name) => value(name, "float16")) as [Value, Value, Value];
    const x = value("x", "float32");
    const nodes = [cast(past, old), cast(x, half), node([old, half], sum, "Add"), cast(sum, present)];
    const runtime = await loaded([past, x], [present], nodes);
    const x1 = f32([2], Float32Array.of(1, 2));
    const keep = { "present/0": "kept" };
    // 1 + 2^-12 has no place in 16 bits
    await runtime.run("graph", { feeds: { x: x1, "past/0": f32([2], Float32Array.of(1.000244140625, 3)) }, keep });
    await runtime.run("graph", { feeds: { x: x1 }, bind: { "past/0": "kept" }, keep });
    const { dtype, data } = await runtime.get("kept");
    assert.deepEqual([dtype, data], ["float16", floatToFloat16(Float32Array.of(3, 7))]);
  });

  it("names an allocation that fails, with a next step, and goes on working", async () => {
    const shape = value("shape", "int64", [1]);
    const zeros: Value = { name: "zeros", dtype: "float32", shape: ["N"] };
    const runtime = await loaded([shape], [zeros], [node([shape], zeros, "ConstantOfShape")]);
    const run = (n: bigint) => runtime.run("graph", { feeds: { shape: i64([1], BigInt64Array.of(n)) } });
    await refused(run(2n ** 50n), /session "graph": the memory does not suffice/, /gradient_checkpointing/);
    assert.deepEqual((await run(3n)).zeros, f32([3], new Float32Array(3)));
  });
});

describe("SharedWeights", () => {
  const dir = temporaryFolder("shared-weights");
  writeFileSync(join(dir, "w.bin"), Uint8Array.from([0, 1, 2, 3, 4, 5, 6, 7]));

  const weight = (name: string, offset: number, length: number, file = "w.bin"): ExternalWeight => {
    return { name, dtype: "uint8", shape: [length], data: { file, offset, length } };
  };

  const opened = (): { weights: SharedWeights<string>; freed: string[] } => {
    const freed: string[] = [];
    const free = (tensor: string): void => void freed.push(tensor);
    return { weights: new SharedWeights(free, (whole, { shape }, from) => `${whole} ${from} ${shape}`), freed };
  };

  it("places a weight once for all that use it, and frees it when the last one leaves", async () => {
    const { weights, freed } = opened();
    const placed: string[] = [];
    const place = (_: unknown, bytes: number, read: ReadBytes): string => {
      const text = [0, 1].map((half) => [...new Uint8Array(read(half, half === 0 ? 1 : bytes - 1))].join("")).join("");
      placed.push(text);
      return text;
    };
    const first = await weights.take(dir, "cpu", [weight("a", 0, 3), weight("b", 3, 2)], place);
    const second = await weights.take(dir, "cpu", [weight("renamed", 0, 3), weight("c", 5, 3)], place);
    assert.deepEqual(Object.fromEntries(first.tensors), { a: "012", b: "34" });
    assert.deepEqual(Object.fromEntries(second.tensors), { renamed: "012", c: "567" });
    assert.deepEqual(placed, ["012", "34", "567"]);
    first.forget();
    first.forget();
    assert.deepEqual(freed, ["34"]);
    second.forget();
    assert.deepEqual(freed, ["34", "012", "567"]);
    // a part of a weight is the same memory, which stays until the part leaves
    const third = await weights.take(dir, "cpu", [weight("part", 1, 2), weight("whole", 0, 3)], place);
    const fourth = await weights.take(dir, "cpu", [weight("part", 1, 2)], place);
    assert.deepEqual(Object.fromEntries(third.tensors), { whole: "012", part: "012 1 2" });
    third.forget();
    assert.deepEqual(freed.splice(3), []);
    fourth.forget();
    assert.deepEqual([freed.splice(3), placed.splice(3)], [["012 1 2", "012"], ["012"]]);
    // another device has a copy of its own
    (await weights.take(dir, "cuda", [weight("a", 0, 3)], place)).forget();
    assert.deepEqual(placed.slice(3), ["012"]);
  });

  it("frees what was placed before a file turned out to be missing or too short", async () => {
    const { weights, freed } = opened();
    const bad = (wrong: ExternalWeight, pattern: RegExp): Promise<void> =>
      assert.rejects(
        weights.take(dir, "cpu", [weight("a", 0, 5), wrong], (_, bytes, read) => `a${read(0, bytes) ? "" : "?"}`),
        userError(pattern),
      );
    await bad(weight("b", 6, 4), /w\.bin ended at byte 8 while it was read/);
    await bad(weight("b", 0, 4, "none.bin"), /Cannot read .*none\.bin/);
    assert.deepEqual(freed, ["a", "a"]);
  });
});
