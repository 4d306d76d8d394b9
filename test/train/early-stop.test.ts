import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { EarlyStop } from "../../src/train/early-stop.js";

/** Counts the evaluations that a run makes before it stops early, or undefined where it never does. */
function evaluations(rewards: readonly number[], patience: number): number | undefined {
  const stop = new EarlyStop({ patience });
  for (const [i, reward] of rewards.entries()) {
    stop.observe(reward);
    if (stop.reason !== undefined) return i + 1;
  }
  return undefined;
}

test("it ends after `patience` evaluations in a row without a rise", () => {
  assert.equal(evaluations([0.5, 0.6, 0.6, 0.59, 0.7], 2), 4);
  assert.equal(evaluations([0.5, 0.6, 0.6, 0.61, 0.61, 0.61], 2), 6);
  assert.equal(evaluations([0.5, 0.4], 1), 2);
  assert.equal(evaluations([0.5, 0.4, 0.3, 0.2], 0), undefined);
  // the first evaluation is the baseline, however low
  assert.equal(evaluations([0, 0, 0], 2), 3);
});

test("the reason names the mark and the number of evaluations", () => {
  const stop = new EarlyStop({ patience: 2 });
  for (const reward of [0.5, 0.5, 0.4]) stop.observe(reward);
  assert.equal(stop.reason, "the validation reward has not risen above 0.500 for 2 evaluations");
  const plain = new EarlyStop({ patience: 1 });
  for (const reward of [0.5, 0.5]) plain.observe(reward);
  assert.equal(plain.reason, "the validation reward has not risen above 0.500 for 1 evaluation");
});

test("taken up from its state at any point it ends at the same evaluation", () => {
  const rewards = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });
  fc.assert(
    fc.property(rewards, fc.integer({ min: 1, max: 4 }), fc.nat(12), (all, patience, cut) => {
      const options = { patience };
      const whole = new EarlyStop(options);
      for (const reward of all) whole.observe(reward);
      const first = new EarlyStop(options);
      for (const reward of all.slice(0, cut)) first.observe(reward);
      const second = new EarlyStop(options, JSON.parse(JSON.stringify(first.state)));
      for (const reward of all.slice(cut)) second.observe(reward);
      assert.deepEqual([second.state, second.reason], [whole.state, whole.reason]);
    }),
  );
});
