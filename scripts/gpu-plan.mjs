// npm run gpu-plan [-- --size 8b|tiny] [--gpu-gb 24] [--quantize nf4|bf16|fp16|none] [--checkpoint] [--cached] [--memory-gb GB] [--json FILE]
// Plans a run on a GPU without having one: ONNX Runtime's real CUDA provider runs on a CUDA runtime that only counts
// (scripts/gpu/stub). Placement, copies, shapes and memory are exact; seconds are lower bounds.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SIZES } from "./gpu/shape.mjs";
import { prepareStub } from "./gpu/stub.mjs";
import { flagsOf } from "./lib/flags.mjs";
import { build, checkNode, fail, installPackages, ROOT } from "./lib/setup.mjs";

const shapeFlags = Object.fromEntries(Object.keys(SIZES.tiny).map((flag) => [flag, { type: "string" }]));
const { values } = flagsOf(import.meta.url, {
  options: {
    size: { type: "string", default: "8b" },
    "gpu-gb": { type: "string", default: "24" },
    quantize: { type: "string", default: "nf4" },
    rank: { type: "string", default: "16" },
    "micro-batch": { type: "string", default: "1" },
    precision: { type: "string", default: "bfloat16" },
    checkpoint: { type: "boolean", default: false },
    cached: { type: "boolean", default: false },
    "memory-gb": { type: "string" },
    "tf32-tflops": { type: "string", default: "380" },
    tflops: { type: "string", default: "790" },
    bandwidth: { type: "string", default: "4000" },
    bus: { type: "string", default: "10" },
    cache: { type: "string", default: join(ROOT, "node_modules", ".cache", "gpu-plan") },
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
const plan = {
  shape: Object.fromEntries(
    Object.entries(size).map(([key, value]) => [key, values[key] === undefined ? value : number(key, values[key])]),
  ),
  gpuBytes: number("gpu-gb", values["gpu-gb"]) * 1e9,
  quantize: oneOf("quantize", values.quantize, ["nf4", "bf16", "fp16", "none"]),
  rank: number("rank", values.rank),
  microBatch: number("micro-batch", values["micro-batch"]),
  precision: oneOf("precision", values.precision, ["float32", "bfloat16", "float16"]),
  checkpoint: values.checkpoint,
  cached: values.cached,
  memory: values["memory-gb"] === undefined ? undefined : number("memory-gb", values["memory-gb"]) * 1e9,
  rates: {
    single: number("tf32-tflops", values["tf32-tflops"]) * 1e12,
    half: number("tflops", values.tflops) * 1e12,
    memory: number("bandwidth", values.bandwidth) * 1e9,
    bus: number("bus", values.bus) * 1e9,
  },
  json: values.json,
};

checkNode();
// tests name an existing build
if (process.env.REFUSION_DIST === undefined) {
  installPackages();
  build();
}
process.chdir(ROOT);
const env = prepareStub(values.cache, plan.gpuBytes);
// a separate process, since the system looks libraries up when a process starts
const worker = fileURLToPath(new URL("./gpu/plan.mjs", import.meta.url));
const { status, signal } = spawnSync(process.execPath, [worker, JSON.stringify(plan)], {
  stdio: "inherit",
  env: { ...process.env, ...env },
});
if (signal !== null) fail(`gpu-plan's process was ended by ${signal}.`);
process.exitCode = status;
