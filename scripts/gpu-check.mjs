// npm run gpu-check [-- --size 8b|tiny] [--provider cuda|webgpu|cpu] [--quantize nf4|bf16|fp16|none] [--json FILE]
// Checks a GPU host: which providers load, whether they agree with the CPU, and what time and memory a rollout group
// and an update of an 8B-shaped model with random weights take. Markdown on stdout, progress on stderr (docs/gpu.md).
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load } from "./bench/support.mjs";
import { agreement, TOLERANCE } from "./gpu/agreement.mjs";
import { gpuName } from "./gpu/memory.mjs";
import { measurePhases } from "./gpu/phases.mjs";
import { measureProducts } from "./gpu/products.mjs";
import { writeRandomModel } from "./gpu/random-model.mjs";
import { limits, SIZES } from "./gpu/shape.mjs";
import { flagsOf } from "./lib/flags.mjs";
import { build, checkNode, fail, installPackages, log, ROOT } from "./lib/setup.mjs";

const shapeFlags = Object.fromEntries(Object.keys(SIZES.tiny).map((flag) => [flag, { type: "string" }]));
const { values } = flagsOf(import.meta.url, {
  options: {
    size: { type: "string", default: "8b" },
    provider: { type: "string" },
    quantize: { type: "string", default: "nf4" },
    rank: { type: "string", default: "16" },
    "micro-batch": { type: "string", default: "1" },
    precision: { type: "string", default: "auto" },
    repeats: { type: "string", default: "1" },
    "peak-tflops": { type: "string", default: "790" },
    dir: { type: "string" },
    json: { type: "string" },
    ...shapeFlags,
  },
});
const number = (flag, text) => {
  const value = Number(text);
  if (!(value > 0)) fail(`--${flag}: expected a number above 0, got ${text}`);
  return value;
};
const oneOf = (flag, text, known) => {
  if (!known.includes(text)) fail(`--${flag}: expected one of ${known.join(", ")}, got ${text}`);
  return text;
};
const size = SIZES[oneOf("size", values.size, Object.keys(SIZES))];
const shape = Object.fromEntries(
  Object.entries(size).map(([key, value]) => [key, values[key] === undefined ? value : number(key, values[key])]),
);
const quantize = oneOf("quantize", values.quantize, ["nf4", "bf16", "fp16", "none"]);
if (values.provider !== undefined) oneOf("provider", values.provider, ["cuda", "webgpu", "cpu"]);
const tflops = number("peak-tflops", values["peak-tflops"]);

checkNode();
// tests name an existing build
if (process.env.REFUSION_DIST === undefined) {
  installPackages();
  build();
}
process.chdir(ROOT);

const { Runtime } = await load("onnx/session.js");
const { gradientChecks } = await load("onnx/provider.js");
const providers = [];
for (const provider of ["cpu", "cuda", "webgpu"]) {
  try {
    const runtime = await Runtime.open({ provider, checks: await gradientChecks() });
    providers.push({ provider, loads: true, reason: runtime.providerReason });
    await runtime.close();
  } catch (error) {
    providers.push({ provider, loads: false, reason: [error.message, error.hint].filter(Boolean).join(". ") });
  }
  log(`${provider}: ${providers.at(-1).loads ? "loads" : providers.at(-1).reason}`);
}
const usable = providers.filter((p) => p.loads).map((p) => p.provider);
const provider = values.provider ?? usable.find((name) => name !== "cpu");
if (provider === undefined || !usable.includes(provider)) {
  fail(
    provider === undefined ? "Neither cuda nor webgpu can be used on this host." : `${provider} cannot be used.`,
    ...providers.filter((p) => !p.loads).map((p) => `  ${p.provider}: ${p.reason}`),
    "  To try the script itself: npm run gpu-check -- --size tiny --provider cpu",
  );
}

