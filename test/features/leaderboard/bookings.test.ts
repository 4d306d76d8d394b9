import assert from "node:assert/strict";
import { test } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import type { FixedPolicy } from "../../../src/env/environment.js";
import {
  answerOf,
  bookings,
  environment,
  RIGHT_ANSWERS,
} from "../../../src/features/leaderboard/environments/bookings.js";

const opened = bookings({ seed: 1, train: 32 });
const plan = (day: string, season: string): string =>
  `fill Guest Name | Ada Ek\nselect Day | ${day}\nselect Season | ${season}\nsubmit`;

test("24 plans are right, and no other", () => {
  assert.equal(RIGHT_ANSWERS.length, 24);
  const right = RIGHT_ANSWERS.map((answer) => plan(...(answer.split(", ") as [string, string])));
  assert.deepEqual(
    right.map((text) => answerOf("Ada Ek", text)),
    RIGHT_ANSWERS,
  );
  for (const wrong of [
    plan("any", "Spring"),
    plan("Monday", "Monday"),
    plan("Monday", "Spring").replace("\nsubmit", ""),
    `${plan("Monday", "Spring")}\nsubmit`,
    plan("Monday", "Spring").replace("submit", "select Day | Friday\nsubmit"),
    `hello\n${plan("Monday", "Spring")}`,
    "",
  ])
    assert.equal(answerOf("Ada Ek", wrong), undefined, wrong);
  assert.equal(answerOf("Bo Ek", right[0] as string), undefined);
});

test("the oracle is always right and gives every answer; guests of one split are not those of another", async () => {
  const [task] = opened.tasks;
  assert.ok(task !== undefined);
  const oracle = opened.fixedPolicies.oracle as FixedPolicy;
  const answers = new Set<unknown>();
  for (let i = 0; i < 300; i++) {
    const { reward, success, detail } = await opened.play(task, await oracle(task, Rng.named(i, "oracle")), new Map());
    assert.deepEqual([reward, success], [1, true]);
    answers.add(detail.answer);
  }
  assert.equal(answers.size, 24);
  const guests = (split: string): Set<string> =>
    new Set(opened.tasks.filter((one) => one.split === split).map((one) => one.guest));
  for (const guest of guests("train")) assert.ok(!guests("val").has(guest) && !guests("test").has(guest), guest);
});

test("demonstrations are right, and the prompt names the guest and nothing of the answer", async () => {
  const demonstrations = opened.demonstrations?.(opened.tasks.filter(({ split }) => split === "train")) ?? [];
  assert.equal(demonstrations.length, 32);
  const texts = new Set(demonstrations.map(({ action }) => action.text?.split("\n").slice(1).join("\n")));
  assert.ok(texts.size > 12, `${texts.size} different answers`);
  for (const [i, { observation, action }] of demonstrations.entries()) {
    const { guest, form } = opened.tasks[i] as (typeof opened.tasks)[number];
    assert.equal(observation.text, `form: ${form}\n Guest Name | ${guest}\n Day | any\n Season | any\n\n`);
    assert.notEqual(answerOf(guest, action.text ?? ""), undefined);
  }
  const small = await environment.open({ environment: { kind: "bookings", train: 8 } });
  assert.equal(small.tasks.length, 8 + 3 * 2);
});
