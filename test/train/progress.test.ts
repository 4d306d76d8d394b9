import assert from "node:assert/strict";
import { test } from "node:test";
import type { StepMetrics } from "../../src/train/metrics.js";
import { formatDuration, formatStep, Progress, type ProgressStream } from "../../src/train/progress.js";

const metrics: StepMetrics = {
  step: 3,
  reward: 0.4123,
  reward_std: 0.11,
  success_rate: 0.125,
  field_accuracy: 0.6,
  frac_reward_zero_std: 0,
  faults: 2,
  loss: -0.0123,
  kl: 0.00123,
  ratio_mean: 1,
  ratio_max: 1,
  clip_fraction: 0,
  grad_norm: 0.77,
  lr: 1e-4,
  tokens: 100,
  rollout_tokens_per_s: 10,
  time: { rollout: 1, score: 1, update: 2, total: 4.06 },
};

function stream(isTTY: boolean, columns = 200): ProgressStream & { text: string } {
  return {
    isTTY,
    columns,
    text: "",
    write(text: string) {
      this.text += text;
    },
  };
}

test("off a terminal: one plain line a step, no phases", () => {
  const out = stream(false);
  const progress = new Progress({ total: 20, stream: out, env: {} });
  progress.phase("rollouts 1/16");
  progress.step(metrics);
  progress.note("done");
  assert.equal(
    out.text,
    "step  3/20  reward 0.412 ±0.11  success 13 %  loss -0.0123  kl 0.0012  grad 0.77  faults 2  4.1 s  eta 1:09\ndone\n",
  );
});

test("on a terminal: one line that is rewritten and cut to the width", () => {
  const out = stream(true, 40);
  const progress = new Progress({ total: 20, stream: out, env: { NO_COLOR: "1" } });
  progress.phase("rollouts 1/16");
  progress.step(metrics);
  progress.end();
  progress.end();
  const lines = out.text.split("\r\u001b[2K");
  assert.equal(lines[1], "rollouts 1/16");
  assert.equal(lines[2]?.length, 40);
  assert.ok(lines[2]?.endsWith("…\n"));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape codes are what is looked for
  assert.ok(!/\u001b\[\d*m/.test(out.text));
});

test("colour on a terminal only, and not where it is not wanted", () => {
  const show = (isTTY: boolean, env: Record<string, string>): boolean => {
    const out = stream(isTTY);
    new Progress({ total: 20, stream: out, env }).step(metrics);
    return out.text.includes("\u001b[1m");
  };
  assert.equal(show(true, {}), true);
  assert.equal(show(true, { NO_COLOR: "1" }), false);
  assert.equal(show(true, { TERM: "dumb" }), false);
  assert.equal(show(false, {}), false);
});

test("quiet writes nothing", () => {
  const out = stream(true);
  const progress = new Progress({ total: 20, quiet: true, stream: out, env: {} });
  progress.phase("x");
  progress.step(metrics);
  progress.note("y");
  progress.end();
  assert.equal(out.text, "");
});

test("what a step does not have is left out", () => {
  const sft = { ...metrics, reward: null, success_rate: null, kl: null, faults: 0 };
  assert.equal(formatStep(sft, 5), "step 3/5  loss -0.0123  grad 0.77  4.1 s");
});

test("durations", () => {
  assert.deepEqual([0.04, 59.94, 60, 3599.6, 7384].map(formatDuration), [
    "0.0 s",
    "59.9 s",
    "1:00",
    "1:00:00",
    "2:03:04",
  ]);
});
