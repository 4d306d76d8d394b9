import assert from "node:assert/strict";
import { test } from "node:test";
import { LearnedField } from "../../../../src/features/learned-pages/learn/candidates.js";
import type { Way } from "../../../../src/features/learned-pages/way.js";

const FILL: Way = { serves: ["text"], cost: 0, isTyping: true, operate: async () => undefined };
const fieldOfName = (): LearnedField => new LearnedField("Name", "text", new Map([["fill", FILL]]), ["Ann"], 60_000);
/** Counts the failed attempts until no candidate is left. */
function failAll(field: LearnedField): number {
  let tries = 1;
  while (field.advance("failed")) tries++;
  return tries;
}

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

test("a value that was shown on a busy machine, but did not arrive, is entered once more", () => {
  const field = fieldOfName();
  (field.current as { fate?: string }).fate = "shown";
  assert.equal(field.isWorthRound(), false);
  field.isHurried = true;
  assert.deepEqual([field.isWorthRound(), field.isWorthRound()], [true, false]);
});

const DAYS = ["YYYY-MM-DD", "MM/DD/YYYY", "DD.MM.YYYY"].map((day) => ({ day, key: "Tab" as const }));

test("a day is written first as the field's example is, unless that can be read in two ways", () => {
  const typed: Way = { ...FILL, serves: ["date"], variants: DAYS };
  const firstFor = (hint: string): string | undefined => {
    const field = new LearnedField("Day", "date", new Map([["typed", typed]]), ["2026-03-05"], 60_000);
    const facts = { corners: "", holds: [], isPicker: false, isFree: true, isWritten: false, hint };
    field.weigh({ locator: "label=Day", nth: 0 }, facts, () => "maybe");
    return field.current?.operation.variant.day;
  };
  assert.equal(firstFor("e.g. 24.12.2026 - 31.12.2026"), "DD.MM.YYYY");
  assert.equal(firstFor("12/24/2026"), "MM/DD/YYYY");
  assert.equal(firstFor("e.g. 04.05.2026"), "YYYY-MM-DD");
});

test("a day is typed first as a calendar has written today or the wanted day", () => {
  const typed: Way = { ...FILL, serves: ["date"], variants: DAYS };
  const field = new LearnedField("Day", "date", new Map([["typed", typed]]), ["2026-03-05"], 60_000);
  field.preferWritten("05.03.2026", "2026-03-05");
  assert.equal(field.current?.operation.variant.day, "DD.MM.YYYY");
});

test("a way that has worked for other fields comes forward once, and not before a picker's own ways", () => {
  const pick: Way = { serves: ["text"], cost: 3, operate: async () => undefined };
  const field = new LearnedField(
    "Size",
    "text",
    new Map([
      ["fill", FILL],
      ["pick", pick],
    ]),
    ["Large"],
    60_000,
  );
  for (let i = 0; i < 4; i++) field.prefer({ locator: "label=Name", nth: 0, way: "fill", variant: {} });
  const facts = { corners: "", holds: [], isPicker: true, isFree: true, isWritten: false, hint: "" };
  field.weigh({ locator: "label=Size", nth: 0 }, facts, () => "maybe");
  for (const nth of [0, 1, 2]) field.weigh({ locator: 'field="Size"', nth }, undefined, () => "maybe");
  assert.equal(field.current?.operation.way, "pick");
});

test("a choice that no field of a label can show is left for the server to judge, one that a field should show is not", () => {
  const tick: Way = { serves: ["list"], cost: 0, operate: async () => undefined };
  const field = new LearnedField("Causes", "list", new Map([["boxes", tick]]), [["Trees"]], 60_000);
  assert.deepEqual([field.mayBeRight("changed"), field.mayBeRight("same")], [true, false]);
  field.goWithoutLabel();
  assert.equal(field.current?.operation.locator, "css=body");
  assert.deepEqual([field.mayBeRight("same"), field.mayBeRight("failed")], [true, false]);
});

test("a known operation is tried first, recorded steps then key by key; where they fail, the field is searched", () => {
  const known = { locator: "css=#n", nth: 0, way: "fill", variant: {}, hand: false };
  const ways = new Map([["fill", FILL]]);
  const found = new LearnedField("Name", "text", ways, ["Ann"], 60_000, known);
  assert.equal(found.current?.operation.locator, "css=#n");
  const recorded = { ...known, way: "recorded", actions: ["getByLabel('N').fill('{value}')"] };
  const field = new LearnedField("Name", "text", ways, ["Ann"], 60_000, recorded, true);
  const steps = field.current?.operation.actions;
  field.advance("wrong");
  assert.deepEqual([steps?.length, field.current?.operation.actions?.length, field.surveyed], [1, 3, true]);
  field.advance("wrong");
  assert.deepEqual([field.current?.operation.locator, field.surveyed], ["label=Name", false]);
});
