import assert from "node:assert/strict";
import { test } from "node:test";
import { Rng } from "../../src/core/rng.js";
import { bootstrapMean, bootstrapPairedDifference, mean, passAtK, quantile, std } from "../../src/core/statistics.js";

test("mean, population std and linear quantiles", () => {
  assert.equal(mean([1, 2, 3, 6]), 3);
  assert.equal(std([1, 2, 3, 6]), Math.sqrt((4 + 1 + 0 + 9) / 4));
  assert.equal(std([5]), 0);
  assert.ok(Number.isNaN(mean([])));
  assert.equal(quantile([0, 10, 20], 0.25), 5);
  assert.equal(quantile([0, 10, 20], 0), 0);
  assert.equal(quantile([0, 10, 20], 1), 20);
  assert.equal(quantile([7], 0.975), 7);
});

test("the same seed gives the same interval, another one another", () => {
  const values = Array.from({ length: 40 }, (_, i) => (i * 7) % 13);
  assert.deepEqual(bootstrapMean(values, { seed: 3 }), bootstrapMean(values, { seed: 3 }));
  assert.notDeepEqual(bootstrapMean(values, { seed: 3 }), bootstrapMean(values, { seed: 4 }));
});

test("edge cases: equal values, one value, none, not finite", () => {
  assert.deepEqual(bootstrapMean([2, 2, 2]), { mean: 2, low: 2, high: 2 });
  assert.deepEqual(bootstrapMean([0.5]), { mean: 0.5, low: 0.5, high: 0.5 });
  assert.throws(() => bootstrapMean([]), RangeError);
  assert.throws(() => bootstrapMean([1, Number.NaN]), RangeError);
  assert.throws(() => bootstrapPairedDifference([1], [1, 2]), RangeError);
});

test("it agrees with the normal interval where that holds", () => {
  const rng = Rng.named(1, "normal");
  const values = Array.from({ length: 400 }, () => 3 + 2 * rng.normal());
  const { low, high } = bootstrapMean(values, { resamples: 4000 });
  const half = (1.96 * std(values)) / Math.sqrt(values.length);
  assert.ok(Math.abs(low - (mean(values) - half)) < 0.03);
  assert.ok(Math.abs(high - (mean(values) + half)) < 0.03);
});

/** Share of simulated data sets whose interval holds the true mean; 300 of them give a standard error of 1.3 points. */
function coverage(draw: (rng: Rng) => readonly [before: number, after: number], truth: number): number {
  let hits = 0;
  for (let set = 0; set < 300; set++) {
    const rng = Rng.named(set, "coverage");
    const pairs = Array.from({ length: 60 }, () => draw(rng));
    const [before, after] = [pairs.map(([a]) => a), pairs.map(([, b]) => b)];
    const { low, high } = bootstrapPairedDifference(before, after, { seed: set, resamples: 400 });
    if (low <= truth && truth <= high) hits++;
  }
  return hits / 300;
}

test("95 % intervals hold the truth about 95 % of the time", () => {
  const normal = coverage((rng) => [0, 0.3 + rng.normal()], 0.3);
  assert.ok(normal > 0.91 && normal < 0.98, `normal: ${normal}`);
  const bernoulli = coverage((rng) => [0, Number(rng.uniform() < 0.3)], 0.3);
  assert.ok(bernoulli > 0.9 && bernoulli < 0.98, `Bernoulli: ${bernoulli}`);
  const paired = coverage((rng) => {
    const task = rng.uniform();
    return [Number(rng.uniform() < task), Number(rng.uniform() < Math.min(1, task + 0.2))];
  }, 0.18);
  assert.ok(paired > 0.9 && paired < 0.98, `paired: ${paired}`);
});

test("pairing takes out what makes a task hard for both", () => {
  const rng = Rng.named(2, "pairs");
  const before = Array.from({ length: 100 }, () => rng.uniform());
  const after = before.map((value) => value + 0.05 + 0.01 * rng.normal());
  const paired = bootstrapPairedDifference(before, after);
  assert.ok(paired.low > 0.045 && paired.high < 0.055);
  const [a, b] = [bootstrapMean(before), bootstrapMean(after)];
  assert.ok(a.high > b.low, "unpaired intervals overlap");
});

test("pass@k is the share of k attempts drawn from n of which one at least succeeds", () => {
  const [n, c] = [7, 2];
  for (let k = 1; k <= n; k++) {
    let drawn = 0;
    let passed = 0;
    for (let subset = 0; subset < 2 ** n; subset++) {
      const chosen = Array.from({ length: n }, (_, i) => i).filter((i) => (subset >> i) & 1);
      if (chosen.length !== k) continue;
      drawn++;
      if (chosen.some((i) => i < c)) passed++;
    }
    assert.ok(Math.abs(passAtK(n, c, k) - passed / drawn) < 1e-12, `k = ${k}`);
  }
  assert.deepEqual([passAtK(5, 0, 5), passAtK(5, 5, 1)], [0, 1]);
  assert.ok(Math.abs(passAtK(200, 3, 1) - 0.015) < 1e-12);
});
