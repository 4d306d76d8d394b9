import assert from "node:assert/strict";
import { test } from "node:test";
import type { Split } from "../../../src/env/environment.js";
import { oracleActions } from "../../../src/env/forms/oracle.js";
import { renderPlan } from "../../../src/env/forms/plan.js";
import { splitHash } from "../../../src/env/forms/split-hash.js";
import type { Task } from "../../../src/env/site.js";
import { FORMS, fieldKinds, formOf } from "../../../src/features/embedded/catalog.js";
import { fieldsOf } from "../../../src/features/embedded/form.js";
import { combinationsOf } from "../../../src/features/embedded/records.js";
import { embeddedTasks, type Sizes } from "../../../src/features/embedded/tasks.js";
import { isReserved } from "../../../src/features/embedded/values.js";
import { FAMILY_NAMES, GIVEN_NAMES } from "../../../src/features/embedded/words.js";
import { renderPrompt } from "../../../src/text/prompt.js";
import { userError } from "../../support/user-error.js";

const SIZES: Sizes = { train: 64, val: 16, test: 16, heldout: 32 };
const SMALL: Sizes = { train: 6, val: 3, test: 3, heldout: 4 };
const starter = embeddedTasks("starter", 1, SIZES);
const full = embeddedTasks("full", 1, SMALL);

const recordKey = (task: Task): string => JSON.stringify([task.form, task.fields]);
const ofSplit = (tasks: readonly Task[], split: Split): Task[] => tasks.filter((task) => task.split === split);
const combinations = (task: Task): string[] => combinationsOf(fieldsOf(formOf(task.form), task.tier), task.fields);

test("sizes, ids and addresses; every form has tasks, of the splits that the catalog gives it", () => {
  for (const tasks of [starter, full]) assert.equal(new Set(tasks.map((task) => task.form)).size, FORMS.length);
  assert.equal(starter.length, 20 * (64 + 16 + 16) + 5 * 32);
  assert.equal(new Set([...starter, ...full].map((task) => task.id)).size, starter.length + full.length);
  assert.equal(starter[7]?.id, "embedded/starter/library/card-request/train/0007");
  assert.equal(starter[7]?.url, "/starter/library/card-request");
  assert.equal(full[0]?.url, "/library/card-request");
  for (const task of [...starter, ...full]) {
    assert.equal(task.split === "heldout", formOf(task.form).heldout);
    assert.deepEqual(Object.keys(task.fields), Object.keys(fieldKinds(task.form, task.tier)));
  }
});

test("no record occurs twice, within or across splits, seeds and sizes", () => {
  for (const tasks of [starter, full]) assert.equal(new Set(tasks.map(recordKey)).size, tasks.length);
  const train = new Set(ofSplit(starter, "train").map(recordKey));
  for (const task of embeddedTasks("starter", 2, SIZES)) {
    if (task.split !== "train") assert.ok(!train.has(recordKey(task)), task.id);
  }
});

test("the same seed gives the same tasks, another seed others; the hash follows", () => {
  assert.deepEqual(embeddedTasks("starter", 1, SMALL), embeddedTasks("starter", 1, SMALL));
  const hash = splitHash(full);
  assert.match(hash, /^[0-9a-f]{64}$/);
  assert.equal(splitHash([...full].reverse()), hash);
  assert.notEqual(splitHash(embeddedTasks("full", 2, SMALL)), hash);
  assert.notEqual(splitHash(full.map((task) => ({ ...task, split: "train" as const }))), hash);
  // more records of one split leave the others' records, and the first ones of this split, as they are
  const wider = embeddedTasks("starter", 1, { ...SMALL, train: 9 });
  const before = embeddedTasks("starter", 1, SMALL);
  assert.ok(
    before.every((task) => wider.some((other) => other.id === task.id && recordKey(other) === recordKey(task))),
  );
});

test("the hash of the default starter records has not moved", () => {
  assert.equal(splitHash(starter), "17b8bfbedfe1cc93b88ae4aaf784deb89d3f06c750ae16a2ea40595bcf5c6dd0");
});

