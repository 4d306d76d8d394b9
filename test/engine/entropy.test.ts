import assert from "node:assert/strict";
import { test } from "node:test";
import { backward } from "../../src/autodiff/backward.js";
import { policyHead } from "../../src/diffusion/score-head.js";
import { entropyOf } from "../../src/engine/graphs.js";
import { Emitter } from "../../src/onnx/emit.js";
import { GraphBuilder } from "../../src/onnx/graph.js";
import type { Tensor, Value } from "../../src/onnx/types.js";
import { runGraph } from "../support/run-graph.js";
import { cpuRuntime } from "../support/temporary.js";
import { f32 } from "../support/tensors.js";

const LOGITS = [
  [0.3, -1, 2, 0.5, 9, 9],
  [1, 1, 1, 1, 9, 9],
];
/** EOS is token 3; mask and pad, 4 and 5, are never drawn. */
const about = { tokens: { mask: 4, pad: 5, eos: 3 }, vocabulary: 6, attention: "causal" } as const;

test("the entropy of what may be drawn, and its gradient -p (log p + H) / tau", async () => {
  const g = new GraphBuilder("entropy");
  const e = new Emitter(g);
  const logits = g.input("logits", "float32", [2, 6]);
  const inverse_temperature = g.input("inverse_temperature", "float32", []);
  const given = { inverse_temperature, eos_allowed: g.input("eos_allowed", "float32", [2]) };
  const drawn = policyHead.distribution?.(e, { logits }, given, about) as Value;
  const entropy = entropyOf(e, drawn);
  g.output("entropy", entropy);
  g.output("gradient", backward(g, e.total(entropy), [logits])[0] as Value);
  const feeds = { logits: f32([2, 6], ...LOGITS.flat()), inverse_temperature: f32([], 2), eos_allowed: f32([2], 1, 0) };
  const out = await runGraph(await cpuRuntime(), g.build(), feeds);
  LOGITS.forEach((row, r) => {
    const allowed = row.slice(0, r === 0 ? 4 : 3);
    const weights = allowed.map((x) => Math.exp(2 * x));
    const total = weights.reduce((a, x) => a + x, 0);
    const p = weights.map((x) => x / total);
    const h = -p.reduce((sum, x) => sum + x * Math.log(x), 0);
    assert.ok(Math.abs(((out.entropy as Tensor).data[r] as number) - h) < 1e-5);
    const gradient = row.map((_, v) => (out.gradient as Tensor).data[r * 6 + v] as number);
    gradient.forEach((slope, v) => {
      const expected = v < p.length ? -2 * (p[v] as number) * (Math.log(p[v] as number) + h) : 0;
      assert.ok(Math.abs(slope - expected) < 1e-5, `${r}, ${v}: ${slope} for ${expected}`);
    });
  });
});
