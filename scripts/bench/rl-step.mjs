/**
 * Measures a whole step of Flow-GRPO without a browser, on random models: rollouts with a KV cache, scoring by the
 * reference, and the update. Reports the CPU time of each phase, its share of the machine's peak rate in matrix
 * products, and the update's memory in a separate process. Alternates with torch_rl_peer.py, which does the same work
 * in PyTorch with a KV cache (`cached`) and, for the tiny model, with whole sequences in every round (`whole`).
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeRandomModel } from "../gpu/random-model.mjs";
import { load, median, openPeer } from "./support.mjs";
import { countOperations, cpuMs, openPeak } from "./work.mjs";

const RANK = 16;
/** The sizes of models/tiny-refusion and of configs/tiny/rl.yaml. */
const TINY = {
  ...{ layers: 4, hidden: 192, heads: 6, "kv-heads": 2, "head-dim": 32, ffn: 512, vocab: 1024 },
  ...{ prompt: 56, response: 56, rounds: 4, prompts: 8, group: 4, microBatch: 8 },
};
export const SHAPES = {
  tiny: TINY,
  "tiny-49k": { ...TINY, vocab: 49152 },
  // the sizes of SmolLM2-135M
  "135m": {
    ...{ layers: 30, hidden: 576, heads: 9, "kv-heads": 3, "head-dim": 64, ffn: 1536, vocab: 49152 },
    ...{ prompt: 384, response: 192, rounds: 16, prompts: 1, group: 8, microBatch: 1 },
  },
};
/** The peer's rollouts for each shape: at 135 M parameters, whole sequences would take most of the benchmark's time. */
const WAYS = { tiny: ["cached", "whole"], "tiny-49k": ["cached"], "135m": ["cached"] };
const PHASES = ["rollout", "score", "update"];
const PEER = fileURLToPath(new URL("./torch_rl_peer.py", import.meta.url));
const SLOT = 4;

/** Opens a step of a random model. @param gib memory limit of the update; no limit by default. */
export async function openStep(shape, dir, { gib } = {}) {
  const { Rng } = await load("core/rng.js");
  const { Engine } = await load("engine/engine.js");
  const { sampledModel } = await load("engine/policy.js");
  const { sampler } = await load("diffusion/samplers/unmask.js");
  const { loraSites } = await load("nn/bind.js");
  const { freshAdapter } = await load("nn/lora.js");
  const { loadModel } = await load("nn/model.js");
  const { Runtime } = await load("onnx/session.js");
  const { objective } = await load("rl/objectives/flow-grpo.js");
  const { prepareBatches, takeStep } = await load("train/update.js");
  const model = await loadModel(dir);
  const runtime = await Runtime.open({ provider: "cpu", threads: 1 });
  const operations = countOperations(runtime);
  const targets = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];
  const lora = { rank: RANK, alpha: 2 * RANK, targets };
  const optimizer = {
    ...{ kind: "adamw", beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0, gradClip: 1, muonLrScale: 1 },
  };
  const about = sampledModel(model.config);
  const training = { objective, options: objective.schema.parse({ kl_coeff: 0.01 }), optimizer };
  const memory = gib === undefined ? {} : { memory: gib * 2 ** 30 };
  const engine = new Engine(runtime, model, { sampler, about, lora, training, ...memory });
  const adapter = freshAdapter(loraSites(model.graph, lora), lora, Rng.named(0, "adapter"));
  await engine.setParameters("policy", adapter);
  await engine.setParameters("reference", adapter);
  await engine.setOptimizer(undefined);
  const { response, prompt, rounds } = shape;
  const sizes = { rounds, slot_size: SLOT, response_length: response, prompt_length: prompt };
  const options = sampler.options(sampler.schema.parse(sizes), about);
  const rng = Rng.named(0, "prompts");
  const prompts = Array.from({ length: shape.prompts }, () =>
    Array.from({ length: prompt }, () => rng.int(shape.vocab - 3)),
  ).flatMap((tokens) => Array(shape.group).fill(tokens));
  return {
    operations,
    rollout: (step) => {
      const rngs = prompts.map((_, i) => Rng.named(step, `rollout/${i}`));
      return sampler.rollout(engine, prompts, options, rngs, prompts.length);
    },
    score: (trajectories) => {
      const samples = trajectories.map((trajectory, i) => {
        const stream = (name) => Rng.named(0, `${name}/${i}`);
        return { trajectory, credit: i % 2 === 0 ? 1 : -1, stream };
      });
      const policy = { engine, sampler, options };
      return prepareBatches({ policy, objective, options: training.options, size: shape.microBatch }, [samples]);
    },
    update: (batches, step) => takeStep(engine, batches, step, 1e-6),
    close: () => runtime.close(),
  };
}

