import assert from "node:assert/strict";
import { test } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import { bestOf, formatRows, rowsOf } from "../../../src/features/sweep/table.js";
import { type Evaluation, summarize } from "../../../src/runs/evaluation.js";

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
