import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadConfig, type RunConfig } from "../../src/config/config.js";
import { readMetrics, type StepMetrics } from "../../src/runs/metrics.js";
import { readRollouts } from "../../src/runs/rollout-record.js";
import { train } from "../../src/train/recipe.js";
import type { TrainOptions, TrainResult } from "../../src/train/types.js";
import { sectionOf } from "../support/section.js";
import { stopAfter } from "../support/stop-after.js";
import { temporaryFolder } from "../support/temporary.js";
import { trainOptions } from "../support/train-options.js";

const STEPS = 2;

/** Makes a config with the shipped model, real forms, a real browser and as few rollouts per step as possible. */
function smallConfig(...overrides: string[]): Promise<RunConfig> {
  return loadConfig("configs/tiny/quickstart.yaml", {
    command: "flow-grpo",
    overrides: [
      "objective.kind=flow-grpo",
      `training.steps=${STEPS}`,
      "training.prompts_per_step=2",
      "training.group_size=3",
      "training.rollout_batch=8",
      "training.micro_batch=4",
      "training.num_iterations=2",
      "evaluation.splits=[heldout]",
      "evaluation.episodes=6",
      "evaluation.batch=8",
      "evaluation.every=2",
      "checkpoint.every=1",
      "runtime.threads=1",
      "runtime.provider=cpu",
      // a long time limit, so that a busy machine does not cause faults
      "browser.action_timeout_s=60",
      "browser.rollout_timeout_s=300",
      ...overrides,
    ],
  });
}

describe("the reinforcement recipe", () => {
  const root = temporaryFolder("recipe");

  const options = (name: string, changes?: Partial<TrainOptions>): TrainOptions =>
    trainOptions("flow-grpo", "configs/tiny/quickstart.yaml", join(root, name), changes);
  /** Removes the times from metrics; the rest must not depend on interruptions. */
  const timeless = (rows: readonly StepMetrics[]): unknown[] =>
    rows.map(({ time: _, rollout_tokens_per_s: __, ...rest }) => rest);
  const adapter = (name: string, step = STEPS): Buffer =>
    readFileSync(join(root, name, "checkpoints", `step-00000${step}`, "adapter_model.safetensors"));

  it("leaves a complete run, and goes on exactly where it was interrupted", async () => {
    const config = await smallConfig();
    const whole: TrainResult = await train(config, options("whole"));
    assert.deepEqual([whole.steps, whole.interrupted], [STEPS, false]);
    assert.deepEqual([whole.before.length, whole.after.length], [1, 1]);
    const files = ["config.yaml", "env.json", "metrics.jsonl", "log.jsonl", "report.html"];
    for (const file of [...files, "eval/heldout.json", "eval/before/heldout.json"])
      assert.ok(existsSync(join(root, "whole", file)), file);
    const rows = readMetrics(join(root, "whole", "metrics.jsonl"));
    assert.equal(rows.length, STEPS);
    for (const [key, value] of rows.flatMap((row) => Object.entries(row)))
      if (key !== "time" && key !== "extra") assert.ok(Number.isFinite(value), `${key} = ${value}`);
    const records = readRollouts(join(root, "whole", "rollouts", "step-000001.jsonl"));
    assert.equal(records.length, 6);
    assert.ok(records.every((r) => r.fault === null && r.reward !== null));

    // the same run, stopped after its first step; the recipe reads the signal once before each step
    const stopped = await train(config, options("stopped", { signal: stopAfter(1) }));
    assert.deepEqual([stopped.steps, stopped.interrupted], [1, true]);
    // a resume recreates a missing result of the start
    rmSync(join(root, "stopped", "eval", "before", "heldout.json"));
    const resumed = await train(config, options("stopped", { resume: true }));
    assert.equal(resumed.steps, STEPS);
    assert.deepEqual(resumed.before[0]?.per_task, whole.before[0]?.per_task);
    assert.deepEqual(timeless(readMetrics(join(root, "stopped", "metrics.jsonl"))), timeless(rows));
    assert.ok(adapter("stopped").equals(adapter("whole")));
    assert.deepEqual(resumed.after[0]?.per_task, whole.after[0]?.per_task);
  });

  it("stops early where the validation reward no longer rises", async () => {
    const base = await smallConfig();
    const config = {
      ...base,
      // with this seed the second evaluation is no higher than the first
      training: { ...base.training, steps: 3, num_iterations: 1, early_stop: { patience: 1 } },
      evaluation: { ...base.evaluation, splits: [], every: 1, episodes: 2 },
    };
    const whole = await train(config, options("early"));
    assert.deepEqual([whole.steps, whole.interrupted], [2, false]);
    assert.match(whole.stopped ?? "", /^the validation reward has not risen above [01]\.\d{3} for 1 evaluation$/);
    const best = whole.best;
    assert.ok(best !== null && (best.step === 1 || best.step === 2), JSON.stringify(best));
  });

  it("refuses evaluations that cannot be made before it begins", async () => {
    for (const [override, message] of [
      ["site.sizes.val=0", /has no tasks in the split val; .*heldout/],
      ["evaluation.sampler={kind: jump}", /jump needs a bidirectional model/],
    ] as const) {
      const config = await smallConfig(override);
      await assert.rejects(train(config, options("impossible")), message);
    }
    const flow = ["model=models/tiny-fsdfm", "sampler={kind: jump, steps: 2}", "lora.targets=[qw]"];
    const greedy = await smallConfig(...flow, "evaluation.temperature=0");
    await assert.rejects(train(greedy, options("impossible")), /evaluation\.temperature=0: the sampler jump/);
    assert.ok(!existsSync(join(root, "impossible")));
  });

  it("refuses to overwrite a run, and to resume one that something has changed under", async () => {
    const config = await smallConfig();
    await assert.rejects(train(config, options("whole")), /exists already/);
    const other = { ...config, site: { ...(sectionOf(config, "site") as object), seed: 2 } };
    await assert.rejects(train(other, options("whole", { resume: true })), /split/);
  });
});
