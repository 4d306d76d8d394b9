import assert from "node:assert/strict";
import { test } from "node:test";
import type { StepMetrics } from "../../src/runs/metrics.js";
import { ALARMS, Alarms } from "../../src/watch/alarms.js";
import { stepMetrics } from "../support/step-metrics.js";

/** Metrics with one key changed, wherever it belongs. */
function withValue(step: number, key: string, value: number | null): StepMetrics {
  const metrics = stepMetrics(step);
  return key in metrics ? { ...metrics, [key]: value } : { ...metrics, extra: { [key]: value } };
}

for (const { key, limit, window } of ALARMS) {
  test(`${key}: silent at its limit, raised once above it`, () => {
    const alarms = new Alarms();
    let step = 0;
    for (let i = 0; i < 2 * window; i++) assert.deepEqual(alarms.check(withValue(++step, key, limit)), []);
    const raised: string[] = [];
    for (let i = 0; i < 2 * window; i++) raised.push(...alarms.check(withValue(++step, key, limit + 0.125)));
    assert.equal(raised.length, 1);
    assert.match(raised[0] ?? "", new RegExp(`^${key} = [\\d.]+ in .*step.* \\(limit ${limit}\\) \\w`));
  });
}

test("a mean over several steps needs all of them, and names its value", () => {
  const alarms = new Alarms();
  const values = [1, 1, 1, 1, 1, 1, 1, 1, 1];
  assert.ok(values.every((value, i) => alarms.check(withValue(i + 1, "frac_reward_zero_std", value)).length === 0));
  assert.deepEqual(alarms.check(withValue(10, "frac_reward_zero_std", null)), []);
  const [warning] = alarms.check(withValue(11, "frac_reward_zero_std", 0.5));
  assert.match(warning ?? "", /^frac_reward_zero_std = 0\.95 in the last 10 steps to 11 \(limit 0\.8\) of the groups/);
});

test("a single fault is said at once, with its step", () => {
  for (const [key, value] of [
    ["mask_noise_fraction", 0.51],
    ["nonfinite_steps", 1],
    ["on_policy_ratio_error", 0.011],
    ["kl_clamped_fraction", 0.011],
    ["after_eos_fraction", 0.001],
  ] as const)
    assert.match(new Alarms().check(withValue(7, key, value))[0] ?? "", new RegExp(`^${key} = ${value} in step 7 `));
});

test("of a mean over the run the last value is compared, once there are enough", () => {
  const alarms = new Alarms();
  for (let step = 1; step < 20; step++)
    assert.deepEqual(alarms.check(withValue(step, "gradient_noise_fraction", 0.99)), []);
  assert.deepEqual(alarms.check(withValue(20, "gradient_noise_fraction", 0.9)), []);
  const [warning] = alarms.check(withValue(21, "gradient_noise_fraction", 0.98));
  assert.match(warning ?? "", /^gradient_noise_fraction = 0\.98 in the run to step 21 \(limit 0\.97\)/);
});

test("steps without a value raise nothing", () => {
  const alarms = new Alarms();
  for (const { key } of ALARMS) assert.deepEqual(alarms.check(withValue(1, key, null)), []);
  assert.deepEqual(alarms.check(stepMetrics(2)), []);
});
