import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { backward } from "../../src/autodiff/backward.js";
import { Rng } from "../../src/core/rng.js";
import { Emitter } from "../../src/onnx/emit.js";
import { GraphBuilder } from "../../src/onnx/graph.js";
import { sizeOf } from "../../src/onnx/shapes.js";
import type { Tensor, Value } from "../../src/onnx/types.js";
import { relativeError } from "../support/golden.js";
import { runGraph } from "../support/run-graph.js";
import { cpuRuntime } from "../support/temporary.js";

const runtime = await cpuRuntime();

type Build = (e: Emitter, wrt: readonly Value[], apart: (v: Value) => Value) => Value;
/** A product with what is made of scores. */
const product =
  (made: (e: Emitter, scores: Value) => Value): Build =>
  (e, [s, v], apart) =>
    e.matmul(apart(made(e, s as Value)), v as Value);
const softmax = product((e, s) => e.softmax(s));
const picking =
  (shape: readonly number[], axis: number): Build =>
  (e, [z], apart) =>
    e.gatherElements(apart(e.logSoftmax(z as Value)), indices(e, shape), axis);
/** Attention of 2 heads whose rows may see nothing: where all scores are -inf, P is NaN and counts as 0. */
const guarded = product((e, s) => {
  const p = e.softmax(s);
  return e.where(e.g.op("IsNaN", [p]), e.g.scalar(0, "float64"), p);
});

/** title -> shapes of what is differentiated, between semicolons, and a function of it; `apart` hides what lies behind a value. */
const CASES: Readonly<Record<string, { shapes: string; build: Build; saves: string }>> = {
  "a product with a softmax": { shapes: "2,3,4; 2,4,2", build: softmax, saves: "Sub" },
  "grouped heads: rows of a softmax under another shape": {
    shapes: "2,6,3,4; 2,2,4,2",
    build: product((e, s) => e.reshape(e.softmax(s), [2, 2, 9, 4])),
    saves: "Sub",
  },
  "a softmax with a second reader": {
    shapes: "2,3,4; 2,4,2",
    build: (e, [s, v], apart) => {
      const p = e.softmax(s as Value);
      return e.add(e.matmul(apart(p), v as Value), e.sum(e.mul(p, p), [-1]));
    },
    saves: "",
  },
  "a softmax that is kept from NaN": { shapes: "2,3,4; 2,4,2", build: guarded, saves: "Sub" },
  "a softmax over another axis": {
    shapes: "2,3,4; 2,4,2",
    build: product((e, s) => e.g.op("Softmax", [s], { axis: 1 })),
    saves: "",
  },
  "one matrix for all heads": { shapes: "2,3,4; 1,4,2", build: softmax, saves: "" },
  "picking from a log-softmax": { shapes: "3,5", build: picking([3, 1], 1), saves: "Sub" },
  "picking several, some twice": { shapes: "3,5", build: picking([3, 4], -1), saves: "Sub" },
  "picking along another axis": { shapes: "3,5", build: picking([1, 5], 0), saves: "" },
  "picking twice from one log-softmax, and summing over it": {
    shapes: "3,5",
    build: (e, [z], apart) => {
      const y = e.logSoftmax(z as Value);
      const [a, b] = [indices(e, [3, 1]), indices(e, [3, 2])];
      const entropy = e.sum(e.mul(e.exp(y), y), [-1]);
      const picked = e.mul(e.gatherElements(apart(y), a, 1), e.gatherElements(apart(y), b, 1));
      return e.add(picked, entropy);
    },
    saves: "",
  },
};

function indices(e: Emitter, shape: readonly number[]): Value {
  return e.g.constant(
    "int64",
    shape,
    Array.from({ length: sizeOf(shape) }, (_, i) => (i * i) % 3),
  );
}

describe("gradients of what lies behind an input", () => {
  /** The gradients in float64, and the ops that they took. */
  async function gradients(shapes: readonly number[][], build: Build, hidden: boolean) {
    const rng = Rng.named(3, "behind");
    const g = new GraphBuilder("behind");
    const e = new Emitter(g);
    const wrt = shapes.map((shape, i) => g.input(`x${i}`, "float64", shape));
    const y = build(e, wrt, (v) => (hidden ? g.op("Identity", [v]) : v));
    const numbers = (n: number): number[] => Array.from({ length: n }, () => 4 * rng.uniform() - 2);
    const weights = g.constant("float64", y.shape as number[], numbers(sizeOf(y.shape)));
    const loss = e.total(e.mul(y, weights));
    const ours = backward(g, loss, wrt);
    for (const [i, v] of ours.entries()) g.output(`grad/${i}`, v);
    const graph = g.build();
    const data = (i: number): Float64Array => {
      const values = Float64Array.from(numbers(sizeOf(shapes[i] as number[])));
      // a row that sees nothing
      if (i === 0 && build === guarded) values.fill(Number.NEGATIVE_INFINITY, 0, 4);
      return values;
    };
    const feeds = Object.fromEntries(
      shapes.map((shape, i): [string, Tensor] => [`x${i}`, { dtype: "float64", shape, data: data(i) }]),
    );
    const out = await runGraph(runtime, graph, feeds);
    const values = wrt.map((_, i) => [...((out[`grad/${i}`] as Tensor).data as Float64Array)]);
    return { values, ops: graph.nodes.map((n) => n.op) };
  }

  for (const [title, { shapes, build, saves }] of Object.entries(CASES)) {
    it(title, async () => {
      const of = shapes.split("; ").map((shape) => shape.split(",").map(Number));
      const [ours, plain] = [await gradients(of, build, false), await gradients(of, build, true)];
      ours.values.forEach((values, i) => {
        const error = relativeError(values, plain.values[i] as number[]);
        assert.ok(error < 1e-12, `x${i}: error ${error}\n  ${values}\n  ${plain.values[i]}`);
      });
      if (saves === "") return;
      assert.ok(plain.ops.includes(saves), `the plain rules do not use ${saves}`);
      assert.ok(!ours.ops.includes(saves), `the pattern was not taken: ${ours.ops}`);
    });
  }
});
