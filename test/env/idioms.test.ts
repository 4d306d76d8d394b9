import assert from "node:assert/strict";
import { test } from "node:test";
import { checkIdioms } from "./idioms/check.js";
import { COMPONENTS } from "./idioms/components.js";
import { SITES } from "./idioms/sites.js";
import { REFUSALS, SUBMISSIONS } from "./idioms/submissions.js";
import { WIDGETS } from "./idioms/widgets.js";

test("every way in which a form reaches its server is judged by what the server received", () =>
  checkIdioms(SUBMISSIONS));
test("what a server refuses, or never gets, is not accepted", () => checkIdioms(REFUSALS));
test("components are filled in by their roles and names, with clicks and keys", () =>
  checkIdioms({ ...COMPONENTS, ...WIDGETS }));
test("pages in the manner of frameworks and form services", () => checkIdioms(SITES));

test("the list is as long as it says", () => {
  assert.ok(Object.keys(SUBMISSIONS).length >= 40);
  assert.ok(Object.keys(COMPONENTS).length >= 15);
  assert.ok(Object.keys(REFUSALS).length >= 11);
});
