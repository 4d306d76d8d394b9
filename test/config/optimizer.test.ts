import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "../../src/config/config.js";
import { optimizerOptions, scheduleOptions } from "../../src/config/optimizer.js";
import { learningRate } from "../../src/optim/schedule.js";

test("the training section's keys reach the optimizer and the schedule under their own names", async () => {
  const overrides = {
    adam_beta1: 0.8,
    adam_beta2: 0.95,
    adam_epsilon: 1e-5,
    weight_decay: 0.03,
    grad_clip: 0.7,
    learning_rate: 0.25,
    warmup_steps: 5,
    schedule: "linear",
    steps: 40,
    decay_from: 0.5,
    min_lr_ratio: 0.125,
  };
  const config = await loadConfig("configs/tiny/rl.yaml", {
    command: "flow-grpo",
    overrides: Object.entries(overrides).map(([key, value]) => `training.${key}=${value}`),
  });
  const expected = { kind: "adamw", beta1: 0.8, beta2: 0.95, epsilon: 1e-5, weightDecay: 0.03, gradClip: 0.7 };
  assert.deepEqual(optimizerOptions(config), { ...expected, muonLrScale: 1 });
  const schedule = scheduleOptions(config);
  // up in five steps, down from the 20th to an eighth at the 40th
  const actual = [1, 5, 20, 30, 40].map((step) => learningRate(step, schedule));
  assert.deepEqual(actual, [0.05, 0.25, 0.25, 0.25 * (0.125 + 0.875 / 2), 0.03125]);
});
