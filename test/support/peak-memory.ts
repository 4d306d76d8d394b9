/**
 * Takes one training step of a deep narrow model in a separate process, since the peak of a process never falls. Prints
 * {"peak": bytes that the step added, "estimate": bytes by the graph's estimate, "gradients": {name: first numbers}}.
 *   node peak-memory.js MODEL_DIR true|false
 */
import { readFileSync } from "node:fs";
import { backward } from "../../src/autodiff/backward.js";
import { ALL_LAYERS } from "../../src/autodiff/recompute.js";
import { Rng } from "../../src/core/rng.js";
import { bindModel } from "../../src/nn/bind.js";
import { loadModel } from "../../src/nn/model.js";
import { encodeModel } from "../../src/onnx/format/proto.js";
import { peakActivationBytes } from "../../src/onnx/liveness.js";
import { Runtime } from "../../src/onnx/session.js";
import type { Tensor, Value } from "../../src/onnx/types.js";
import { floatsOf, intsOf } from "./tensors.js";

const [dir = "", checkpoint] = process.argv.slice(2);
const dims = { B: 2, N: 320 };
const { B, N } = dims;

/** Reads the largest resident set so far, in bytes. */
function peak(): number {
  const status = process.platform === "linux" ? readFileSync("/proc/self/status", "utf8") : "";
  const line = /VmHWM:\s+(\d+) kB/.exec(status)?.[1];
  return 1024 * (line === undefined ? process.resourceUsage().maxRSS : Number(line));
}

const model = await loadModel(dir);
const lora = { rank: 2, alpha: 4, targets: ["q_proj", "v_proj", "down_proj"] };
const { g, e, outputs, parameters } = bindModel(model.graph, "peak", { dims, lora, rows: 8 });
const logits = outputs.logits as Value;
const loss = e.average(e.mul(logits, logits));
const gradients = backward(g, loss, parameters, new Map(), checkpoint === "true" ? { layers: ALL_LAYERS } : {});
parameters.forEach((p, i) => void g.output(`grad/${p.name}`, gradients[i] as Value));
const rng = Rng.named(0, "peak");
const feeds: Record<string, Tensor> = {
  input_ids: intsOf([B, N], () => rng.int(16)),
  position_ids: intsOf([B, N], (i) => i % N),
  attention_bias: floatsOf([B, 1, N, N], (i) => (i % N > Math.floor(i / N) % N ? -1e9 : 0)),
  rows: intsOf([8], (i) => i * 70),
};
for (const p of parameters) feeds[p.name] = floatsOf(p.shape as number[], () => rng.normal() * 0.1);
const runtime = await Runtime.open({ provider: "cpu", threads: 1 });
const graph = g.build();
await runtime.load("peak", { bytes: encodeModel(graph), weightsDir: dir }, { memPattern: false });
const before = peak();
const out = await runtime.run("peak", { feeds });
const added = peak() - before;
await runtime.close();
const shown = Object.entries(out).map(([name, t]) => [name, [...(t.data as Float32Array)].slice(0, 8)]);
const said = { peak: added, estimate: peakActivationBytes(graph), gradients: Object.fromEntries(shown) };
process.stdout.write(JSON.stringify(said));
