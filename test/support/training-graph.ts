import { backward } from "../../src/autodiff/backward.js";
import type { Recomputed } from "../../src/autodiff/recompute.js";
import { Rng } from "../../src/core/rng.js";
import { bindModel, loraSites } from "../../src/nn/bind.js";
import { freshAdapter, type LoraOptions } from "../../src/nn/lora.js";
import type { Model } from "../../src/nn/model.js";
import type { Runtime } from "../../src/onnx/session.js";
import type { Graph, Tensor, Value } from "../../src/onnx/types.js";
import { runGraph } from "./run-graph.js";
import { floatsOf, intsOf } from "./tensors.js";

export const LORA: LoraOptions = {
  rank: 2,
  alpha: 4,
  targets: ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
};
/** Projections of a model of two layers. */
export const PROJECTIONS = 2 * LORA.targets.length;
const [B, N, R] = [2, 6, 5];
export const DIMS = { B, N };

/** Outputs: `out` [R, V], and the gradient of a mix of log-probabilities by every adapter matrix, added to `acc/...`. */
export function trainingGraph({ graph, config }: Model, recomputed: Recomputed = {}): Graph {
  const rng = Rng.named(1, "mix");
  const { g, e, outputs, parameters } = bindModel(graph, "training", { dims: DIMS, lora: LORA, rows: R });
  const logits = outputs.logits as Value;
  const size = [R, config.vocab_size];
  const mix = Array.from({ length: R * config.vocab_size }, () => rng.normal());
  const loss = e.total(e.mul(e.logSoftmax(logits), g.constant("float32", size, mix)));
  const initial = new Map(parameters.map((p) => [p.name, g.input(`acc/${p.name}`, "float32", p.shape)]));
  const gradients = backward(g, loss, parameters, initial, recomputed);
  g.output("out", logits);
  for (const [i, { name }] of parameters.entries()) g.output(`grad/${name}`, gradients[i] as Value);
  return g.build();
}

/** Inputs of the graph: an adapter that is not zero, and ones to add its gradients to. */
export function trainingFeeds({ graph, config }: Model): Record<string, Tensor> {
  const rng = Rng.named(2, "feeds");
  const feeds: Record<string, Tensor> = {
    input_ids: intsOf([B, N], () => rng.int(config.vocab_size)),
    position_ids: intsOf([B, N], (i) => (3 * i) % 11),
    rows: intsOf([R], (i) => 2 * i),
    attention_bias: floatsOf([B, 1, N, N], (i) => (i % N > Math.floor(i / N) % N ? -1e9 : 0)),
  };
  for (const [name, { shape }] of freshAdapter(loraSites(graph, LORA), LORA, rng)) {
    feeds[name] = floatsOf(shape, () => rng.normal() * 0.1);
    feeds[`acc/${name}`] = floatsOf(shape, () => 1);
  }
  return feeds;
}

/** Runs the graph: its logits, and what was added to the gradients, by parameter. */
export async function trainingOutputs(runtime: Runtime, model: Model, graph = trainingGraph(model)) {
  const { out, ...sums } = await runGraph(runtime, graph, trainingFeeds(model), model.dir);
  const added = ({ data }: Tensor): Float32Array => (data as Float32Array).map((x) => x - 1);
  const gradients = new Map(Object.entries(sums).map(([name, sum]) => [name, added(sum)]));
  return { logits: out?.data as Float32Array, gradients };
}
