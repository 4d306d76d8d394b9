import assert from "node:assert/strict";
import { test } from "node:test";
import { diversityOf, uniformDistinct } from "../../../src/features/leaderboard/answers.js";
import type { TaskScore } from "../../../src/runs/evaluation.js";

const score = (task_id: string, is: string | null): TaskScore => ({
  task_id,
  form: "Boat Trip",
  reward: Number(is !== null),
  success: is !== null,
  metrics: {},
  answer: { is, of: 4 },
});
const near = (actual: number | undefined, expected: number): void =>
  assert.ok(Math.abs((actual ?? Number.NaN) - expected) < 1e-12, `${actual} is not ${expected}`);

test("what four samples say of four right answers", () => {
  const { a } = Object.fromEntries(diversityOf(["x", "x", "y", null].map((is) => score("a", is))));
  assert.equal(a?.distinct, 2);
  assert.equal(a?.coverage, 0.5);
  // entropy of 2/3, 1/3 and the correction (2 - 1) / (2 * 3)
  near(a?.kl, Math.log(4) - (Math.log(3) - (2 / 3) * Math.log(2)) - 1 / 6);
  // x is taken: one of four samples is another right answer
  near(a?.tries1, 1 / 4);
  near(a?.tries4, 1);
});

test("one answer again and again, none at all, and tasks apart", () => {
  const { always, never } = Object.fromEntries(
    diversityOf([score("always", "x"), score("never", null), score("always", "x"), score("never", null)]),
  );
  assert.deepEqual([always?.distinct, always?.tries1, always?.tries4], [1, 0, 0]);
  near(always?.kl, Math.log(4));
  assert.deepEqual([never?.distinct, never?.coverage, never?.tries4], [0, 0, 0]);
  near(never?.kl, Math.log(4));
});

test("an evaluation without answers has none; all answers alike show as many as are expected", () => {
  assert.equal(diversityOf([{ ...score("a", "x"), answer: undefined }]).size, 0);
  near(uniformDistinct(4, 1), 1);
  near(uniformDistinct(2, 2), 1.5);
});
