/**
 * Compares rollouts of `unmask` with the model's matrices in int8 and float32 by the ratio of CPU times (in turn,
 * median; one thread), on random models in the shapes of the RL step (rl-step.mjs), with the KV cache.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeRandomModel } from "../gpu/random-model.mjs";
import { SHAPES } from "./rl-step.mjs";
import { load, median, openEngine } from "./support.mjs";

const PRECISIONS = ["float32", "int8"];

export async function benchInt8({ runs }) {
  return { tiny: await compare(SHAPES.tiny, runs), "135m": await compare(SHAPES["135m"], Math.ceil(runs / 4)) };
}

async function compare(shape, runs) {
  const dir = mkdtempSync(join(tmpdir(), "bench-"));
  try {
    await writeRandomModel(dir, shape, "none");
    const rollouts = Object.fromEntries(
      await Promise.all(PRECISIONS.map(async (precision) => [precision, await open(dir, shape, precision)])),
    );
    const times = { float32: [], int8: [] };
    // the first round also builds and loads the graphs
    for (let run = 0; run <= runs; run++)
      for (const precision of PRECISIONS) {
        const ms = await rollouts[precision].play();
        if (run > 0) times[precision].push(ms);
      }
    for (const { close } of Object.values(rollouts)) await close();
    const ratios = times.int8.map((ms, i) => ms / times.float32[i]);
    return {
      cpu_time_ratio: Number(median(ratios).toFixed(3)),
      float32_cpu_ms: Math.round(median(times.float32)),
      int8_cpu_ms: Math.round(median(times.int8)),
    };
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** Prepares a step's rollouts in a precision: `play` runs them and returns their CPU time in milliseconds. */
async function open(dir, shape, precision) {
  const { Rng } = await load("core/rng.js");
  const { engine, sampler, about, runtime } = await openEngine(dir, "unmask", { rank: 16, precision });
  const rng = Rng.named(0, "prompts");
  const prompts = Array.from({ length: shape.prompts }, () =>
    Array.from({ length: shape.prompt }, () => rng.int(shape.vocab - 3)),
  ).flatMap((prompt) => Array(shape.group).fill(prompt));
  const settings = { prompt_length: shape.prompt, response_length: shape.response, rounds: shape.rounds };
  const options = sampler.options(sampler.schema.parse(settings), about);
  return {
    play: async () => {
      const rngs = prompts.map((_, i) => Rng.named(0, `rollout/${i}`));
      const before = process.cpuUsage();
      await sampler.rollout(engine, prompts, options, rngs, prompts.length);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    },
    close: () => runtime.close(),
  };
}
