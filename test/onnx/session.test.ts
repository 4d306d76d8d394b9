import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import type { Worker } from "node:worker_threads";
import { UserError } from "../../src/core/errors.js";
import { encodeModel } from "../../src/onnx/format/proto.js";
import type { BindingName } from "../../src/onnx/runtimes/messages.js";
import { loadHint, Runtime } from "../../src/onnx/session.js";
import type { Dim, DType, Initializer, Tensor, TypedArray, Value } from "../../src/onnx/types.js";
import { BINDINGS } from "../support/bindings.js";
import { temporaryFolder } from "../support/temporary.js";
import { f32 as float32 } from "../support/tensors.js";

const value = (name: string, shape: readonly Dim[], dtype: DType = "float32"): Value => ({ name, dtype, shape });
const f32 = (...data: number[]): Tensor => float32([data.length], ...data);
const numbers = (tensor: Tensor | undefined): number[] =>
  Array.from((tensor?.data ?? []) as ArrayLike<number | bigint>, Number);

/** A model of one node: outputs[0] = op(inputs, initializers). */
function model(op: string, inputs: readonly Value[], output: Value, constants: Initializer[] = []): Uint8Array {
  const all = [...inputs, ...constants.map((constant) => constant.value)];
  return encodeModel({
    name: op,
    opset: 21,
    inputs,
    outputs: [output],
    nodes: [{ name: `/${op}`, op, domain: "", inputs: all, outputs: [output], attributes: {} }],
    initializers: new Map(constants.map((constant) => [constant.value.name, constant])),
  });
}

const INCREMENT = model("Add", [value("x", ["N"])], value("y", ["N"]), [
  { value: value("one", []), data: Float32Array.of(1) },
]);

/** s = a + b, d = a - b, p = a * b over one symbol N. */
function arithmetic(): Uint8Array {
  const [a, b] = [value("a", ["N"]), value("b", ["N"])];
  const ops = { s: "Add", d: "Sub", p: "Mul" };
  return encodeModel({
    name: "arithmetic",
    opset: 21,
    inputs: [a, b],
    outputs: Object.keys(ops).map((name) => value(name, ["N"])),
    nodes: Object.entries(ops).map(([name, op]) => {
      return { name: `/${op}`, op, domain: "", inputs: [a, b], outputs: [value(name, ["N"])], attributes: {} };
    }),
    initializers: new Map(),
  });
}

