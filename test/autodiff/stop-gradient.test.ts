import assert from "node:assert/strict";
import { test } from "node:test";
import { backward } from "../../src/autodiff/backward.js";
import { ALL_LAYERS } from "../../src/autodiff/recompute.js";
import { Emitter } from "../../src/onnx/emit.js";
import { GraphBuilder } from "../../src/onnx/graph.js";
import type { Value } from "../../src/onnx/types.js";
import { runGraph } from "../support/run-graph.js";
import { cpuRuntime } from "../support/temporary.js";
import { f32 } from "../support/tensors.js";

const runtime = await cpuRuntime();

for (const checkpoint of [false, true]) {
  test(`a stopped value is a constant to the gradient, and the same number${checkpoint ? ", with checkpointing" : ""}`, async () => {
    const g = new GraphBuilder("test");
    const e = new Emitter(g);
    const [x, y] = ["x", "y"].map((name) => g.input(name, "float32", [3])) as [Value, Value];
    // d/dx x * stop(x y) = x y, where d/dx x * (x y) were 2 x y
    const stopped = e.stopGradient(e.mul(x, y));
    const loss = e.total(e.mul(x, stopped));
    const [dx, dy] = backward(g, loss, [x, y], new Map(), checkpoint ? { layers: ALL_LAYERS } : {}) as [Value, Value];
    g.output("loss", loss);
    g.output("dx", dx);
    g.output("dy", dy);
    const out = await runGraph(runtime, g.build(), { x: f32([3], 1, -2, 3), y: f32([3], 4, 5, 0.5) });
    assert.deepEqual(out.loss?.data, Float32Array.of(4 + 20 + 4.5));
    assert.deepEqual(out.dx?.data, Float32Array.of(4, -10, 1.5));
    assert.deepEqual(out.dy?.data, Float32Array.of(0, 0, 0));
  });
}
