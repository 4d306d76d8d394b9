/** The parts of a LoRA training step on a model directory: an engine with an optimizer, and a random batch. */
import { load } from "./support.mjs";

/** Opens an engine with adapters on every projection, mean cross-entropy and AdamW. @returns it and its runtime. */
export async function openTrainer(dir, { threads, rank, alpha, weightDecay, checkpoint = false }) {
  const { loadModel } = await load("nn/model.js");
  const { Runtime } = await load("onnx/session.js");
  const { Engine } = await load("engine/engine.js");
  const { sampledModel } = await load("engine/policy.js");
  const { objective } = await load("rl/objectives/sft.js");
  const { sampler } = await load("diffusion/samplers/unmask.js");
  const model = await loadModel(dir);
  const runtime = await Runtime.open({ provider: "cpu", threads });
  const targets = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];
  const lora = { rank, alpha, targets };
  const optimizer = {
    kind: "adamw",
    beta1: 0.9,
    beta2: 0.999,
    epsilon: 1e-8,
    weightDecay,
    gradClip: 1,
    muonLrScale: 1,
  };
  const training = { objective, options: objective.schema.parse({}), optimizer };
  const about = sampledModel(model.config);
  const engine = new Engine(runtime, model, { lora, sampler, about, checkpoint, training });
  return { model, runtime, lora, engine };
}

/** Draws B causal sequences of N random tokens with a random target at every row, weighted as a mean over all rows. */
export async function causalBatch({ batch, length, vocabulary, rng }) {
  const { modelHead } = await load("diffusion/score-head.js");
  const { layBuffers } = await load("attention/rows.js");
  const { scalar, vector } = await load("onnx/tensors.js");
  const rows = batch * length;
  const ints = (of) => BigInt64Array.from({ length: rows }, (_, i) => BigInt(of(i)));
  const positions = Array.from({ length }, (_, n) => n);
  const buffers = Array.from({ length: batch }, () => ({ ids: positions.map(() => rng.int(vocabulary)), positions }));
  return {
    inputs: { ...layBuffers(buffers, { batch, length, pad: 0 }).inputs, rows: vector(ints((i) => i)) },
    head: modelHead,
    headInputs: { targets: vector(ints(() => rng.int(vocabulary))), inverse_temperature: scalar(1) },
    coefficient: new Float32Array(rows).fill(1 / rows),
    segment: new BigInt64Array(rows),
    segments: 1,
    owner: [0],
    step: [-1],
    units: new Float32Array(1),
    logProb: undefined,
  };
}
