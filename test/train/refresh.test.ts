import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type RunConfigInput, train } from "../../src/library/programs.js";
import { readMetrics } from "../../src/runs/metrics.js";
import { OWN_ENVIRONMENT, ownFolder } from "../support/own-modules.js";
import { differences, timelessFiles } from "../support/run-files.js";
import { smallModel } from "../support/small-model.js";
import { stopAfter } from "../support/stop-after.js";

const CONFIG: RunConfigInput = {
  name: "refresh",
  model: await smallModel(),
  runtime: { provider: "cpu", threads: 1 },
  environment: { kind: "./environment.mjs", turns: 1 },
  sampler: { kind: "unmask", rounds: 2, prompt_length: 32, response_length: 16 },
  objective: { kind: "flow-grpo", kl_coeff: 0.01 },
  training: {
    steps: 4,
    prompts_per_step: 2,
    group_size: 4,
    rollout_batch: 8,
    learning_rate: 0.01,
    reference_refresh: 2,
  },
  evaluation: { splits: [] },
  checkpoint: { every: 1, keep_last: 9 },
  report: { rollouts: 0, screenshots: 0 },
};

describe("a reference that is refreshed", async () => {
  const dir = ownFolder({ "environment.mjs": OWN_ENVIRONMENT });
  await train(CONFIG, { runDir: join(dir, "whole") });

  it("after a refresh the policy is where its reference is: the penalty begins at 0 again", () => {
    const kl = readMetrics(join(dir, "whole", "metrics.jsonl")).map((row) => row.kl as number);
    assert.equal(kl.length, 4);
    // steps 1 and 3 begin at the reference
    for (const step of [1, 3]) assert.ok((kl[step - 1] as number) < 1e-8, `step ${step}: ${kl}`);
    for (const step of [2, 4]) assert.ok((kl[step - 1] as number) > 1e-6, `step ${step}: ${kl}`);
  });

  it("a resume between refreshes ends in the same bytes", async () => {
    const runDir = join(dir, "cut");
    const cut = await train(CONFIG, { runDir, signal: stopAfter(3) });
    assert.deepEqual([cut.interrupted, cut.steps], [true, 3]);
    assert.equal((await train(CONFIG, { runDir, resume: true })).steps, 4);
    assert.deepEqual(differences(timelessFiles(join(dir, "whole")), timelessFiles(runDir)), []);
  });
});
