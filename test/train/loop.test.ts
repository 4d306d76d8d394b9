import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { loadConfig } from "../../src/config/config.js";
import { train } from "../../src/train/recipe.js";
import { ownFolder } from "../support/own-modules.js";
import { smallModel } from "../support/small-model.js";
import { trainOptions } from "../support/train-options.js";

const dir = ownFolder({
  "run.yaml": `
model: ${await smallModel()}
environment: { kind: paper, sizes: { train: 8, val: 1, test: 0, heldout: 0 } }
sampler: { prompt_length: 56, response_length: 56, rounds: 2, slot_size: 4, temperature: 2 }
plan: free
training: { epochs: 1.5, tasks: 3, prompts_per_step: 2, group_size: 2, micro_batch: 2 }
evaluation: { splits: [] }
runtime: { threads: 1, provider: cpu }
`,
});

for (const [command, steps] of [
  ["flow-grpo", 3], // 4.5 tasks, 2 a step
  ["sft", 2], // 4 examples a step
] as const)
  test(`${command}: training.epochs are steps over the first training.tasks tasks`, async () => {
    const config = await loadConfig("run.yaml", { command });
    const run = join(dir, command);
    await train(config, trainOptions(command, "run.yaml", run));
    const written = parse(readFileSync(join(run, "config.yaml"), "utf8"));
    assert.deepEqual([written.training.steps, written.training.epochs, written.training.tasks], [steps, null, 3]);
    const lines = readFileSync(join(run, "metrics.jsonl"), "utf8").trim().split("\n");
    assert.equal(lines.length, steps);
  });

test("epochs and steps together are refused", async () => {
  const given = loadConfig("run.yaml", { command: "sft", overrides: ["training.steps=7"] });
  await assert.rejects(
    given,
    /training\.epochs \(line \d+\): sets the number of steps, which training\.steps sets too/,
  );
});
