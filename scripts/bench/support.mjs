import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { ROOT } from "../lib/setup.mjs";

/** Imports a compiled module of this project. */
export function load(path) {
  return import(pathToFileURL(join(process.env.REFUSION_DIST ?? join(ROOT, "dist"), "src", path)).href);
}

/** Computes the q-quantile of some numbers; the median by default. */
export function median(values, q = 0.5) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = q * (sorted.length - 1);
  const low = Math.floor(at);
  return sorted[low] + (at - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
}

/** Starts a PyTorch process that prints "ready" on stderr and then answers each line with its CPU milliseconds. */
export async function openPeer(python, args, env = process.env) {
  const child = spawn(python, args, { stdio: ["pipe", "pipe", "pipe"], env });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let said = "";
  await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`the PyTorch peer ended with ${code}:\n${said}`)));
    child.stderr.on("data", (data) => {
      said += data;
      if (said.includes("ready")) resolve();
    });
  });
  return {
    ask: async (command) => {
      child.stdin.write(`${command}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`the PyTorch peer ended at "${command}":\n${said}`);
      return Number(value);
    },
    close: () => child.stdin.end("exit\n"),
  };
}

/** Opens a model's engine with a fresh adapter and a sampler, on one thread. @param precision of rollouts. */
export async function openEngine(dir, kind, { rank, precision = "float32" }) {
  const { Rng } = await load("core/rng.js");
  const { samplerOf } = await load("diffusion/sampler-kinds.js");
  const { Engine } = await load("engine/engine.js");
  const { sampledModel } = await load("engine/policy.js");
  const { int8Rollouts } = await load("engine/int8.js");
  const { loraSites } = await load("nn/bind.js");
  const { freshAdapter } = await load("nn/lora.js");
  const { loadModel } = await load("nn/model.js");
  const { Runtime } = await load("onnx/session.js");
  const sampler = await samplerOf(kind);
  const model = await loadModel(dir);
  const runtime = await Runtime.open({ provider: "cpu", threads: 1 });
  const lora = { rank, alpha: 2 * rank, targets: ["q_proj", "k_proj", "v_proj", "o_proj"] };
  const about = sampledModel(model.config);
  const rollout = await int8Rollouts(precision, runtime);
  const engine = new Engine(runtime, model, { sampler, about, lora, rollout });
  await engine.setParameters("policy", freshAdapter(loraSites(model.graph, lora), lora, Rng.named(0, "adapter")));
  return { engine, sampler, about, runtime };
}
