/**
 * Measures the LoRA training step that torch_peer.py also takes: 4 layers, width 256, 8 heads of 32, SwiGLU 1024,
 * vocabulary 4096; batch 4, length 256, causal; rank 8 on all seven projections; forward, mean cross-entropy over all
 * rows, backward, clipping by global norm, AdamW; fp32, one thread. Reports the CPU time of the whole process in ms,
 * and the share of the machine's peak rate in matrix products that a step reaches; measured in turn.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { causalBatch, openTrainer } from "./lora-trainer.mjs";
import { load, median, openPeer } from "./support.mjs";
import { countOperations, cpuMs, openPeak } from "./work.mjs";

const CONFIG = {
  architecture: "refusion",
  attention: "causal",
  vocab_size: 4096,
  hidden_size: 256,
  num_hidden_layers: 4,
  num_attention_heads: 8,
  num_key_value_heads: 8,
  head_dim: 32,
  intermediate_size: 1024,
  rms_norm_eps: 1e-6,
  rope_theta: 10000,
  tie_word_embeddings: false,
  mask_token_id: 4095,
  eos_token_id: 4094,
  pad_token_id: 4093,
};
const [BATCH, LENGTH, RANK] = [4, 256, 8];
const WARM_UP = 3;
const PEER = fileURLToPath(new URL("./torch_peer.py", import.meta.url));

/** Prepares the step in this project, so that it can be taken repeatedly. */
export async function openStep({ checkpoint = false } = {}) {
  const { Rng } = await load("core/rng.js");
  const { architectureOf, initialise } = await load("nn/architecture.js");
  const { saveModel } = await load("nn/model.js");
  const dir = mkdtempSync(join(tmpdir(), "bench-"));
  const rng = Rng.named(0, "bench");
  const tensors = (specs) =>
    new Map([...initialise(specs, rng)].map(([name, { shape, data }]) => [name, { dtype: "float32", shape, data }]));
  await saveModel(dir, CONFIG, tensors((await architectureOf(CONFIG)).weights(CONFIG)), TOKENIZER);
  const { runtime, engine } = await openTrainer(dir, {
    threads: 1,
    rank: RANK,
    alpha: 16,
    weightDecay: 0.01,
    checkpoint,
  });
  const operations = countOperations(runtime);
  await engine.setParameters(
    "policy",
    tensors(new Map(engine.parameters.map((p) => [p.name, { shape: p.shape, init: { std: 0.02 } }]))),
  );
  await engine.setOptimizer(undefined);
  const batch = await causalBatch({ batch: BATCH, length: LENGTH, vocabulary: CONFIG.vocab_size, rng });
  const one = new Float32Array(1);
  let t = 0;
  const step = () =>
    cpuMs(async () => {
      await engine.accumulate(batch, { old: one, reference: one, advantage: one, weight: one });
      await engine.step(++t, 1e-4);
    });
  for (let i = 0; i < WARM_UP; i++) await step();
  const close = async () => {
    await runtime.close();
    rmSync(dir, { recursive: true });
  };
  return { step, close, operations };
}

/** Measures this project's step, in turn with that of the peers (peers.mjs). */
export async function benchLoraStep({ runs, python = "python3", peers: chosen = [] }) {
  const { step, close, operations } = await openStep();
  const peak = await openPeak();
  const peers = [];
  for (const { name, flags, env } of chosen) {
    const { ask, close } = await openPeer(python, [PEER, "--serve", ...flags], env);
    peers.push({ name, step: () => ask("step"), close, times: [] });
  }
  const ours = [];
  const rates = [];
  const before = operations();
  for (let i = 0; i < runs; i++) {
    rates.push(await peak.rate());
    ours.push(await step());
    for (const { step, times } of peers) times.push(await step());
  }
  const work = (operations() - before) / runs;
  await close();
  await peak.close();
  for (const { close } of peers) close();
  return {
    cpu_ms: median(ours),
    total_cpu_ms: median(ours),
    gemm_share: work / median(ours) / Math.max(...rates),
    gemm_peak_gflops: Math.max(...rates) / 1e6,
    peak_rss_mb: Math.round(process.resourceUsage().maxRSS / 1024),
    peers: Object.fromEntries(
      peers.map(({ name, times }) => [
        name,
        { cpu_ms: median(times), ratio: median(ours.map((ms, i) => ms / times[i])) },
      ]),
    ),
  };
}

/** A tokenizer of the vocabulary's size; the benchmark tokenizes no text. */
const TOKENIZER = JSON.stringify({
  version: "1.0",
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: { type: "ByteLevel", add_prefix_space: false },
  post_processor: null,
  decoder: { type: "ByteLevel" },
  model: { type: "BPE", vocab: { a: 0 }, merges: [] },
});
