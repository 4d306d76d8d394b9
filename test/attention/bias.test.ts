import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BLOCKED, biasOf, biasShape, withRanges } from "../../src/attention/bias.js";
import { layBuffers } from "../../src/attention/rows.js";
import { BufferBuilder } from "../../src/diffusion/layout/buffer.js";
import { GraphBuilder } from "../../src/onnx/graph.js";
import type { Dim, Graph, Tensor } from "../../src/onnx/types.js";
import { runGraph } from "../support/run-graph.js";
import { cpuRuntime } from "../support/temporary.js";
import { f32, intsOf } from "../support/tensors.js";

const runtime = await cpuRuntime();

/** Builds a graph that returns its bias. */
function graphOf(shape: readonly Dim[], more: (g: GraphBuilder) => void = () => undefined): Graph {
  const g = new GraphBuilder("bias");
  more(g);
  g.output("y", g.input("attention_bias", "float32", shape));
  return g.build();
}

describe("attention ranges", () => {
  async function writtenOut(graph: Graph, feeds: Record<string, Tensor>): Promise<Tensor> {
    assert.ok(!graph.inputs.some(({ name }) => name === "attention_bias"));
    return (await runGraph(runtime, graph, feeds)).y as Tensor;
  }

  it("write the same bias: prompts, packed rounds, padding", async () => {
    const buffer = new BufferBuilder([5, 6, 7]);
    buffer.push(8, 0);
    // the entry sees the prompt and the entries from its own index on
    buffer.push(9, 1, 3, 4);
    buffer.push(9, 2, 3, 4);
    const { inputs } = layBuffers([buffer, new BufferBuilder([1, 2])], { batch: 3, length: 8, pad: 0 });
    const ranges = inputs.attention_ranges as Tensor;
    assert.deepEqual([...ranges.data].slice(4 * 5, 4 * 6), [0, 3, 4, 6]);
    const graph = withRanges(graphOf([3, 1, 8, 8]));
    const expected = biasOf(ranges, biasShape(inputs) as number[]);
    assert.deepEqual(await writtenOut(graph, { attention_ranges: ranges }), expected);
  });

  it("write the bias of new tokens over an open number of keys", async () => {
    const bias = f32([2, 1, 1, 4], 0, BLOCKED, 0, 0, BLOCKED, 0, 0, BLOCKED);
    const attention_ranges = f32([2, 1, 4], 0, 1, 2, 4, 1, 3, 0, 0);
    const keys = intsOf([2, 4], (i) => [3, 1, 0, 9][i]);
    const graph = withRanges(graphOf(["B", 1, "N", "W"], (g) => g.input("keys", "int64", ["B", "W"])));
    assert.deepEqual(await writtenOut(graph, { attention_ranges, keys }), bias);
    assert.deepEqual(biasOf(attention_ranges, biasShape({ attention_ranges, keys }) as number[]), bias);
  });

  it("have a blocked bias that vanishes in a float32 softmax and is finite", () => {
    assert.equal(Math.fround(Math.exp(BLOCKED)), 0);
    assert.ok(Number.isFinite(Math.fround(BLOCKED)));
  });
});
