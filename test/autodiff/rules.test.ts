import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { backward } from "../../src/autodiff/backward.js";
import { RULES } from "../../src/autodiff/rules.js";
import { messageOf, UserError } from "../../src/core/errors.js";
import { Rng } from "../../src/core/rng.js";
import { Emitter } from "../../src/onnx/emit.js";
import { encodeModel } from "../../src/onnx/format/proto.js";
import { GraphBuilder } from "../../src/onnx/graph.js";
import { sizeOf } from "../../src/onnx/shapes.js";
import type { Tensor, Value } from "../../src/onnx/types.js";
import { relativeError } from "../support/golden.js";
import { runGraph } from "../support/run-graph.js";
import { cpuRuntime } from "../support/temporary.js";
import { f32 } from "../support/tensors.js";
import { CASES } from "./cases.js";
import { draw, fixed, KERNEL, type OpCase, type Operand } from "./operands.js";

const runtime = await cpuRuntime();

type Float = "float32" | "float64";

/** Step and tolerance of a central difference: in float32 rounding of the loss (1e-7) is divided by the step. */
const STEP: Readonly<Record<Float, number>> = { float64: 1e-5, float32: 1e-2 };
const TOLERANCE: Readonly<Record<Float, number>> = { float64: 1e-6, float32: 2e-3 };

interface Built {
  readonly bytes: Uint8Array;
  readonly feeds: Record<string, Tensor>;
  /** Names of the inputs that are differentiated; their gradients are the outputs `grad/<name>`. */
  readonly wrt: readonly string[];
}

/** loss = sum over the outputs of sum(output * fixed random weights), with its gradients. */
function build(op: string, test: OpCase, float: Float): Built {
  const rng = Rng.named(7, `${op}/${test.title}`);
  const g = new GraphBuilder(op);
  const e = new Emitter(g);
  const feeds: Record<string, Tensor> = {};
  const operand = (spec: Operand, name: string): Value => {
    const tensor = draw(spec, float, rng);
    if (spec.role === "constant") return g.initializer(name, tensor.dtype, tensor.shape, tensor.data);
    feeds[name] = tensor;
    return g.input(name, tensor.dtype, tensor.shape);
  };
  const inputs = test.inputs.map((spec, i) => spec && operand(spec, `x${i}`));
  const options = test.keep === undefined ? {} : { count: test.keep };
  const outputs = g.node(op, inputs, test.attributes, options).slice(0, test.outputs);
  const terms = outputs.map((y, i) => {
    const weights = { ...fixed(y.shape as number[], { low: -1, high: 1 }), dtype: y.dtype };
    return e.total(e.mul(y, operand(weights, `weights${i}`)));
  });
  const loss = terms.reduce((a, b) => e.add(a, b));
  const wrt = inputs.filter((x, i): x is Value => test.inputs[i]?.role === "wrt" && x !== undefined);
  const gradients = backward(g, loss, wrt);
  g.output("loss", loss);
  wrt.forEach((x, i) => void g.output(`grad/${x.name}`, gradients[i] as Value));
  return { bytes: encodeModel(g.build()), feeds, wrt: wrt.map((x) => x.name) };
}

