import assert from "node:assert/strict";
import { test } from "node:test";
import { LearnedField } from "../../../../src/env/pages/learn/candidates.js";
import type { Way } from "../../../../src/env/pages/way.js";

const FILL: Way = { serves: ["text"], oddness: 0, operate: async () => undefined };
const fieldOfName = (): LearnedField => new LearnedField("Name", "text", new Map([["fill", FILL]]), ["Ann"], 60_000);
/** Counts the failed attempts until no candidate is left. */
function failAll(field: LearnedField): number {
  let tries = 1;
  while (field.advance("failed")) tries++;
  return tries;
}

test("what failed on a quiet machine is not tried again", () => {
  const field = fieldOfName();
  assert.equal(failAll(field), 4);
  assert.equal(field.isLost, true);
  assert.equal(field.isPatient, false);
});

test("what failed on a busy machine is looked for and tried once more, and no oftener; what the server got wrong is not", () => {
  const field = fieldOfName();
  field.surveyed = true;
  field.isHurried = true;
  assert.equal(field.advance("wrong"), true);
  assert.equal(failAll(field), 3);
  assert.deepEqual([field.isLost, field.isPatient, field.surveyed], [false, true, false]);
  assert.equal(failAll(field), 3);
  assert.equal(field.isLost, true);
});
