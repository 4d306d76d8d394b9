import assert from "node:assert/strict";
import { test } from "node:test";
import type { Control } from "../../../src/env/browser/controls.js";
import { makerOf, takenApart, withoutMarkup } from "../../../src/env/forms/joined.js";

const control = (kind: Control["kind"], options: Control["options"] = []): Control => ({
  index: 0,
  kind,
  widget: "native",
  label: "",
  also: [],
  section: "",
  name: "",
  id: "",
  required: false,
  default: "",
  options,
  form: 0,
  present: true,
});

test("a text is made of several values where nothing else is left of it", () => {
  const names = makerOf([control("text"), control("text")], ["Ann", "Lee"]);
  assert.deepEqual(names("Ann Lee"), [0, 1]);
  assert.deepEqual(names("Lee, Ann"), [0, 1]);
  assert.deepEqual(names("Ann Lee Smith"), []);
  assert.deepEqual(names("Ann"), []);
  const moment = makerOf([control("date"), control("time")], ["2024-04-17", "14:30"]);
  assert.equal(moment("2024-04-17T14:30:00.000Z").length, 2);
  assert.deepEqual(moment("2024-04-17T15:30:00.000Z"), []);
  const code = [{ text: "Sweden +46", value: "+46" }];
  assert.equal(
    makerOf([control("select", code), control("tel")], ["Sweden +46", "701234567"])("+46701234567").length,
    2,
  );
});

test("a text is taken apart where every part of it was posted, in order", () => {
  assert.deepEqual(takenApart("Ann Lee", ["x", "Ann", "Lee"]), [1, 2]);
  assert.deepEqual(takenApart("Ann Mary Lee", ["Ann Mary", "Lee"]), [0, 1]);
  assert.deepEqual(takenApart("04/27", ["123", "4", "2027"]), [1, 2]);
  assert.deepEqual(takenApart("Ann Lee", ["Ann"]), []);
  assert.deepEqual(takenApart("Ann", ["Ann"]), []);
});

test("markup of editors is no part of a text", () => {
  assert.equal(withoutMarkup("<p>moss &amp; <b>stones</b></p>").trim(), "moss & stones");
  assert.equal(withoutMarkup("1 < 2"), "1 < 2");
  assert.equal(withoutMarkup("&#65;&#x42;"), "AB");
});
