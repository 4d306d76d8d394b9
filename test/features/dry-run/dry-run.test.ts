import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { loadConfig } from "../../../src/config/config.js";
import { Engine } from "../../../src/engine/engine.js";
import { dryRun as kind } from "../../../src/features/dry-run/dry-run.js";
import { resolveConfig } from "../../../src/library/programs.js";
import { train } from "../../../src/train/recipe.js";

test("a dry run without any reward is not called ready: model, lengths and the page of reasons are named", async () => {
  const config = await loadConfig("configs/tiny/quickstart.yaml", { command: "flow-grpo" });
  const played = { rollouts: 4, faults: 0, step: { rollout: 1, score: 1, update: 1 } };
  const dryRun = { ...played, evaluation: 0, total: 1, peak_memory_gib: 1 };
  assert.match(
    kind.noSignal({ ...dryRun, reward: 0 }, config) ?? "",
    /none of 4 rollouts.*models\/tiny-refusion.*prompt_length=\d+, sampler\.response_length=\d+.*docs\/runs\.md/,
  );
  assert.equal(kind.noSignal({ ...dryRun, reward: 0.4 }, config), undefined);
  // no reward: every episode failed, which is reported separately
  assert.equal(kind.noSignal({ ...dryRun, reward: null }, config), undefined);
});

test("a dry run takes its updates at the rates of the schedule", async () => {
  const config = await resolveConfig({
    model: "models/tiny-refusion",
    runtime: { provider: "cpu", threads: 1 },
    environment: { kind: "paper", sizes: { train: 4, val: 1, test: 1, heldout: 1 } },
    plan: "free",
    sampler: { kind: "unmask", rounds: 2, prompt_length: 56, response_length: 56 },
    objective: { kind: "flow-grpo" },
    training: { steps: 8, prompts_per_step: 1, group_size: 2, rollout_batch: 2, learning_rate: 0.01, warmup_steps: 4 },
    evaluation: { splits: [] },
  });
  const asked = { command: "flow-grpo", configPath: "none", runDir: undefined, rolloutsRun: undefined, resume: false };
  const options = { ...asked, dryRun: true, quiet: true, json: true, signal: new AbortController().signal };
  const step = mock.method(Engine.prototype, "step");
  await train(config, options).finally(() => mock.restoreAll());
  const actual = step.mock.calls.map(({ arguments: [t, rate] }) => [t, rate]);
  assert.deepEqual(actual, [
    [1, 0.0025],
    [2, 0.005],
  ]);
});
