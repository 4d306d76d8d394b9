/**
 * Measures how the cost of a step of Flow-GRPO grows with the length of its sequences, the size of a group and the
 * vocabulary, on random models of the tiny size: CPU milliseconds of a round, of scoring and of the update, and the
 * exponent of their growth. All sizes take turns.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeRandomModel } from "../gpu/random-model.mjs";
import { openStep, SHAPES } from "./rl-step.mjs";
import { median } from "./support.mjs";
import { cpuMs } from "./work.mjs";

const BASE = { ...SHAPES.tiny, prompt: 128, response: 128, prompts: 1, group: 2, microBatch: 1 };
/** The sizes that grow. The update packs a prompt with the answer of each round: of answers as long, 2,048 take 10 GB. */
const GROWN = {
  length: [[256, 512, 1024, 2048], (n) => ({ prompt: (n * 15) / 16, response: n / 16 })],
  group: [[2, 4, 8, 16], (n) => ({ group: n })],
  vocabulary: [[1024, 4096, 16384, 49152], (n) => ({ vocab: n })],
};
const PHASES = ["a round", "scoring", "the update"];

/** Returns a table: a row each of length, group and vocabulary. */
export async function benchGrowth({ runs }) {
  const dir = mkdtempSync(join(tmpdir(), "bench-"));
  const rows = [];
  try {
    for (const [name, [sizes, shapeOf]] of Object.entries(GROWN)) {
      const steps = [];
      for (const size of sizes) {
        const shape = { ...BASE, ...shapeOf(size) };
        await writeRandomModel(join(dir, `${name}-${size}`), shape, "none");
        steps.push({ shape, ...(await openStep(shape, join(dir, `${name}-${size}`))), ms: PHASES.map(() => []) });
      }
      // the first run also builds and loads the graphs
      for (let run = 0; run <= runs; run++) for (const step of steps) await measure(step, run);
      for (const { close } of steps) await close();
      rows.push([`${name} ${sizes[0]}-${sizes.at(-1)}`, ...PHASES.map((_, i) => growth(sizes, steps, i))]);
    }
  } finally {
    rmSync(dir, { recursive: true });
  }
  return { columns: ["CPU ms", ...PHASES], rows };
}

async function measure({ shape, rollout, score, update, ms }, run) {
  let [trajectories, batches] = [];
  const spent = [
    (await cpuMs(async () => (trajectories = await rollout(run)))) / shape.rounds,
    await cpuMs(async () => (batches = await score(trajectories))),
    await cpuMs(() => update(batches, run + 1)),
  ];
  for (const [i, one] of spent.entries()) if (run > 0) ms[i].push(one);
}

/** Writes the cost at the first size and at the last, and the exponent from the second to the last: `20-300 (1.6)`. */
function growth(sizes, steps, phase) {
  const ms = steps.map((step) => median(step.ms[phase]));
  const exponent = Math.log(ms.at(-1) / ms[1]) / Math.log(sizes.at(-1) / sizes[1]);
  return `${ms[0].toFixed()}-${ms.at(-1).toFixed()} (${exponent.toFixed(1)})`;
}
