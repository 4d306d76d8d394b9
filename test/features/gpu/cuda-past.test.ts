import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { attentionOver } from "../../../src/attention/keys.js";
import { Rng } from "../../../src/core/rng.js";
import { withoutJoining } from "../../../src/features/gpu/lowerings/cuda.js";
import { Emitter } from "../../../src/onnx/emit.js";
import { GraphBuilder } from "../../../src/onnx/graph.js";
import { f32, i64, type NamedTensors } from "../../../src/onnx/tensors.js";
import type { Graph, Value } from "../../../src/onnx/types.js";
import { runGraph } from "../../support/run-graph.js";
import { cpuRuntime } from "../../support/temporary.js";

const [BATCH, HEADS, WIDTH] = [2, 3, 4];

/** Keys and values of one layer, with those of earlier rounds. */
function build(): Graph {
  const g = new GraphBuilder("past");
  const attend = attentionOver("past", new Emitter(g));
  const input = (name: string): Value => g.input(name, "float32", [BATCH, "N", HEADS, WIDTH]);
  const shapes = { heads: HEADS, kvHeads: HEADS, headDim: WIDTH };
  g.output("context", attend("0", input("q"), input("key"), input("value"), shapes));
  return g.build();
}

function feedsOf(old: number, fresh: number, seen: number): NamedTensors {
  const rng = Rng.named(old, "past");
  const numbers = (n: number): Float32Array => Float32Array.from({ length: n }, () => rng.uniform());
  const rows = old + BATCH * fresh;
  const feeds: Record<string, ReturnType<typeof f32>> = {};
  for (const name of ["q", "key", "value"])
    feeds[name] = f32([BATCH, fresh, HEADS, WIDTH], numbers(BATCH * fresh * HEADS * WIDTH));
  for (const name of ["key", "value"])
    feeds[`past/0/${name}`] = f32([1, old, HEADS, WIDTH], numbers(old * HEADS * WIDTH));
  const place = (): bigint => BigInt(Math.floor(rng.uniform() * rows) - BATCH * fresh);
  const keys = BigInt64Array.from({ length: BATCH * seen }, place);
  const all = BigInt64Array.from({ length: BATCH * fresh }, (_, i) => BigInt(i));
  const attention_bias = f32([BATCH, 1, fresh, seen], new Float32Array(BATCH * fresh * seen));
  const [queries, places] = [i64([BATCH, fresh], all), i64([BATCH, fresh], all)];
  return { ...feeds, keys: i64([BATCH, seen], keys), queries, places, attention_bias };
}

const runtime = await cpuRuntime();

describe("keys and values of earlier rounds on CUDA", () => {
  it("are looked up without being joined with new ones: the same rows", async () => {
    const graph = build();
    const lowered = withoutJoining(graph);
    assert.equal(lowered.nodes.filter((n) => n.op === "GreaterOrEqual").length, 1);
    for (const [old, fresh, seen] of [
      [1, 5, 5],
      [7, 2, 9],
      [40, 3, 20],
    ] as const) {
      const feeds = feedsOf(old, fresh, seen);
      assert.deepEqual(await runGraph(runtime, lowered, feeds), await runGraph(runtime, graph, feeds));
    }
  });
});
