import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Emitter } from "../../../src/onnx/emit.js";
import { GraphBuilder } from "../../../src/onnx/graph.js";
import { sizeOf } from "../../../src/onnx/shapes.js";
import { f32 } from "../../../src/onnx/tensors.js";
import type { Tensor, Value } from "../../../src/onnx/types.js";
import { cpuRuntime } from "../../support/temporary.js";
import { intsOf } from "../../support/tensors.js";

const ROWS = 40;
const UPDATES = 4000;
const WIDTH = 64;

const runtime = await cpuRuntime({ threads: 4 });

describe("graphs for the CPU", () => {
  /** data [ROWS, WIDTH] of ones, scattered into as `make` says. */
  async function scattered(name: string, feeds: Record<string, Tensor>, make: (g: GraphBuilder) => Value) {
    const g = new GraphBuilder(name);
    g.output("y", make(g));
    await runtime.load(name, { bytes: runtime.encode(g.build()) });
    const { y } = await runtime.run(name, { feeds });
    await runtime.unload(name);
    return y as Tensor;
  }

  // whole numbers: their sums are exact in any order
  const updates = Float32Array.from({ length: UPDATES * WIDTH }, (_, i) => (i % 7) - 2);
  const sums = (place: (n: number) => number, first: number): number[] => {
    const sum: number[] = new Array(ROWS * WIDTH).fill(first);
    updates.forEach((x, i) => {
      const at = place(Math.floor(i / WIDTH)) * WIDTH + (i % WIDTH);
      sum[at] = (sum[at] as number) + x;
    });
    return sum;
  };

  for (const places of [1, 3]) {
    it(`add all rows that fall on ${places} of them, in several threads`, async () => {
      const index = intsOf([UPDATES, 1], (n) => n % places);
      for (let time = 0; time < 5; time++) {
        const y = await scattered("rows", { index, updates: f32([UPDATES, WIDTH], updates) }, (g) => {
          const [rows, at] = [g.input("updates", "float32", ["N", WIDTH]), g.input("index", "int64", ["N", 1])];
          return g.op("ScatterND", [new Emitter(g).zeros([ROWS, WIDTH], "float32"), at, rows], { reduction: "add" });
        });
        assert.deepEqual(y.shape, [ROWS, WIDTH]);
        const expected = sums((n) => n % places, 0);
        assert.deepEqual([...y.data], expected);
      }
    });
  }

  it("add elements by two indices, also such as count from the end, into what was there", async () => {
    const index = intsOf([2, UPDATES / 2, 2], (i) => (i % 2 === 0 ? -1 - (Math.floor(i / 2) % 3) : -1));
    const data = f32([5, ROWS / 5, WIDTH], new Float32Array(ROWS * WIDTH).fill(1));
    const y = await scattered("elements", { data, index, updates: f32([2, UPDATES / 2, WIDTH], updates) }, (g) => {
      const [into, at] = [g.input("data", "float32", [5, "D", WIDTH]), g.input("index", "int64", ["A", "B", 2])];
      return g.op("ScatterND", [into, at, g.input("updates", "float32", ["A", "B", WIDTH])], { reduction: "add" });
    });
    assert.deepEqual(y.shape, data.shape);
    assert.equal(y.data.length, sizeOf(data.shape));
    const expected = sums((n) => (4 - (n % 3)) * (ROWS / 5) + ROWS / 5 - 1, 1);
    assert.deepEqual([...y.data], expected);
  });
});
