import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { backward } from "../../../src/autodiff/backward.js";
import { forWebGpu } from "../../../src/features/gpu/lowerings/webgpu.js";
import { Emitter } from "../../../src/onnx/emit.js";
import { GraphBuilder } from "../../../src/onnx/graph.js";
import { sizeOf } from "../../../src/onnx/shapes.js";
import type { Graph, Tensor, Value } from "../../../src/onnx/types.js";
import { relativeError } from "../../support/golden.js";
import { runGraph } from "../../support/run-graph.js";
import { cpuRuntime } from "../../support/temporary.js";

const RMS_NORM = "SimplifiedLayerNormalization";

/** y and dx of an RMSNorm of x [2, 3, 4] over the axes from `axis` on, with its inverse root mean square as an output. */
function normalization(attributes: { axis?: number; epsilon?: number }): Graph {
  const g = new GraphBuilder("norm");
  const e = new Emitter(g);
  const x = g.input("x", "float32", [2, 3, 4]);
  const axis = attributes.axis ?? -1;
  const weight = g.input("weight", "float32", x.shape.slice(axis < 0 ? axis + 3 : axis));
  const [y, inverse] = g.node(RMS_NORM, [x, weight], attributes) as [Value, Value];
  const [dx, dw] = backward(g, e.total(e.mul(y, y)), [x, weight]) as [Value, Value];
  for (const [name, value] of Object.entries({ y, inverse, dx, dw })) g.output(name, value);
  return g.build();
}

function feedsOf(graph: Graph): Record<string, Tensor> {
  return Object.fromEntries(
    graph.inputs.map(({ name, shape }) => {
      const data = Float32Array.from({ length: sizeOf(shape) }, (_, i) => ((i * 7) % 11) / 4 - 1);
      return [name, { dtype: "float32", shape: shape as number[], data }];
    }),
  );
}

const runtime = await cpuRuntime();

describe("graphs for WebGPU", () => {
  const run = (graph: Graph): Promise<Record<string, Tensor>> => runGraph(runtime, graph, feedsOf(graph));

  /** Asserts that a rewritten graph computes what the graph does. @returns the names of its outputs. */
  const assertSame = async (rewritten: Graph, graph: Graph): Promise<string[]> => {
    const [expected, got] = [await run(graph), await run(rewritten)];
    for (const [name, { shape, data }] of Object.entries(got)) {
      assert.deepEqual(shape, expected[name]?.shape, name);
      const error = relativeError(data as Float32Array, expected[name]?.data as Float32Array);
      assert.ok(error < 1e-6, `${name}: ${error}`);
    }
    return Object.keys(got);
  };

  const cases = [{}, { axis: -1, epsilon: 1e-6 }, { axis: 1, epsilon: 0.5 }, { axis: -2 }];
  for (const attributes of cases) {
    it(`compute the same without RMSNorm's second output, ${JSON.stringify(attributes)}`, async () => {
      const graph = normalization(attributes);
      const rewritten = forWebGpu(graph);
      const actual = rewritten.nodes.filter((n) => n.op === RMS_NORM).map((n) => n.outputs.length);
      assert.deepEqual(actual, [1]);
      assert.deepEqual(await assertSame(rewritten, graph), ["y", "inverse", "dx", "dw"]);
    });
  }

  for (const axis of [-1, 1, 0]) {
    it(`compute a log-softmax over axis ${axis}, and its gradient, without the op`, async () => {
      const g = new GraphBuilder("log-softmax");
      const e = new Emitter(g);
      const x = g.input("x", "float32", [2, 3, 4]);
      // large enough that exp alone would overflow
      const y = g.op("LogSoftmax", [e.mul(x, 90)], { axis });
      const [dx] = backward(g, e.total(e.exp(e.mul(y, 0.01))), [x]) as [Value];
      g.output("y", y);
      g.output("z", g.op("LogSoftmax", [x], { axis }));
      g.output("dx", dx);
      const graph = g.build();
      const rewritten = forWebGpu(graph);
      assert.ok(rewritten.nodes.every((n) => n.op !== "LogSoftmax"));
      await assertSame(rewritten, graph);
    });
  }

  it("add up in the order of the inputs, one of them twice, without Sum", async () => {
    const g = new GraphBuilder("sum");
    const x = g.input("x", "float32", [3]);
    const y = g.input("y", "float32", []);
    g.output("total", g.op("Sum", [x, y, x]));
    g.output("one", g.op("Sum", [x]));
    const graph = g.build();
    const rewritten = forWebGpu(graph);
    const ops = rewritten.nodes.map((n) => n.op);
    assert.deepEqual(ops, ["Add", "Add", "Identity", "Sum", "Identity"]);
    assert.deepEqual(await run(rewritten), await run(graph));
  });

  it("take the statistics of 16-bit values in float32", () => {
    const g = new GraphBuilder("half");
    const [, inverse] = g.node(RMS_NORM, [g.input("x", "float16", [3, 4]), g.input("w", "float16", [4])]);
    g.output("inverse", inverse as Value);
    const nodes = forWebGpu(g.build()).nodes.map(({ op, outputs: [output] }) => `${op} ${output?.dtype}`);
    const rest = ["Cast", "Mul", "ReduceMean", "Add", "Sqrt", "Reciprocal", "Identity"].map((op) => `${op} float32`);
    assert.deepEqual(nodes, [`${RMS_NORM} float16`, ...rest]);
  });

  it("only lose a second output that nobody reads, and are else as they were", () => {
    const g = new GraphBuilder("forward");
    const e = new Emitter(g);
    const x = g.input("x", "float32", [3, 4]);
    const y = g.op(RMS_NORM, [e.mul(x, 2), g.input("w", "float32", [4])]);
    g.output("y", y);
    g.output("z", g.op("LayerNormalization", [y, g.input("v", "float32", [4])]));
    const graph = g.build();
    const rewritten = forWebGpu(graph);
    const without = ({ nodes }: Graph) => nodes.map((n) => (n.op === RMS_NORM ? { ...n, outputs: [] } : n));
    assert.deepEqual(without(rewritten), without(graph));
    assert.deepEqual(rewritten.initializers, graph.initializers);
    const actual = [graph, rewritten].map((a) => a.nodes.find((n) => n.op === RMS_NORM)?.outputs.length);
    assert.deepEqual(actual, [2, 1]);
  });
});