const runtimeTests = (binding: BindingName) => () => {
  let runtime: Runtime;
  before(async () => {
    runtime = await Runtime.open({ provider: "cpu", threads: 1, binding });
    await runtime.load("increment", { bytes: INCREMENT });
    await runtime.load("arithmetic", { bytes: arithmetic() });
  });
  after(() => runtime.close());

  it("multiplies matrices", async () => {
    const bytes = model("MatMul", [value("a", ["M", 2]), value("b", [2, "N"])], value("c", ["M", "N"]));
    await runtime.load("matmul", { bytes });
    const [a, b] = [float32([1, 2], 2, 3), float32([2, 2], 1, 10, 100, 1000)];
    const { c } = await runtime.run("matmul", { feeds: { a, b } });
    assert.deepEqual(c, float32([1, 2], 302, 3020));
    assert.ok(runtime.has("matmul"));
    await runtime.unload("matmul");
    assert.ok(!runtime.has("matmul"));
    await assert.rejects(runtime.run("matmul", { feeds: { a, b } }), /session "matmul": is not loaded/);
  });

  it("keeps a state in the store over runs: x becomes x + 1", async () => {
    await runtime.put("state", f32(1, 2, 3));
    for (let step = 0; step < 3; step++) {
      const returned = await runtime.run("increment", { feeds: {}, bind: { x: "state" }, keep: { y: "state" } });
      assert.deepEqual(returned, {});
    }
    assert.deepEqual(await runtime.get("state"), f32(4, 5, 6));
    // the copy that get gave away is not the store's
    ((await runtime.get("state")).data as Float32Array).fill(0);
    assert.deepEqual(await runtime.get("state"), f32(4, 5, 6));
    await runtime.drop(["state", "never there"]);
    await assert.rejects(runtime.get("state"), /"state" is not in the store/);
  });

  it("returns what is fetched, by default all that is not kept", async () => {
    const feeds = { a: f32(5), b: f32(3) };
    const names = async (request: object): Promise<string[]> =>
      Object.keys(await runtime.run("arithmetic", { feeds, ...request })).sort();
    assert.deepEqual(await names({}), ["d", "p", "s"]);
    assert.deepEqual(await names({ keep: { s: "sum" } }), ["d", "p"]);
    assert.deepEqual(await names({ fetch: ["p"] }), ["p"]);
    assert.deepEqual(await names({ keep: { s: "sum" }, fetch: ["s"] }), ["s"]);
    assert.deepEqual(await names({ keep: { s: "sum" }, fetch: [] }), []);
    assert.deepEqual(numbers(await runtime.get("sum")), [8]);
    await assert.rejects(names({ fetch: [] }), /no output is kept or fetched/);
  });

  it("answers calls in the order they were made", async () => {
    const gets: Promise<Tensor>[] = [];
    for (let step = 0; step < 5; step++) {
      void runtime.put("counter", f32(step));
      void runtime.run("increment", { feeds: {}, bind: { x: "counter" }, keep: { y: "counter" } });
      gets.push(runtime.get("counter"));
    }
    assert.deepEqual((await Promise.all(gets)).map(numbers), [[1], [2], [3], [4], [5]]);
  });

  it("carries every dtype that its tensors have", async () => {
    const data: Partial<Record<DType, TypedArray>> = {
      float32: Float32Array.of(1.5, -2),
      float64: Float64Array.of(Math.PI, 0),
      float16: Uint16Array.of(0x3c00, 0x0001),
      int64: BigInt64Array.of(-(2n ** 63n), 2n ** 63n - 1n),
      int32: Int32Array.of(-1, 2 ** 31 - 1),
      int8: Int8Array.of(-128, 127),
      uint8: Uint8Array.of(0, 255),
      uint32: Uint32Array.of(0, 2 ** 32 - 1),
      bool: Uint8Array.of(0, 1),
    };
    for (const [key, array] of Object.entries(data)) {
      const dtype = key as DType;
      await runtime.load(dtype, { bytes: model("Identity", [value("x", [2], dtype)], value("y", [2], dtype)) });
      const x: Tensor = { dtype, shape: [2], data: array };
      assert.deepEqual((await runtime.run(dtype, { feeds: { x } })).y, x, dtype);
    }
    const bits: Tensor = { dtype: "bfloat16", shape: [1], data: Uint16Array.of(1) };
    if (binding === "npm") return assert.rejects(runtime.put("bits", bits), /cannot take bfloat16/);
    await runtime.put("bits", bits);
    const bytes = model("Identity", [value("x", [1], "bfloat16")], value("y", [1], "bfloat16"));
    await runtime.load("bits", { bytes });
    await runtime.run("bits", { feeds: {}, bind: { x: "bits" }, keep: { y: "bits" } });
    return assert.deepEqual(await runtime.get("bits"), bits);
  });

  it("carries scalars and empty tensors", async () => {
    await runtime.load("scalar", { bytes: model("Neg", [value("x", [])], value("y", [])) });
    assert.deepEqual((await runtime.run("scalar", { feeds: { x: float32([], 2) } })).y, float32([], -2));
    assert.deepEqual((await runtime.run("increment", { feeds: { x: f32() } })).y, f32());
  });

  it("copies feeds at the call: the caller's array stays usable, views and Buffers included", async () => {
    const big = new Float32Array(1000).fill(7);
    const x: Tensor = { dtype: "float32", shape: [2], data: big.subarray(10, 12) };
    const result = runtime.run("increment", { feeds: { x } });
    big.fill(0);
    assert.deepEqual(numbers((await result).y), [8, 8]);
    assert.equal(big.length, 1000);
    await runtime.put("buffer", { dtype: "uint8", shape: [3], data: Buffer.from("abc") });
    assert.deepEqual((await runtime.get("buffer")).data, Uint8Array.of(97, 98, 99));
    const bytes = Uint8Array.from(INCREMENT);
    await runtime.load("again", { bytes });
    assert.deepEqual(bytes, INCREMENT);
  });

  it("finds external weights in weightsDir", async () => {
    const dir = temporaryFolder("session-test");
    writeFileSync(join(dir, "w.bin"), new Uint8Array(Float32Array.of(99, 10, 20).buffer));
    const weights: Initializer = { value: value("w", [2]), data: { file: "w.bin", offset: 4, length: 8 } };
    const bytes = model("Add", [value("x", [2])], value("y", [2]), [weights]);
    for (const prepack of [true, false]) {
      const name = `external ${prepack}`;
      await runtime.load(name, { bytes, weightsDir: dir }, { prepack, memPattern: false, optimization: "basic" });
      assert.deepEqual(numbers((await runtime.run(name, { feeds: { x: f32(1, 2) } })).y), [11, 22]);
      await runtime.unload(name);
    }
    await assert.rejects(runtime.load("lost", { bytes, weightsDir: join(dir, "none") }), /session "lost": /);
    assert.ok(!runtime.has("lost"));
  });

  it("names the session and the input that does not fit", async () => {
    const fails = (feeds: Record<string, Tensor>, bind: Record<string, string>, pattern: RegExp): Promise<void> =>
      assert.rejects(runtime.run("arithmetic", { feeds, bind }), ({ message }: Error) => {
        return message.startsWith('session "arithmetic": ') && pattern.test(message);
      });
    const a = f32(1, 2);
    await fails({ a }, {}, /input "b" is neither fed nor bound/);
    await fails({ a }, { b: "nothing" }, /input "b" is bound to "nothing", which is not in the store/);
    await fails({ a, b: a }, { b: "nothing" }, /input "b" is both fed and bound/);
    await fails({ a, b: a, bb: a }, {}, /no input "bb", did you mean "b"\?/);
    const doubles: Tensor = { dtype: "float64", shape: [2], data: Float64Array.of(1, 2) };
    await fails({ a, b: doubles }, {}, /input "b": expected float32 \[N\], got float64 \[2\]/);
    await fails({ a, b: { ...a, shape: [1, 2] } }, {}, /input "b": expected float32 \[N\], got float32 \[1, 2\]/);
    await fails({ a, b: f32(1) }, {}, /input "b": expected float32 \[N\], got float32 \[1\] \(N is 2 in input "a"\)/);
    await fails({ a, b: { ...a, shape: [3] } }, {}, /input "b": shape \[3\] wants 3 elements, got 2/);
    const array = /input "b": a int64 tensor wants a BigInt64Array, got Float32Array/;
    await fails({ a, b: { ...a, dtype: "int64" } }, {}, array);
    const unknown = runtime.run("arithmetic", { feeds: { a, b: a }, fetch: ["q"] });
    await assert.rejects(unknown, /session "arithmetic": has no output "q"/);
    await assert.rejects(runtime.load("junk", { bytes: Uint8Array.of(1, 2, 3) }), /session "junk": /);
    await assert.rejects(runtime.load("increment", { bytes: INCREMENT }), /session "increment": is loaded already/);
    // and goes on working
    assert.deepEqual(numbers((await runtime.run("increment", { feeds: { x: f32(1) } })).y), [2]);
  });

  it("leaves the store as it was when a run fails", async () => {
    const reshape = model("Reshape", [value("x", ["N"]), value("shape", ["R"], "int64")], value("y", ["M"]));
    await runtime.load("reshape", { bytes: reshape });
    await runtime.put("kept", f32(1, 2, 3));
    const shape: Tensor = { dtype: "int64", shape: [1], data: BigInt64Array.of(2n) };
    const request = { feeds: { shape }, bind: { x: "kept" }, keep: { y: "kept" } };
    await assert.rejects(runtime.run("reshape", request), /session "reshape": /);
    assert.deepEqual(await runtime.get("kept"), f32(1, 2, 3));
  });
};

