import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AttentionShapes, attention } from "../../../src/attention/keys.js";
import { backward } from "../../../src/autodiff/backward.js";
import { Rng } from "../../../src/core/rng.js";
import { Emitter } from "../../../src/onnx/emit.js";
import { peakActivationBytes } from "../../../src/onnx/liveness.js";
import { FusingBuilder } from "../../../src/onnx/passes/fusions.js";
import { sizeOf } from "../../../src/onnx/shapes.js";
import type { Graph, Tensor } from "../../../src/onnx/types.js";
import { relativeError } from "../../support/golden.js";
import { runGraph } from "../../support/run-graph.js";
import { cpuRuntime } from "../../support/temporary.js";
import { floatsOf } from "../../support/tensors.js";

const runtime = await cpuRuntime();

interface Case {
  readonly batch: number;
  readonly length: number;
  readonly shapes: AttentionShapes;
}

const HEADS: AttentionShapes = { heads: 3, kvHeads: 3, headDim: 4 };
const GROUPED: AttentionShapes = { heads: 6, kvHeads: 2, headDim: 4 };

/** Attention of one layer, and its gradients under a weighted sum. */
function build({ batch, length, shapes }: Case, causal: boolean, whole = 0): Graph {
  const g = new FusingBuilder("attention", causal ? { recompute: true, whole } : undefined);
  const e = new Emitter(g);
  const { heads, kvHeads, headDim } = shapes;
  const q = g.input("q", "float32", [batch, length, heads, headDim]);
  const k = g.input("k", "float32", [batch, length, kvHeads, headDim]);
  const v = g.input("v", "float32", [batch, length, kvHeads, headDim]);
  const bias = g.input("attention_bias", "float32", [batch, 1, length, length]);
  const weights = g.input("weights", "float32", [batch * length, heads * headDim]);
  const y = attention(e, q, k, v, bias, shapes);
  const gradients = backward(g, e.total(e.mul(y, weights)), [q, k, v]);
  g.output("y", y);
  for (const [i, name] of ["q", "k", "v"].entries()) g.output(`grad/${name}`, gradients[i] as (typeof gradients)[0]);
  return g.build();
}

/** Random values; the first sequence is causal, the second one causal in two parts that do not see each other. */
function feedsOf(graph: Graph): Record<string, Tensor> {
  const rng = Rng.named(2, "attention");
  return Object.fromEntries(
    graph.inputs.map(({ name, shape }) => {
      const length = shape.at(-1) as number;
      const shown = (b: number, row: number, n: number): boolean => n <= row && (b === 0 || n >= 40 || row < 40);
      const of = (i: number): number => {
        if (name !== "attention_bias") return 2 * rng.uniform() - 1;
        return shown(Math.floor(i / length ** 2), Math.floor(i / length) % length, i % length) ? 0 : -1e9;
      };
      return [name, floatsOf(shape as number[], of)];
    }),
  );
}

/** Rows and keys of the largest matrix of scores. */
const largest = (graph: Graph): number =>
  Math.max(...graph.nodes.filter((n) => n.op === "Softmax").map((n) => sizeOf((n.outputs[0]?.shape ?? []).slice(-2))));

describe("attention in blocks", () => {
  async function compare(test: Case, tolerance: number): Promise<{ blocks: Graph; whole: Graph }> {
    const [whole, blocks] = [build(test, false), build(test, true)];
    const feeds = feedsOf(whole);
    const [expected, got] = [await runGraph(runtime, whole, feeds), await runGraph(runtime, blocks, feeds)];
    for (const [name, values] of Object.entries(expected)) {
      const error = relativeError(got[name]?.data as Float32Array, values.data as Float32Array);
      assert.ok(error < tolerance, `${name}: error ${error}`);
    }
    return { blocks, whole };
  }

  for (const [title, shapes] of Object.entries({ "a head of keys for each": HEADS, "shared keys": GROUPED })) {
    it(`gives the same output and gradients: ${title}`, async () => {
      const { blocks, whole } = await compare({ batch: 2, length: 203, shapes }, 2e-6);
      assert.equal(largest(whole), 203 * 203);
      // three blocks: the last one holds a third of the rows
      assert.equal(largest(blocks), 67 * 203);
    });
  }

  it("takes blocks of one size where the length can be divided", () => {
    const { nodes } = build({ batch: 1, length: 512, shapes: HEADS }, true);
    const lengths = nodes.filter((n) => n.op === "Softmax").map((n) => n.outputs[0]?.shape.at(-1));
    assert.deepEqual(lengths, [128, 256, 384, 512]);
  });

  it("leaves short sequences, and those with another bias, as they are", () => {
    const short = { batch: 1, length: 127, shapes: HEADS };
    assert.deepEqual(
      build(short, true).nodes.map((n) => n.op),
      build(short, false).nodes.map((n) => n.op),
    );
    const g = new FusingBuilder("another", { recompute: true });
    const e = new Emitter(g);
    const x = g.input("x", "float32", [1, 128, 2, 4]);
    const bias = g.input("bias", "float32", [1, 1, 128, 128]);
    attention(e, x, x, x, bias, { heads: 2, kvHeads: 2, headDim: 4 });
    assert.equal(g.nodes.filter((n) => n.op === "Softmax").length, 1);
  });

  it("computes as many scores in one piece as it may", () => {
    const long = { batch: 1, length: 512, shapes: HEADS };
    const scores = 3 * 512 * 512;
    assert.equal(largest(build(long, true, scores)), 512 * 512);
    assert.equal(largest(build(long, true, scores - 1)), 128 * 512);
  });

  it("computes large weights again for the gradient instead of keeping them", async () => {
    const large = { batch: 1, length: 1100, shapes: { heads: 8, kvHeads: 4, headDim: 4 } };
    const { blocks, whole } = await compare(large, 1e-5);
    const weights = 8 * 1100 * 1100 * 4;
    // in one piece: a product and its softmax, and the gradients of both; in blocks an eighth of that at a time
    assert.ok(peakActivationBytes(whole) > 2 * weights);
    assert.ok(peakActivationBytes(blocks) < weights, `${peakActivationBytes(blocks)} of ${weights}`);
  });
});