/** Measures this project's step, in turn with that of the peers (peers.mjs). */
export async function benchRlStep({ size, runs, python = "python3", peers = [] }) {
  const shape = SHAPES[size];
  const dir = mkdtempSync(join(tmpdir(), "bench-"));
  try {
    await writeRandomModel(dir, shape, "none");
    const step = await openStep(shape, dir);
    const peak = await openPeak();
    const ours = Object.fromEntries(PHASES.map((name) => [name, []]));
    const shares = Object.fromEntries(PHASES.map((name) => [name, []]));
    const rates = [];
    const theirs = [];
    // the first round also builds and loads the graphs
    for (let run = 0; run <= runs; run++) {
      rates.push(await peak.rate());
      const phase = async (name, work) => {
        const before = step.operations();
        let result;
        const ms = await cpuMs(async () => {
          result = await work();
        });
        if (run === 0) return result;
        ours[name].push(ms);
        shares[name].push((step.operations() - before) / ms);
        return result;
      };
      const trajectories = await phase("rollout", () => step.rollout(run));
      const batches = await phase("score", () => step.score(trajectories));
      await phase("update", () => step.update(batches, run + 1));
      if (run === 0) {
        writeFileSync(join(dir, "trajectories.json"), JSON.stringify(trajectories));
        writeFileSync(join(dir, "step.json"), JSON.stringify({ ...shape, rank: RANK, batches: plain(batches) }));
        for (const { name, flags, env } of peers) {
          const torch = await openPeer(python, [PEER, "--step", join(dir, "step.json"), ...flags], env);
          // whole sequences in every round are a way that users write, which is shown for the first peer alone
          const ways = theirs.length === 0 ? WAYS[size] : ["cached"];
          for (const way of ways)
            theirs.push({ name: way === "cached" ? name : `${name}, ${way}`, way, torch, steps: [] });
        }
        continue;
      }
      for (const { way, torch, steps } of theirs) {
        const phases = {};
        for (const name of PHASES) phases[name] = await torch.ask(name === "rollout" ? `rollout ${way}` : name);
        steps.push(phases);
      }
    }
    for (const torch of new Set(theirs.map((peer) => peer.torch))) torch.close();
    await step.close();
    await peak.close();
    const totals = ours[PHASES[0]].map((_, i) => PHASES.reduce((sum, name) => sum + ours[name][i], 0));
    const compared = ({ name, steps }) => {
      const sums = steps.map((phases) => PHASES.reduce((sum, phase) => sum + phases[phase], 0));
      const phases = Object.fromEntries(PHASES.map((phase) => [phase, median(steps.map((step) => step[phase]))]));
      return [name, { cpu_ms: median(sums), phases, ratio: median(totals.map((ms, i) => ms / sums[i])) }];
    };
    return {
      rollouts: shape.prompts * shape.group,
      cpu_ms: Object.fromEntries(PHASES.map((name) => [name, median(ours[name])])),
      total_cpu_ms: median(totals),
      gemm_share: Object.fromEntries(PHASES.map((name) => [name, median(shares[name]) / Math.max(...rates)])),
      update_peak_rss_mb: { any: peakOf(size, dir), within_3_gib: peakOf(size, dir, 3) },
      peers: Object.fromEntries(theirs.map(compared)),
    };
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** Writes batches in the peer's format, in which the entries that a token sees are two ranges. */
function plain(batches) {
  return batches.map(({ batch: { inputs, headInputs, segment, segments, coefficient } }) => ({
    ids: [...inputs.input_ids.data].map(Number),
    positions: [...inputs.position_ids.data].map(Number),
    shape: inputs.input_ids.shape,
    ranges: [...inputs.attention_ranges.data],
    rows: [...inputs.rows.data].map(Number),
    targets: [...headInputs.targets.data].map(Number),
    segment: [...segment].map(Number),
    coefficient: [...coefficient],
    segments,
  }));
}

/** Measures the peak memory in MB of a separate process that scores one micro-batch and updates on it. */
function peakOf(size, dir, gib) {
  const args = [fileURLToPath(import.meta.url), "--peak", size, dir, ...(gib === undefined ? [] : [String(gib)])];
  return Number(execFileSync(process.execPath, args).toString());
}

const [, , flag, size, dir, gib] = process.argv;
if (flag === "--peak") {
  const shape = SHAPES[size];
  const step = await openStep(shape, dir, gib === undefined ? {} : { gib: Number(gib) });
  const trajectories = JSON.parse(readFileSync(join(dir, "trajectories.json"), "utf8"));
  await step.update(await step.score(trajectories.slice(0, shape.microBatch)), 1);
  await step.close();
  process.stdout.write(String(Math.round(process.resourceUsage().maxRSS / 1024)));
}
