import assert from "node:assert/strict";
import { test } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import { bootstrapMean, mean } from "../../../src/core/statistics.js";
import { crossedInterval, studentT } from "../../../src/features/sweep/crossed-interval.js";

test("crossed interval: the mean, no width without variance, and more width where runs differ", () => {
  const forms = Array.from({ length: 40 }, (_, i) => `f${i % 5}`);
  const flat = Array.from({ length: 4 }, () => forms.map(() => 0.25));
  assert.deepEqual(crossedInterval(flat, forms), { mean: 0.25, low: 0.25, high: 0.25 });
  const rng = Rng.named(2, "episodes");
  const noise = forms.map(() => rng.uniform());
  const width = (spread: number): number => {
    const runs = [-1, 0, 1].map((s) => noise.map((x) => x + spread * s));
    const { mean: centre, low, high } = crossedInterval(runs, forms);
    assert.ok(Math.abs(centre - mean(noise)) < 1e-12);
    return high - low;
  };
  assert.ok(width(1) > 2 * width(0), `${width(1)} and ${width(0)}`);
  // what makes an episode hard for both cancels
  const better = flat.map(() => noise.map((x) => x + 0.1));
  const { mean: gain, low, high } = crossedInterval(better, forms, { minus: [noise, noise] });
  for (const value of [gain, low, high]) assert.ok(Math.abs(value - 0.1) < 1e-9);
  assert.throws(() => crossedInterval([], forms), RangeError);
  assert.throws(() => crossedInterval([[1]], forms), RangeError);
});

test("a crossed interval sees forms that differ, which one over episodes alone does not", () => {
  const forms = Array.from({ length: 100 }, (_, i) => `f${i % 4}`);
  const runs = [forms.map((form) => Number(form.slice(1)) / 3)];
  const { low, high } = crossedInterval(runs, forms);
  const plain = bootstrapMean(runs[0] as number[]);
  assert.ok(high - low > 3 * (plain.high - plain.low), `${high - low} and ${plain.high - plain.low}`);
});

test("Student's t, as tables give it", () => {
  for (const [freedom, t] of [
    [1, 12.7062],
    [2, 4.30265],
    [4, 2.77645],
    [10, 2.22814],
    [30, 2.04227],
    [1e9, 1.96],
  ] as const)
    assert.ok(Math.abs(studentT(freedom) / t - 1) < 2e-3, `${freedom}: ${studentT(freedom)}`);
});

test("a crossed interval of runs alone is Student's, and is cut at what a mean can be", () => {
  const { mean: centre, low, high } = crossedInterval([[1], [2], [3]], ["f"]);
  const half = (4.30265 * 1) / Math.sqrt(3);
  assert.ok(centre === 2 && Math.abs(low - (2 - half)) < 1e-3 && Math.abs(high - (2 + half)) < 1e-3);
  assert.deepEqual(crossedInterval([[1], [2], [3]], ["f"], { range: [0, 4] }), { mean: 2, low: 0, high: 4 });
  // an estimate beyond the range still stands inside its interval
  assert.equal(crossedInterval([[-0.1], [-0.3]], ["f"], { range: [0, 1] }).low, -0.2);
  assert.deepEqual(crossedInterval([[0.5]], ["f"]), { mean: 0.5, low: 0.5, high: 0.5 });
});

/** Standard deviations of what training runs differ by: seeds, forms that suit one objective, one run on one form, episodes. */
interface Spread {
  readonly seed: number;
  readonly form: number;
  readonly both: number;
  readonly episode: number;
}

/** Runs of one objective, of expected reward 0, on the same episodes. */
function runsOf(rng: Rng, seeds: number, common: readonly number[], formOf: readonly string[], spread: Spread) {
  const forms = [...new Set(formOf)];
  const each = (sd: number): Map<string, number> => new Map(forms.map((form) => [form, sd * rng.normal()]));
  const suited = each(spread.form);
  return Array.from({ length: seeds }, () => {
    const [level, own] = [spread.seed * rng.normal(), each(spread.both)];
    return formOf.map((form, i) => {
      const shared = (common[i] as number) + (suited.get(form) as number) + (own.get(form) as number);
      return level + shared + spread.episode * rng.normal();
    });
  });
}

/** Share of 600 simulated pairs of equal objectives whose difference leaves 0 out: +- .018 at one in twenty. */
function falsePairs(seeds: number, forms: number, spread: Spread): number {
  const formOf = Array.from({ length: forms * 4 }, (_, i) => `f${i % forms}`);
  let wrong = 0;
  for (let set = 0; set < 600; set++) {
    const rng = Rng.named(set, "pairs");
    const common = formOf.map(() => 0.3 * rng.normal());
    const [a, b] = [0, 1].map(() => runsOf(rng, seeds, common, formOf, spread)) as [number[][], number[][]];
    const { low, high } = crossedInterval(a, formOf, { minus: b });
    if (low > 0 || high < 0) wrong++;
  }
  return wrong / 600;
}

for (const seeds of [2, 3, 5]) {
  for (const forms of [3, 12]) {
    test(`of equal objectives at most about one pair in twenty differs: ${seeds} seeds, ${forms} forms`, () => {
      const shares = [
        { seed: 0.1, form: 0, both: 0.02, episode: 0.05 },
        { seed: 0.05, form: 0.05, both: 0.05, episode: 0.05 },
        { seed: 0.02, form: 0.1, both: 0.02, episode: 0.05 },
        { seed: 0, form: 0, both: 0, episode: 0.3 },
      ].map((spread) => falsePairs(seeds, forms, spread));
      assert.ok(Math.max(...shares) < 0.08 && mean(shares) > 0.005, shares.join(" "));
      // where seeds are all that differs, it is exact and not only safe
      if (seeds > 2) assert.ok((shares[0] as number) > 0.02, shares.join(" "));
    });
  }
}

test("the interval of runs alone holds the truth as often as it says, where a bootstrap of five holds .83", () => {
  for (const seeds of [3, 5]) {
    let [hits, before] = [0, 0];
    for (let set = 0; set < 1000; set++) {
      const rng = Rng.named(set, "runs");
      const values = Array.from({ length: seeds }, () => 1 + rng.normal());
      const holds = ({ low, high }: { low: number; high: number }): number => Number(low <= 1 && high >= 1);
      const runs = values.map((value) => [value]);
      hits += holds(crossedInterval(runs, [""]));
      before += holds(bootstrapMean(values, { seed: set, resamples: 200 }));
    }
    assert.ok(hits > 930 && hits < 970, `${seeds} runs: ${hits}`);
    assert.ok(before < 880, `${seeds} runs, bootstrap: ${before}`);
  }
});