const lifeTests = (binding: BindingName) => () => {
  it("close answers earlier calls, refuses later ones, and can be repeated", async () => {
    const runtime = await Runtime.open({ provider: "cpu", threads: 1, binding });
    await runtime.load("increment", { bytes: INCREMENT });
    const earlier = runtime.run("increment", { feeds: { x: f32(1) } });
    const closed = runtime.close();
    const later = runtime.run("increment", { feeds: { x: f32(1) } });
    await assert.rejects(later, /session "increment": The runtime is closed/);
    assert.deepEqual(numbers((await earlier).y), [2]);
    await Promise.all([closed, runtime.close()]);
    await assert.rejects(runtime.get("x"), /closed/);
    assert.ok(!runtime.has("increment"));
  });

  it("a worker that dies rejects pending and later calls", async () => {
    const runtime = await Runtime.open({ provider: "cpu", threads: 1, binding });
    const { worker } = runtime as unknown as { worker: Worker };
    const dead = worker.terminate();
    await assert.rejects(runtime.get("x"), /ONNX Runtime worker ended unexpectedly/);
    await dead;
    await assert.rejects(runtime.put("x", f32(1)), /ONNX Runtime worker ended unexpectedly/);
    await runtime.close();
  });

  it("refuses a thread count that is none", async () => {
    await assert.rejects(Runtime.open({ threads: 0 }), UserError);
  });

  it("lets the process end when idle, and holds it while a call is pending", async () => {
    const session = new URL("../../src/onnx/session.js", import.meta.url).href;
    const program = `
      import { Runtime } from ${JSON.stringify(session)};
      const runtime = await Runtime.open({ provider: "cpu", threads: 1, binding: ${JSON.stringify(binding)} });
      const one = { dtype: "float32", shape: [1], data: Float32Array.of(1) };
      runtime.put("one", one).then(() => runtime.get("one")).then((tensor) => console.log("got", tensor.data[0]));`;
    const run = promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], { timeout: 60_000 });
    assert.equal((await run).stdout, "got 1\n");
  });
};

for (const binding of BINDINGS) {
  describe(`Runtime over ${binding}`, runtimeTests(binding));
  describe(`the life of a Runtime over ${binding}`, lifeTests(binding));
}

it("names Docker where ONNX Runtime has no binary, and the install elsewhere", () => {
  assert.match(loadHint("darwin", "x64"), /Intel Macs.*Docker/);
  assert.match(loadHint("darwin", "arm64"), /npm ci/);
  assert.match(loadHint("linux", "x64"), /npm ci/);
});