describe("gradient rules", () => {
  /** Central differences of the loss over every element of one input. */
  async function differences(
    session: string,
    feeds: Record<string, Tensor>,
    name: string,
    step: number,
  ): Promise<number[]> {
    const tensor = feeds[name] as Tensor;
    const data = tensor.data as Float64Array | Float32Array;
    const lossAt = async (i: number, change: number): Promise<number> => {
      const moved = data.slice();
      moved[i] = (moved[i] as number) + change;
      const changed = { ...feeds, [name]: { ...tensor, data: moved } };
      const out = await runtime.run(session, { feeds: changed, fetch: ["loss"] });
      return Number(out.loss?.data[0]);
    };
    return Promise.all(
      Array.from(data, async (_, i) => {
        const [up, down] = await Promise.all([lossAt(i, step), lossAt(i, -step)]);
        return (up - down) / (2 * step);
      }),
    );
  }

  async function check(op: string, test: OpCase, float: Float): Promise<void> {
    const { bytes, feeds, wrt } = build(op, test, float);
    assert.ok(wrt.length > 0, "nothing is differentiated");
    await runtime.load("case", { bytes });
    try {
      const analytic = await runtime.run("case", { feeds, fetch: wrt.map((name) => `grad/${name}`) });
      for (const name of wrt) {
        const gradient = analytic[`grad/${name}`] as Tensor;
        assert.deepEqual(gradient.shape, feeds[name]?.shape, name);
        assert.equal(gradient.dtype, feeds[name]?.dtype, name);
        const expected = await differences("case", feeds, name, STEP[float]);
        const error = relativeError(gradient.data as Float64Array, expected);
        const detail = `${name}: error ${error}\n  rule ${gradient.data}\n  differences ${expected}`;
        assert.ok(error < TOLERANCE[float], detail);
      }
    } finally {
      await runtime.unload("case");
    }
  }

  for (const [op, cases] of Object.entries(CASES)) {
    it(`${op} (${cases.length} cases)`, async () => {
      const problems: string[] = [];
      for (const test of cases) {
        const float = test.float32 === undefined ? "float64" : "float32";
        await check(op, test, float).catch((error: unknown) => problems.push(`${test.title}: ${messageOf(error)}`));
      }
      assert.deepEqual(problems, []);
    });
  }

  it("runs in float32 only where float64 has no kernel", async () => {
    for (const [op, cases] of Object.entries(CASES)) {
      const test = cases.find((c) => c.float32 === KERNEL);
      if (test === undefined) continue;
      await assert.rejects(
        check(op, test, "float64"),
        /NOT_IMPLEMENTED|Could not find an implementation|Type .tensor\(double\). of input|Failed to find kernel/,
        op,
      );
    }
  });

  it("has a case for every rule", () => {
    const rules = Object.entries(RULES).flatMap(([op, rule]) => (typeof rule === "function" ? [op] : []));
    assert.deepEqual(Object.keys(CASES).sort(), rules.sort());
    for (const [op, cases] of Object.entries(CASES)) assert.ok(cases.length > 0, op);
  });

  it("keeps tensors small, as each element takes two runs", () => {
    for (const [op, cases] of Object.entries(CASES)) {
      for (const { title, inputs } of cases) {
        for (const input of inputs)
          assert.ok(input?.role === "constant" || sizeOf(input?.shape ?? []) <= 24, `${op}, ${title}`);
      }
    }
  });

  it("refuses forms without a rule", () => {
    const attempt = (
      op: string,
      inputs: (g: GraphBuilder) => Value[],
      attributes: Record<string, string>,
      output = 0,
    ) => {
      const g = new GraphBuilder("refused");
      const e = new Emitter(g);
      const operands = inputs(g);
      const y = g.scope("block", () => g.node(op, operands, attributes)[output] as Value);
      backward(g, e.total(y), [operands[0] as Value]);
    };
    const refused = (pattern: RegExp) => (error: unknown) => error instanceof UserError && pattern.test(error.message);
    const scatter = (g: GraphBuilder): Value[] => {
      return [g.input("x", "float32", [3]), g.input("i", "int64", [2]), g.input("u", "float32", [2])];
    };
    assert.throws(
      () => attempt("ScatterElements", scatter, { reduction: "mul" }),
      refused(/ScatterElements with reduction mul at \/block\/ScatterElements/),
    );
    const norm = (g: GraphBuilder): Value[] => [g.input("x", "float32", [2, 3]), g.input("w", "float32", [3])];
    for (const op of ["SimplifiedLayerNormalization", "LayerNormalization"])
      assert.throws(() => attempt(op, norm, {}, 1), refused(new RegExp(`${op} through an output beside the first`)));
  });

  it("gives ReduceL2 a gradient of 0 at the zero vector, as PyTorch does", async () => {
    const g = new GraphBuilder("norm");
    const e = new Emitter(g);
    const x = g.input("x", "float32", [2, 2]);
    const [dx] = backward(g, e.total(g.op("ReduceL2", [x, g.ints([1])], { keepdims: 0 })), [x]) as [Value];
    g.output("dx", dx);
    const out = await runGraph(runtime, g.build(), { x: f32([2, 2], 0, 0, 3, -4) });
    assert.ok(relativeError(out.dx?.data as Float32Array, [0, 0, 0.6, -0.8]) < 1e-6, String(out.dx?.data));
  });

  it("gives rows that attention hides altogether no gradient", async () => {
    const g = new GraphBuilder("hidden");
    const e = new Emitter(g);
    const x = g.input("x", "float32", [2, 2]);
    const p = e.softmax(e.add(x, g.input("bias", "float32", [2, 2])));
    const kept = e.where(g.op("IsNaN", [p]), g.scalar(0), p);
    const [dx] = backward(g, e.total(e.mul(kept, g.input("w", "float32", [2, 2]))), [x]) as [Value];
    g.output("dx", dx);
    const [none, shape] = [Number.NEGATIVE_INFINITY, [2, 2]];
    const feeds = { x: f32(shape, 1, 1, 0, 0), bias: f32(shape, none, none, 0, 0), w: f32(shape, 1, 2, 1, 3) };
    const out = await runGraph(runtime, g.build(), feeds);
    assert.ok(relativeError(out.dx?.data as Float32Array, [0, 0, -0.5, 0.5]) < 1e-6, String(out.dx?.data));
  });

  it("shares the gradient among ties of ReduceMax, and gives it to the first of Max", async () => {
    const g = new GraphBuilder("ties");
    const e = new Emitter(g);
    const x = g.input("x", "float32", [4]);
    const y = g.input("y", "float32", [4]);
    const loss = e.add(e.total(e.maxOver(x, [0])), e.total(e.max(x, y)));
    const [dx, dy] = backward(g, loss, [x, y]) as [Value, Value];
    g.output("dx", dx);
    g.output("dy", dy);
    const out = await runGraph(runtime, g.build(), { x: f32([4], 3, 1, 3, 0), y: f32([4], 3, 2, 0, 0) });
    assert.deepEqual(out.dx, f32([4], 1.5, 0, 1.5, 1));
    assert.deepEqual(out.dy, f32([4], 0, 1, 0, 0));
  });
});
