import assert from "node:assert/strict";
import { test } from "node:test";
import { backward } from "../../src/autodiff/backward.js";
import { Rng } from "../../src/core/rng.js";
import { einsum } from "../../src/onnx/einsum.js";
import { Emitter } from "../../src/onnx/emit.js";
import { GraphBuilder } from "../../src/onnx/graph.js";
import type { Graph, Tensor, Value } from "../../src/onnx/types.js";
import { relativeError } from "../support/golden.js";
import { runGraph } from "../support/run-graph.js";
import { cpuRuntime } from "../support/temporary.js";
import { floatsOf } from "../support/tensors.js";

const SIZES: Readonly<Record<string, number>> = { b: 2, h: 3, i: 4, j: 5, d: 6, e: 7, n: 4 };
/** Equations of attention, linear layers, outer and inner products; `...` is written with the axes that it stands for. */
const EQUATIONS: readonly (readonly [string, ...string[]])[] = [
  ["bhid,bhjd->bhij", "bhid", "bhjd"],
  ["bhij,bhjd->bhid", "bhij", "bhjd"],
  ["bihd,bjhd->bhij", "bihd", "bjhd"],
  ["bid,hde->bhie", "bid", "hde"],
  ["bhid,hde->bie", "bhid", "hde"],
  ["i,j->ij", "i", "j"],
  ["bi,bi->b", "bi", "bi"],
  ["bid->bd", "bid"],
  ["bid->dbi", "bid"],
  ["bid,de", "bid", "de"],
  ["bid,bjd", "bid", "bjd"],
  ["...id,...jd->...ij", "bhid", "bhjd"],
  ["...d,ed->...e", "bid", "ed"],
  ["... i d, j d -> ... i j", "hid", "jd"],
  ["bi,bj,bd->ijd", "bi", "bj", "bd"],
];
const runtime = await cpuRuntime();

function inputsOf(g: GraphBuilder, axes: readonly string[]): { inputs: Value[]; feeds: Record<string, Tensor> } {
  const rng = Rng.named(3, axes.join());
  const feeds: Record<string, Tensor> = {};
  const inputs = axes.map((letters, i) => {
    const shape = [...letters].map((letter) => SIZES[letter] as number);
    feeds[`x${i}`] = floatsOf(shape, () => rng.normal());
    return g.input(`x${i}`, "float32", shape);
  });
  return { inputs, feeds };
}

test("an Einsum written out computes what ONNX Runtime's own computes, and has a gradient", async () => {
  for (const [equation, ...axes] of EQUATIONS) {
    const g = new GraphBuilder("ours");
    const e = new Emitter(g);
    const { inputs, feeds } = inputsOf(g, axes);
    const y = einsum(e, equation, inputs);
    const gradients = backward(g, e.total(y), inputs);
    assert.deepEqual(
      gradients.map((dx) => dx?.shape),
      inputs.map((x) => x.shape),
      equation,
    );
    g.output("y", y);
    const out: Value = { name: "y", dtype: "float32", shape: y.shape };
    const attributes = { equation };
    const node = { name: "einsum", op: "Einsum", domain: "", inputs, outputs: [out], attributes };
    const theirs: Graph = { ...g.build(), name: "theirs", nodes: [node], outputs: [out], initializers: new Map() };
    const [mine, wanted] = [await runGraph(runtime, g.build(), feeds), await runGraph(runtime, theirs, feeds)];
    assert.deepEqual(mine.y?.shape, wanted.y?.shape, equation);
    assert.ok(relativeError(mine.y?.data as Float32Array, wanted.y?.data as Float32Array) < 1e-6, equation);
  }
});

test("a diagonal and operands that do not fit are refused by the equation", () => {
  const g = new GraphBuilder("wrong");
  const { inputs } = inputsOf(g, ["bi", "jd"]);
  const [a, b] = inputs as [Value, Value];
  for (const [equation, operands, why] of [
    ["ii->i", [a], /ii takes a diagonal/],
    ["bid->b", [a], /bid does not fit \[2, 4\]/],
    ["bi,id->bd", [a, b], /sizes of i differ/],
    ["bi->bz", [a], /no operand has z/],
    ["bi", [a, b], /has 2 operands/],
  ] as const)
    assert.throws(() => einsum(new Emitter(g), equation, operands), why);
});
