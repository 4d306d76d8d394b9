import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadConfig } from "../../../src/config/config.js";
import { readMetrics } from "../../../src/runs/metrics.js";
import { readRollouts } from "../../../src/runs/rollout-record.js";
import { train } from "../../../src/train/recipe.js";
import type { TrainOptions } from "../../../src/train/types.js";
import { temporaryFolder } from "../../support/temporary.js";
import { trainOptions } from "../../support/train-options.js";

const CONFIG = `
model: models/tiny-refusion
environment: { kind: pages, turns: 4, page_characters: 300 }
site: { kind: wizard, sizes: { train: 2, val: 1, test: 1, heldout: 1 } }
browser: { contexts: 4 }
objective: { kind: flow-grpo, advantage: center }
reward: documents # pays for operating controls: groups of this model have a signal
plan: free
sampler: { kind: unmask, prompt_length: 256, response_length: 128, temperature: 1 }
training: { steps: 2, prompts_per_step: 2, group_size: 4, rollout_batch: 8, micro_batch: 4, learning_rate: 1.0e-3 }
evaluation: { splits: [val], episodes: 2, every: 0 }
checkpoint: { every: 1, keep_last: 9 }
runtime: { threads: 1, provider: cpu }
tracking: { tensorboard: false }
`;

describe("training on forms of several pages", async () => {
  const dir = temporaryFolder("pages");
  writeFileSync(join(dir, "run.yaml"), CONFIG);
  const config = await loadConfig(join(dir, "run.yaml"), { command: "flow-grpo" });

  const options = (name: string, changes?: Partial<TrainOptions>): TrainOptions =>
    trainOptions("flow-grpo", join(dir, "run.yaml"), join(dir, name), changes);

  it("scores every turn as it was sampled", async () => {
    await train(config, options("whole"));
    for (const { extra, faults } of readMetrics(join(dir, "whole", "metrics.jsonl"))) {
      assert.equal(faults, 0);
      assert.ok((extra?.on_policy_ratio_error ?? 1) < 1e-4, `${extra?.on_policy_ratio_error}`);
      assert.ok((extra?.turns ?? 0) > 1);
    }
    const records = [1, 2].flatMap((step) => readRollouts(join(dir, "whole", "rollouts", `step-00000${step}.jsonl`)));
    assert.ok(records.some(({ turns }) => turns.length > 1));
    for (const { turns } of records) {
      assert.ok(turns.every(({ prompt, reward }) => prompt.startsWith("page: ") && typeof reward === "number"));
      assert.equal(new Set(turns.map(({ prompt }) => prompt)).size, turns.length);
    }
  });
});