const temporary = mkdtempSync(join(tmpdir(), "gpu-check-"));
const agreed = {};
const precision = oneOf("precision", values.precision, ["auto", "float32", "bfloat16", "float16"]);
const rank = number("rank", values.rank);
const microBatch = number("micro-batch", values["micro-batch"]);
const repeats = number("repeats", values.repeats);
let bytes;
let products;
/** Results with gradient checkpointing, which a card of 24 GB needs; `plain` holds those without it. */
let phases;
let plain;
try {
  const small = join(temporary, "small");
  await writeRandomModel(small, SIZES.tiny, quantize);
  for (const [name, dir] of [
    ["float32", "models/tiny-refusion"],
    [quantize, small],
  ]) {
    agreed[name] = await agreement(provider, dir);
    const { logits, logProbs, gradients, rounds } = agreed[name];
    log(`${name} against the CPU: logits ${logits}, log-probabilities ${logProbs}, gradients ${gradients}`);
    log(`${name}: rounds with kept keys and values against their scores: ${rounds}`);
  }
  const rows = shape.group * (shape.prompt + shape.response);
  products = await measureProducts(provider, [rows, shape.ffn, shape.hidden]);
  for (const { what, tflops: got, error } of products.products)
    log(`product, ${what}: ${error ?? `${got.toPrecision(3)} TFLOP/s`}`);
  const dir = values.dir ?? join(temporary, "model");
  log(`writing a random model (${quantize}) to ${dir}`);
  bytes = await writeRandomModel(dir, shape, quantize);
  const { precisionOf } = await load("onnx/precision.js");
  const { loadModel } = await load("nn/model.js");
  const layers = precisionOf(precision, (await loadModel(dir)).graph);
  const openRuntime = (options) => Runtime.open({ ...options, precision: layers });
  const about = { provider, rank, microBatch, repeats, log, openRuntime };
  phases = await measurePhases(dir, shape, { ...about, checkpoint: true });
  try {
    plain = await measurePhases(dir, shape, { ...about, cached: provider !== "webgpu" });
  } catch (error) {
    // the card is too small for this; the results with checkpointing stand
    plain = { error: error.message };
    log(`without gradient checkpointing: ${error.message}`);
  }
} finally {
  rmSync(temporary, { recursive: true, force: true });
}

const device = provider === "cpu" ? "CPU" : ((await gpuName()) ?? provider);
const limit = limits(shape, tflops);
const result = {
  node: process.versions.node,
  device,
  provider,
  providers,
  agreement: { ...agreed, tolerance: TOLERANCE },
  model: { size: values.size, quantize, weights_bytes: bytes, ...shape },
  products,
  phases,
  without_checkpointing_with_keys_and_values: plain,
  limit: { tflops, ...limit },
};
const row = (what, { seconds, gpu_mib, host_mib }, best) =>
  `| ${what} | ${seconds.toFixed(2)} | ${best.toPrecision(3)} | ${gpu_mib === null ? "-" : (gpu_mib / 1024).toFixed(1)} | ${(host_mib / 1024).toFixed(1)} |`;
const percent = (x) => `${(100 * x).toPrecision(2)} %`;
process.stdout.write(
  [
    `${device}, provider ${provider}, ${quantize}, ${shape.layers} layers of ${shape.hidden}, prompt ${shape.prompt}, response ${shape.response}, T = ${shape.rounds}, G = ${shape.group}`,
    "",
    "| largest difference from the CPU | logits | log-probabilities | gradients | rounds from scores | |",
    "|---|---|---|---|---|---|",
    ...Object.entries(agreed).map(
      ([name, a]) =>
        `| ${name} | ${percent(a.logits)} | ${percent(a.logProbs)} | ${percent(a.gradients)} | ${percent(a.rounds)} | ${a.agrees ? "agrees" : "MORE THAN IS EXPECTED"} |`,
    ),
    "",
    `| | s | limit at ${tflops} TFLOP/s | peak GiB on the GPU | GiB of the host |`,
    "|---|---|---|---|---|",
    row("rollout group", phases.rollout, limit.rollout),
    row(
      `Flow-GRPO, reference values of ${shape["rounds-per-update"]} rounds`,
      phases.flowGrpo.values,
      limit.flowGrpo.values,
    ),
    row(`Flow-GRPO, update by ${shape["rounds-per-update"]} rounds`, phases.flowGrpo.update, limit.flowGrpo.update),
    row("ESPO, old and reference values", phases.espo.values, limit.espo.values),
    row("ESPO, update", phases.espo.update, limit.espo.update),
    ...(plain.error === undefined
      ? [
          row("rollout group, keys and values kept", plain.rollout, limit.rollout),
          row("ESPO, update without gradient checkpointing", plain.espo.update, limit.espo.update),
        ]
      : [`| without gradient checkpointing | ${plain.error} | | | |`]),
    "",
    `| product ${products.shape.join(" x ")} | ms | TFLOP/s |`,
    "|---|---|---|",
    ...products.products.map(({ what, seconds, tflops: got, error }) =>
      error === undefined
        ? `| ${what} | ${(1000 * seconds).toFixed(2)} | ${got.toPrecision(3)} |`
        : `| ${what} | ${error} | |`,
    ),
    "",
    `Copies: ${(products.copies.there / 1e9).toPrecision(3)} GB/s to the device, ${(products.copies.back / 1e9).toPrecision(3)} GB/s back`,
    "",
  ].join("\n"),
);
const json = `${JSON.stringify(result, undefined, 2)}\n`;
if (values.json === undefined) process.stdout.write(`\n${json}`);
else writeFileSync(values.json, json);
if (Object.values(agreed).some((a) => !a.agrees)) process.exitCode = 1;
