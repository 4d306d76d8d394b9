import assert from "node:assert/strict";
import { test } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import { bootstrapMean, mean } from "../../../src/core/statistics.js";
import { crossedInterval, studentT } from "../../../src/features/sweep/crossed-interval.js";
import { bestOf, formatRows, rowsOf } from "../../../src/features/sweep/table.js";
import { type Evaluation, summarize } from "../../../src/runs/evaluation.js";

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
type Spread = Readonly<Record<"seed" | "form" | "both" | "episode", number>>;

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

/** 40 episodes of 8 forms around a mean reward. */
function evaluation(mean: number, name: string, split_hash = "h"): Evaluation {
  const rng = Rng.named(1, name);
  const rows = Array.from({ length: 40 }, (_, i) => ({
    task_id: `t${i % 30}`,
    form: `f${i % 8}`,
    reward: mean + 0.05 * (rng.uniform() - 0.5),
    success: i % 2 === 0,
    metrics: {},
  }));
  return summarize(rows, { split: "test", policy: "model", seed: 1, split_hash, temperature: 1 });
}

const run = (setting: string, seed: number, mean: number, hash?: string) => ({
  ...{ setting, seed, minutes: 2 },
  before: evaluation(0.5, "start", hash),
  after: evaluation(mean + 0.01 * seed, `${setting} ${seed}`, hash),
});

test("rows by setting: gains over the start, differences to the first where tasks are equal, what limits them", () => {
  const settings = [0, 1, 2].flatMap((seed) => [run("a", seed, 0.6), run("b", seed, 0.8), run("c", seed, 0.605)]);
  const rows = rowsOf("test", [...settings, run("other tasks", 0, 0.9, "other")]);
  const told = rows.map(({ setting, seeds, gain, against_first: first }) => {
    const against = first && `${first.mean.toFixed(1)}${first.low > 0 ? " certainly" : ""}`;
    return `${setting}, ${seeds.length}: ${(gain as { mean: number }).mean.toFixed(1)}, ${against}`;
  });
  const expected = ["a, 3: 0.1, null", "b, 3: 0.3, 0.2 certainly", "c, 3: 0.1, 0.0", "other tasks, 1: 0.4, null"];
  assert.deepEqual(told, expected);
  const text = formatRows(rows);
  assert.match(text, /^b +test +3 +0\.8\d\d \[.*\+0\.\d+ \[.*\] \*/m);
  assert.match(text, /Of one seed.*: other tasks\.\ntest: other tasks was evaluated on other tasks than the first\./);
  assert.match(text, /\n\ntest: b is best, reward 0\.8\d\d, 0\.\d+ more than a; certain\.$/);
  const worse = [0, 1].flatMap((seed) => [run("a", seed, 0.6), run("d", seed, 0.4)]);
  assert.match(bestOf(rowsOf("test", worse)), /^test: a is best, reward 0\.6\d\d, 0\.\d+ more than d; certain\.$/);
  assert.match(bestOf(rowsOf("test", [run("a", 0, 0.6)])), /0\.\d+ more than before training; not certain with one/);
  // an episode that one run did not score is left out of all
  const [first, second] = [run("a", 0, 0.6), run("b", 0, 0.8)];
  const kept = ({ per_task }: Evaluation) => per_task.filter(({ task_id }) => task_id !== "t15");
  const less = { ...second, after: { ...second.after, per_task: kept(second.after) } };
  const others = kept(first.after);
  const left = others.reduce((sum, { reward }) => sum + reward, 0) / 39;
  assert.ok(Math.abs((rowsOf("test", [first, less])[0]?.reward.mean ?? 0) - left) < 1e-12);
});
