// node scripts/gpu/measure.mjs agreement | phases DIR [--key value ...]: one part of measure.sh, a JSON line on stdout.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { load } from "../bench/support.mjs";
import { log } from "../lib/setup.mjs";
import { agreement } from "./agreement.mjs";
import { measurePhases } from "./phases.mjs";
import { writeRandomModel } from "./random-model.mjs";
import { SIZES } from "./shape.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    provider: { type: "string", default: "cuda" },
    size: { type: "string", default: "8b" },
    quantize: { type: "string", default: "nf4" },
    precision: { type: "string", default: "bfloat16" },
    rounds: { type: "string" },
    repeats: { type: "string", default: "2" },
    checkpoint: { type: "boolean", default: false },
    "flow-update": { type: "boolean", default: false },
  },
});
const [part, dir] = positionals;
const { provider, quantize, precision } = values;
const say = (measured) => process.stdout.write(`${JSON.stringify({ part, ...values, ...measured })}\n`);

if (part === "agreement") {
  const temporary = mkdtempSync(join(tmpdir(), "measure-"));
  try {
    await writeRandomModel(temporary, SIZES.tiny, "nf4");
    for (const [name, of] of [
      ["float32", "models/tiny-refusion"],
      ["nf4", temporary],
    ])
      say({ name, tf32: process.env.NVIDIA_TF32_OVERRIDE ?? "as is", ...(await agreement(provider, of)) });
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
} else {
  const shape = { ...SIZES[values.size], ...(values.rounds === undefined ? {} : { rounds: Number(values.rounds) }) };
  if (!existsSync(join(dir, "config.json"))) {
    const began = performance.now();
    const bytes = await writeRandomModel(dir, shape, quantize);
    log(`wrote ${bytes} bytes in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  }
  const { Runtime } = await load("onnx/session.js");
  const began = performance.now();
  const seconds = [];
  const phases = await measurePhases(dir, shape, {
    provider,
    rank: 16,
    microBatch: 1,
    repeats: Number(values.repeats),
    cached: true,
    checkpoint: values.checkpoint,
    flowUpdate: values["flow-update"],
    openRuntime: (options) => Runtime.open({ ...options, precision: provider === "cuda" ? precision : "float32" }),
    log: (line) => {
      log(line);
      seconds.push(line);
    },
  });
  say({ whole_seconds: (performance.now() - began) / 1000, seconds, ...phases });
}
