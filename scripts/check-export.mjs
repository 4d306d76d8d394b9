// node scripts/check-export.mjs [--size 1b|small] [--quantize nf4] [--double-quant] [--dir DIR]
// Makes a random Qwen3 checkpoint in bf16 shards, exports it and takes a LoRA step on it, each in a separate process.
// Prints seconds and peak memory of each as a JSON object. Needs a build (npm run build) and, for 1b, 4 GB of disk.
import { spawn } from "node:child_process";
import { closeSync, copyFileSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { causalBatch, openTrainer } from "./bench/lora-trainer.mjs";
import { load } from "./bench/support.mjs";
import { flagsOf } from "./lib/flags.mjs";
import { ROOT } from "./lib/setup.mjs";

/** Shapes as Hugging Face names them. 1b: 1.12 billion parameters, 2.2 GB in bf16. */
const SIZES = {
  "1b": { hidden_size: 2048, intermediate_size: 6144, num_hidden_layers: 16, num_attention_heads: 16, vocab: 151936 },
  small: { hidden_size: 768, intermediate_size: 2304, num_hidden_layers: 8, num_attention_heads: 6, vocab: 8192 },
};
const SHARDS = 5;
const [BATCH, LENGTH, RANK] = [1, 64, 16];

const { values } = flagsOf(import.meta.url, {
  options: {
    size: { type: "string", default: "1b" },
    quantize: { type: "string", default: "nf4" },
    "double-quant": { type: "boolean", default: false },
    dir: { type: "string" },
    phase: { type: "string" },
  },
});
const size = SIZES[values.size];
if (size === undefined) {
  process.stderr.write(`--size must be one of ${Object.keys(SIZES).join(", ")}\n`);
  process.exit(2);
}

/** Builds config.json in the format of transformers. */
function config() {
  const { vocab, ...shape } = size;
  return {
    architectures: ["Qwen3ForCausalLM"],
    model_type: "qwen3",
    ...shape,
    vocab_size: vocab,
    num_key_value_heads: shape.num_attention_heads / 2,
    head_dim: 128,
    rms_norm_eps: 1e-6,
    rope_theta: 1e6,
    tie_word_embeddings: true,
    hidden_act: "silu",
    dtype: "bfloat16",
  };
}

/** Writes a checkpoint of weights ~ N(0, 0.02) in shards. */
async function makeCheckpoint(dir) {
  const { architectureOf } = await load("nn/architecture.js");
  const { Rng } = await load("core/rng.js");
  const { floatToBfloat16 } = await load("onnx/half.js");
  const ours = { ...config(), architecture: "refusion", attention: "causal" };
  for (const token of ["mask", "eos", "pad"]) ours[`${token}_token_id`] = 0;
  const specs = [...(await architectureOf(ours)).weights(ours)];
  const rng = Rng.named(0, "checkpoint");
  // every weight reads the same noise from a different offset: drawing a billion numbers would take minutes
  const noise = floatToBfloat16(Float32Array.from({ length: 2 ** 20 + 7 }, () => 0.02 * rng.normal()));
  const ones = floatToBfloat16(new Float32Array(8192).fill(1));
  mkdirSync(dir, { recursive: true });
  const map = {};
  let bytes = 0;
  for (let shard = 0; shard < SHARDS; shard++) {
    const file = `model-0000${shard + 1}-of-0000${SHARDS}.safetensors`;
    const header = {};
    let end = 0;
    const own = specs.filter((_, i) => i % SHARDS === shard);
    for (const [name, { shape }] of own) {
      const length = 2 * shape.reduce((a, b) => a * b, 1);
      header[name] = { dtype: "BF16", shape, data_offsets: [end, end + length] };
      end += length;
      map[name] = file;
    }
    const json = Buffer.from(JSON.stringify(header));
    const head = Buffer.alloc(8);
    head.writeBigUInt64LE(BigInt(json.length));
    const fd = openSync(join(dir, file), "w");
    writeSync(fd, head);
    writeSync(fd, json);
    for (const [, { shape }] of own) {
      const source = shape.length === 1 ? ones : noise;
      let at = shape.length === 1 ? 0 : rng.int(2 ** 20);
      for (let left = shape.reduce((a, b) => a * b, 1); left > 0; at = 0) {
        const piece = source.subarray(at, Math.min(source.length, at + left));
        writeSync(fd, new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength));
        left -= piece.length;
      }
    }
    closeSync(fd);
    bytes += end;
  }
  writeFileSync(join(dir, "model.safetensors.index.json"), JSON.stringify({ metadata: {}, weight_map: map }));
  writeFileSync(join(dir, "config.json"), JSON.stringify(config()));
  copyFileSync(join(ROOT, "models", "tiny-refusion", "tokenizer.json"), join(dir, "tokenizer.json"));
  return { parameters: bytes / 2, bytes };
}

