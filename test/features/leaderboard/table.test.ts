import assert from "node:assert/strict";
import { test } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import type { Leaderboard } from "../../../src/features/leaderboard/plan.js";
import { chosenRates, type PlayedRun, type RunResult } from "../../../src/features/leaderboard/play.js";
import { formatTables, tablesOf } from "../../../src/features/leaderboard/table.js";
import { type Evaluation, summarize } from "../../../src/runs/evaluation.js";

const board: Leaderboard = {
  name: "b",
  seeds: [0, 1, 2],
  tuning: { seeds: [100], learning_rates: [0.001, 0.003, 0.01], widen: 0, split: "val" },
  splits: ["test"],
  kl_rollouts: 4,
  families: { f: { config: {}, objectives: { good: null, bad: null, late: null } } },
};

/** 40 episodes of 8 forms around a mean reward. */
function evaluation(split: string, mean: number, name: string): Evaluation {
  const rng = Rng.named(1, name);
  const rows = Array.from({ length: 40 }, (_, i) => ({
    task_id: `t${i % 30}`,
    form: `f${i % 8}`,
    reward: mean + 0.05 * (rng.uniform() - 0.5),
    success: i % 2 === 0,
    metrics: {},
  }));
  return summarize(rows, { split, policy: "model", seed: 1, split_hash: "h", temperature: 1 });
}

function played(objective: string, seed: number, learningRate: number, mean: number, cpu: number | null): PlayedRun {
  const tuning = seed === 100;
  const place = `f/${objective}/${learningRate}/${seed}`;
  const split = tuning ? "val" : "test";
  const result: RunResult = {
    config: "c",
    kl: mean,
    cpu_s: cpu,
    rollouts: 8,
    updates: 2,
    evaluations: [evaluation(split, mean, place)],
  };
  return { run: { family: "f", objective, seed, learningRate, tuning, place, config: {}, splits: ["test"] }, result };
}

const grid = (objective: string, rewards: readonly number[]): PlayedRun[] =>
  board.tuning.learning_rates.map((rate, i) => played(objective, 100, rate, rewards[i] as number, 60));

test("the learning rate of the best validation reward is chosen, once the grid is complete", () => {
  const runs = [...grid("good", [0.5, 0.8, 0.6]), ...grid("bad", [0.7, 0.5, 0.4])];
  const half = grid("late", [0.1, 0.2, 0.3]).map((one, i) => (i === 1 ? { ...one, result: undefined } : one));
  assert.deepEqual(
    [...chosenRates([...runs, ...half])],
    [
      ["f/good", 0.003],
      ["f/bad", 0.001],
    ],
  );
});

test("rows by reward, gains over the start, orderings that hold, and what is missing", () => {
  const runs = [
    ...grid("good", [0.5, 0.8, 0.6]),
    ...grid("bad", [0.7, 0.5, 0.4]),
    ...[0, 1, 2].map((seed) => played("good", seed, 0.003, 0.8 + 0.01 * seed, seed === 0 ? null : 60)),
    ...[0, 1].map((seed) => played("bad", seed, 0.001, 0.5 - 0.01 * seed, 120)),
  ];
  const start = new Map([["f", [evaluation("test", 0.6, "start")]]]);
  const [table] = tablesOf(board, { start, runs, rates: chosenRates(runs) });
  assert.ok(table !== undefined);
  assert.deepEqual(
    table.rows.map(({ objective, seeds, learningRate, atGridEnd, cpuMinutes }) => [
      objective,
      seeds,
      learningRate,
      atGridEnd,
      cpuMinutes,
    ]),
    [
      ["good", [0, 1, 2], 0.003, false, 1],
      ["bad", [0, 1], 0.001, true, 2],
    ],
  );
  const [good, bad] = table.rows.map((row) => row.splits.test);
  assert.ok(Math.abs((good?.reward.mean as number) - 0.81) < 0.01, `${good?.reward.mean}`);
  assert.ok((good?.gain.low as number) > 0.15 && (good?.gain.high as number) < 0.26);
  assert.ok((bad?.gain.high as number) < 0);
  assert.equal(good?.success.mean, 0.5);
  assert.deepEqual(
    table.orderings.map(({ ahead, behind }) => [ahead, behind]),
    [["good", "bad"]],
  );
  assert.equal(table.pairs, 1);
  assert.deepEqual(table.missing, ["bad: seed 2", "late: its grid of learning rates"]);
  const text = formatTables([table]);
  assert.match(text, /\| good \| 0\.003 \| 3 \| 0 \| 0\.8\d\d \[/);
  assert.match(text, /\| bad \| 0\.001 \(end of grid\) \| 2 \|/);
  assert.match(text, /of 1 pairs .*: good > bad \+0\.3/);
  assert.match(text, /Not run: bad: seed 2; late: its grid of learning rates\./);
});

test("an objective that is no better than another is not ordered", () => {
  const runs = [
    ...grid("good", [0.5, 0.8, 0.6]),
    ...grid("bad", [0.7, 0.5, 0.4]),
    ...[0, 1, 2].map((seed) => played("good", seed, 0.003, 0.6 + 0.1 * (seed - 1), 60)),
    ...[0, 1, 2].map((seed) => played("bad", seed, 0.001, 0.59 - 0.1 * (seed - 1), 60)),
  ];
  const [table] = tablesOf(board, { start: new Map(), runs, rates: chosenRates(runs) });
  assert.deepEqual(table?.orderings, []);
});

test("runs of one seed are ordered by nothing, and the table says what their intervals leave out", () => {
  const runs = [
    ...grid("good", [0.5, 0.8, 0.6]),
    ...grid("bad", [0.7, 0.5, 0.4]),
    played("good", 0, 0.003, 0.9, 60),
    played("bad", 0, 0.001, 0.1, 60),
  ];
  const tables = tablesOf(board, { start: new Map(), runs, rates: chosenRates(runs) });
  assert.deepEqual(tables[0]?.orderings, []);
  assert.match(formatTables(tables), /Of one seed, so that intervals leave out how seeds differ: good, bad\./);
});
