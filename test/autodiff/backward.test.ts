import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { backward } from "../../src/autodiff/backward.js";
import { Emitter } from "../../src/onnx/emit.js";
import { GraphBuilder } from "../../src/onnx/graph.js";
import type { Tensor, Value } from "../../src/onnx/types.js";
import { runGraph } from "../support/run-graph.js";
import { cpuRuntime } from "../support/temporary.js";
import { f32 } from "../support/tensors.js";
import { userError } from "../support/user-error.js";

const runtime = await cpuRuntime();

function sketch() {
  const g = new GraphBuilder("test");
  let from = 0;
  return {
    g,
    e: new Emitter(g),
    x: (name: string, ...shape: number[]): Value => g.input(name, "float32", shape),
    mark: (): void => {
      from = g.nodes.length;
    },
    /** Ops of the nodes that were added since `mark`. */
    added: (): string[] => g.nodes.slice(from).map((n) => n.op),
  };
}

const named = (message: RegExp) => userError(message, { hint: /./ });

describe("backward", () => {
  /** Runs the gradients, as d0, d1, ... */
  async function run(g: GraphBuilder, gradients: readonly Value[], feeds: Record<string, Tensor>): Promise<Tensor[]> {
    gradients.forEach((d, i) => void g.output(`d${i}`, d));
    const out = await runGraph(runtime, g.build(), feeds);
    return gradients.map((_, i) => out[`d${i}`] as Tensor);
  }

  it("adds up the gradients of a value that is used several times", async () => {
    const { g, e, x } = sketch();
    const a = x("a", 2);
    // 3a + a^2 + a
    const loss = e.total(e.add(e.add(e.mul(a, 3), e.mul(a, a)), a));
    const [d] = await run(g, backward(g, loss, [a]), { a: f32([2], 2, -1) });
    assert.deepEqual(d, f32([2], 8, 2));
  });

  it("adds up inside Gemm where a matrix is used in several products", async () => {
    const { g, e, x, mark, added } = sketch();
    const [a, b, w] = [x("a", 1, 2), x("b", 1, 2), x("w", 2, 2)];
    const loss = e.total(e.add(e.gemm(a, w), e.gemm(b, w)));
    mark();
    const gradients = backward(g, loss, [w]);
    const actual = added().filter((op) => op !== "Expand" && op !== "Reshape");
    assert.deepEqual(actual, ["Gemm", "Gemm"]);
    const [d] = await run(g, gradients, { a: f32([1, 2], 1, 2), b: f32([1, 2], 10, 20), w: f32([2, 2], 0, 0, 0, 0) });
    assert.deepEqual(d, f32([2, 2], 11, 11, 22, 22));
  });

  it("adds a fused product to a gradient that was not fused", async () => {
    const { g, e, x } = sketch();
    const [a, w] = [x("a", 1, 2), x("w", 2, 2)];
    const loss = e.add(e.total(e.gemm(a, w)), e.total(e.mul(w, w)));
    const [d] = await run(g, backward(g, loss, [w]), { a: f32([1, 2], 1, 2), w: f32([2, 2], 1, 2, 3, 4) });
    assert.deepEqual(d, f32([2, 2], 3, 5, 8, 10));
  });

  it("sums over what was broadcast", async () => {
    const { g, e, x } = sketch();
    const [a, b, s] = [x("a", 2, 3), x("b", 1, 2, 1), x("s")];
    const loss = e.total(e.mul(e.mul(a, b), s));
    const feeds = { a: f32([2, 3], 1, 2, 3, 4, 5, 6), b: f32([1, 2, 1], 10, 100), s: f32([], 2) };
    const [da, db, ds] = await run(g, backward(g, loss, [a, b, s]), feeds);
    assert.deepEqual(da, f32([2, 3], 20, 20, 20, 200, 200, 200));
    assert.deepEqual(db, f32([1, 2, 1], 12, 30));
    assert.deepEqual(ds, f32([], 1560));
  });

  it("never builds the gradient of what is not asked for", () => {
    const { g, e, x, mark, added } = sketch();
    const [a, w, other] = [x("a", 2, 2), x("w", 2, 2), x("other", 2, 2)];
    // TopK and Exp have nothing to do with w: no rule is needed, and nothing is emitted for them
    const top = g.node("TopK", [e.exp(other), g.ints([1])], { axis: -1 })[0] as Value;
    const loss = e.total(e.mul(e.gemm(a, w), top));
    e.total(e.exp(w));
    mark();
    backward(g, loss, [w]);
    assert.deepEqual(added(), ["Reshape", "Expand", "Mul", "Gemm"]);
  });

  it("emits nothing for parameters that the loss does not depend on", async () => {
    const { g, e, x, mark, added } = sketch();
    const [a, b] = [x("a", 2), x("b", 2, 2)];
    e.exp(b);
    const loss = e.total(a);
    mark();
    const gradients = backward(g, loss, [a, b]);
    assert.deepEqual(added(), ["Reshape", "Expand", "Expand"]);
    const [da, db] = await run(g, gradients, { a: f32([2], 1, 2), b: f32([2, 2], 1, 2, 3, 4) });
    assert.deepEqual(da, f32([2], 1, 1));
    assert.deepEqual(db, f32([2, 2], 0, 0, 0, 0));
  });

  it("gives the gradient of a loss that is the parameter itself", async () => {
    const { g, x } = sketch();
    const a = x("a");
    const [d] = await run(g, backward(g, a, [a]), { a: f32([], 5) });
    assert.deepEqual(d, f32([], 1));
  });

  it("starts from given accumulators, in Gemm where it can", async () => {
    const { g, e, x, mark, added } = sketch();
    const [a, w, gain, idle] = [x("a", 1, 2), x("w", 2, 2), x("gain", 2), x("idle", 1)];
    const initial = new Map([w, gain, idle].map((p) => [p.name, x(`acc/${p.name}`, ...(p.shape as number[]))]));
    const loss = e.total(e.mul(e.gemm(a, w), gain));
    mark();
    const gradients = backward(g, loss, [w, gain, idle], initial);
    assert.equal(added().filter((op) => op === "Add").length, 1);
    const [dw, dgain, didle] = await run(g, gradients, {
      a: f32([1, 2], 1, 2),
      w: f32([2, 2], 1, 2, 3, 4),
      gain: f32([2], 1, -1),
      idle: f32([1], 0),
      "acc/w": f32([2, 2], 100, 200, 300, 400),
      "acc/gain": f32([2], 1000, 2000),
      "acc/idle": f32([1], 7),
    });
    assert.deepEqual(dw, f32([2, 2], 101, 199, 302, 398));
    assert.deepEqual(dgain, f32([2], 1007, 2010));
    assert.deepEqual(didle, f32([1], 7));
  });

  it("takes zeros for an output of Split that is not used", async () => {
    const { g, e, x } = sketch();
    const a = x("a", 5);
    const [first, , last] = e.split(a, [1, 2, 2], 0) as [Value, Value, Value];
    const loss = e.add(e.total(e.mul(first, 3)), e.total(e.mul(last, last)));
    const [d] = await run(g, backward(g, loss, [a]), { a: f32([5], 1, 2, 3, 4, 5) });
    assert.deepEqual(d, f32([5], 3, 0, 0, 8, 10));
  });

  it("stops at integers, comparisons and steps", async () => {
    const { g, e, x } = sketch();
    const a = x("a", 3);
    const best = g.op("ArgMax", [a], { axis: 0, keepdims: 0 });
    const rounded = g.op("Floor", [a]);
    const positive = e.indicator(e.greater(a, 0));
    const whole = e.cast(e.cast(a, "int64"), "float32");
    const parts = [e.mul(e.gather(a, best), 2), rounded, positive, whole];
    const loss = parts.map((v) => e.total(v)).reduce((p, q) => e.add(p, q));
    const [d] = await run(g, backward(g, loss, [a]), { a: f32([3], 1.5, 2.5, -1) });
    assert.deepEqual(d, f32([3], 0, 2, 0));
  });

  it("names op, node and parameter where a rule is missing", () => {
    const { g, e, x } = sketch();
    const w = x("model.w", 3);
    const h = g.scope("layers.0", () => e.exp(w));
    const top = g.scope("sorted", () => g.node("TopK", [h, g.ints([2])])[0] as Value);
    const missing = named(/No gradient rule for TopK at \/sorted\/TopK .*model\.w/);
    assert.throws(() => backward(g, e.total(top), [w]), missing);
  });

  it("names op, node, input and parameter where an input has no gradient", () => {
    const { g, e, x } = sketch();
    const [a, p] = [x("a", 3), x("p", 3)];
    const y = g.scope("power", () => g.op("Pow", [a, e.exp(p)]));
    const message = /input 1 \(\/power\/Exp:0\) of Pow at \/power\/Pow, which depends on p/;
    assert.throws(() => backward(g, e.total(y), [a, p]), userError(message));
    // but is fine while nothing before that input is trained
    backward(g, e.total(y), [a]);
  });

  it("refuses a loss that is no scalar", () => {
    const { g, e, x } = sketch();
    const a = x("a", 1);
    assert.throws(() => backward(g, e.exp(a), [a]), /the loss must be a scalar, got \[1\]/);
    const b = g.input("b", "float32", ["N"]);
    assert.throws(() => backward(g, e.exp(b), [b]), /the loss must be a scalar, got \[N\]/);
  });

  it("puts gradients under the path of their forward node", () => {
    const { g, e, x, mark } = sketch();
    const w = x("w", 2);
    const loss = e.total(g.scope("layers.3", () => e.exp(w)));
    mark();
    backward(g, loss, [w]);
    assert.ok(g.nodes.some((n) => n.name.startsWith("/grad/layers.3/Exp/")));
  });
});