test("about 20 % of the value combinations are kept from training", () => {
  const names = GIVEN_NAMES.flatMap((first) => FAMILY_NAMES.map((last) => `${first} ${last}`));
  const share = names.filter(isReserved).length / names.length;
  assert.ok(share > 0.18 && share < 0.22, String(share));
  for (const task of [...ofSplit(starter, "train"), ...ofSplit(full, "train")]) {
    for (const value of combinations(task)) assert.ok(!isReserved(value), `${task.id}: ${value}`);
  }
  for (const split of ["val", "test", "heldout"] as const) {
    const values = ofSplit(starter, split).flatMap(combinations);
    const reserved = values.filter(isReserved).length / values.length;
    assert.ok(reserved > 0.14 && reserved < 0.26, `${split}: ${reserved}`);
  }
});

test("first and last name, and street and city, are combinations although they stand in two fields", () => {
  const fields = fieldsOf(formOf("library/card-request"), "full");
  const record = { "First Name": "Nora", "Last Name": "Sato", "Street Address": "4 Mill Road", City: "Oslo" };
  assert.deepEqual(combinationsOf(fields, record), ["Nora Sato", "4 Mill Road", "4 Mill Road Oslo"]);
});

test("starter tasks are short enough for a tiny model", () => {
  for (const task of starter) {
    const plan = renderPlan(oracleActions(task.fields, fieldKinds(task.form, "starter")));
    const prompt = renderPrompt(task, "compact");
    assert.ok(prompt.length <= 161, `${task.id}: ${prompt.length}`);
    assert.ok(plan.length <= 200, task.id);
  }
});

test("every value is one that its control takes", () => {
  for (const task of [...starter, ...full]) {
    for (const field of fieldsOf(formOf(task.form), task.tier)) {
      const value = task.fields[field.label];
      const where = `${task.id} ${field.label}: ${value}`;
      const texts = field.options?.map((option) => option.text) ?? [];
      if (field.kind === "checkbox") assert.equal(typeof value, "boolean", where);
      else if (field.kind === "checkbox-group") {
        assert.ok(Array.isArray(value) && value.length > 0 && value.every((item) => texts.includes(item)), where);
      } else if (field.kind === "number") {
        assert.ok(typeof value === "number" && value >= (field.min ?? 0) && value <= (field.max ?? 0), where);
        const steps = (value - (field.min ?? 0)) / (field.step ?? 1);
        assert.ok(Math.abs(steps - Math.round(steps)) < 1e-6, where);
      } else {
        assert.ok(typeof value === "string" && value.length > 0 && !/[;|\n]/.test(value), where);
        if (texts.length > 0) assert.ok(texts.includes(value), where);
        if (field.kind === "date") assert.equal(new Date(value).toISOString().slice(0, 10), value, where);
        if (field.kind === "time") assert.match(value, /^\d\d:\d\d$/, where);
        if (field.kind === "email") assert.match(value, /^[a-z]+@[a-z]+\.[a-z]+$/, where);
        if (field.kind === "url") assert.ok(URL.canParse(value), where);
      }
      if (field.required) assert.notEqual(value, false, where);
    }
  }
});

test("boxes are ticked in about 60 % of the records", () => {
  const boxes = starter.flatMap((task) => Object.values(task.fields).filter((value) => typeof value === "boolean"));
  const share = boxes.filter(Boolean).length / boxes.length;
  assert.ok(share > 0.55 && share < 0.65, String(share));
});

test("the instruction says where to go and names every field", () => {
  const task = starter.find((candidate) => candidate.form === "animals/pet-adoption");
  assert.ok(task !== undefined);
  assert.match(
    task.instruction,
    /^Go to \/starter\/animals\/pet-adoption\. Fill in the Pet Adoption form with: Pet Name: /,
  );
  assert.match(task.instruction, /; Garden Access: (yes|no); and submit it\.$/);
});

test("more records than a form can give is an error that names the form and the option", () => {
  const many = (): unknown => embeddedTasks("starter", 1, { train: 0, val: 1e5, test: 0, heldout: 0 });
  assert.throws(many, userError(/library\/card-request/, { hint: /sizes\.val/ }));
});