async function exportIt(checkpoint, out) {
  const { exportModel } = await load("features/export/export.js");
  const { quantize: precision, "double-quant": doubleQuant } = values;
  return exportModel({ checkpoint, out, precision, doubleQuant });
}

/** Scores a batch under policy and reference, which share the base, and takes one step of supervised training. */
async function trainStep(dir) {
  const { Rng } = await load("core/rng.js");
  const { loraSites } = await load("nn/bind.js");
  const { freshAdapter } = await load("nn/lora.js");
  const { model, runtime, lora, engine } = await openTrainer(dir, {
    threads: 2,
    rank: RANK,
    alpha: 32,
    weightDecay: 0,
  });
  const rng = Rng.named(0, "step");
  const adapter = freshAdapter(loraSites(model.graph, lora), lora, rng);
  await engine.setParameters("policy", adapter);
  await engine.setParameters("reference", adapter);
  await engine.setOptimizer(undefined);
  const batch = await causalBatch({ batch: BATCH, length: LENGTH, vocabulary: 1000, rng });
  const one = new Float32Array(1).fill(1);
  const step = async (t) => {
    const { loss } = await engine.accumulate(batch, { old: one, reference: one, advantage: one, weight: one });
    const norm = await engine.step(t, 1e-2);
    return { loss, norm };
  };
  const began = performance.now();
  const first = await step(1);
  const loaded = performance.now();
  const second = await step(2);
  const seconds = (performance.now() - loaded) / 1000;
  await runtime.close();
  return {
    rows: BATCH * LENGTH,
    loss: [first.loss, second.loss],
    grad_norm: first.norm,
    first_s: (loaded - began) / 1000,
    step_s: seconds,
  };
}

/** Runs one phase in a separate process, so that the peak memory is the phase's alone. */
async function inChild(phase, dir) {
  const flags = ["--phase", phase, "--dir", dir, "--size", values.size, "--quantize", values.quantize];
  if (values["double-quant"]) flags.push("--double-quant");
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (data) => {
    text += data;
  });
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (code !== 0) throw new Error(`${phase} ended with ${code}`);
  return JSON.parse(text);
}

const PHASES = {
  checkpoint: (dir) => makeCheckpoint(join(dir, "checkpoint")),
  export: (dir) => exportIt(join(dir, "checkpoint"), join(dir, "model")),
  train: (dir) => trainStep(join(dir, "model")),
  // the memory of Node and the modules alone
  idle: async () => {
    await load("features/export/export.js");
    await load("engine/engine.js");
    return {};
  },
};

if (values.phase !== undefined) {
  const began = performance.now();
  const result = await PHASES[values.phase](values.dir);
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  const figures = { seconds: (performance.now() - began) / 1000, cpu_s: (userCPUTime + systemCPUTime) / 1e6 };
  process.stdout.write(JSON.stringify({ ...result, ...figures, peak_mib: Math.round(maxRSS / 1024) }));
} else {
  const dir = mkdtempSync(join(values.dir ?? tmpdir(), "check-export-"));
  try {
    const result = {};
    for (const phase of Object.keys(PHASES)) {
      process.stderr.write(`${phase} ...\n`);
      result[phase] = await inChild(phase, dir);
      process.stderr.write(`${phase}: ${JSON.stringify(result[phase])}\n`);
    }
    process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
