import assert from "node:assert/strict";
import { test } from "node:test";
import { planParts } from "../../../src/env/forms/plan-parts.js";

const fields = {
  Age: "39",
  "Full Name": "Ann",
  "Email Address": "a@b.c",
  "Secondary Email Address": "",
  Days: ["Mon"],
};
const scores = { Age: 1, "Full Name": 0.5, "Email Address": 1, "Secondary Email Address": 1, Days: 1 };
/** Returns name, text and reward of each part. */
const told = (...plans: string[]): unknown[] =>
  planParts(plans, fields, scores).map((parts, t) =>
    parts.map(({ name, start, end, reward }) => [name, plans[t]?.slice(start, end), reward]),
  );

test("a line that acts on a field earns the field's score; the submit and other labels are no attempt", () => {
  assert.deepEqual(told("fill age: | 39\nfill Nickname | x\nfill Full Name | Anne\nsubmit"), [
    [
      ["Age", "fill age: | 39\n", 1],
      ["Full Name", "fill Full Name | Anne\n", 0.5],
    ],
  ]);
  assert.deepEqual(told(""), [[]]);
});

test("of several lines for one field the last counts, also in a later turn; a list has a line an item", () => {
  assert.deepEqual(told("fill Age | 3\r\nfill Age | 39"), [
    [
      ["Age", "fill Age | 3\r\n", 0],
      ["Age", "fill Age | 39", 1],
    ],
  ]);
  assert.deepEqual(told("fill Age | 3", "fill Age | 39"), [
    [["Age", "fill Age | 3", 0]],
    [["Age", "fill Age | 39", 1]],
  ]);
  assert.deepEqual(told("check Days | Mon\ncheck Days | Tue"), [
    [
      ["Days", "check Days | Mon\n", 1],
      ["Days", "check Days | Tue", 1],
    ],
  ]);
});

test("a line that is no action is an attempt at the field that it names, and overwrites nothing", () => {
  assert.deepEqual(told("fill Age | 39\nfillfill Age | 4\nfill Full Name Ann\nLanguage"), [
    [
      ["Age", "fill Age | 39\n", 1],
      ["Age", "fillfill Age | 4\n", 0],
      ["Full Name", "fill Full Name Ann\n", 0],
    ],
  ]);
  assert.deepEqual(told("Secondary Email Address"), [[["Secondary Email Address", "Secondary Email Address", 0]]]);
});
