import assert from "node:assert/strict";
import { test } from "node:test";
import { COMPONENTS } from "./idioms/components.js";
import type { Idioms } from "./idioms/idiom.js";
import { playIdioms } from "./idioms/play.js";
import { SITES } from "./idioms/sites.js";
import { REFUSALS, SUBMISSIONS } from "./idioms/submissions.js";
import { WIDGETS } from "./idioms/widgets.js";

/** The oracle earns all that a page can give, a bare submit next to nothing; what the server refuses is not accepted. */
async function check(idioms: Idioms): Promise<void> {
  for (const { name, idiom, oracle, nothing } of await playIdioms(idioms)) {
    assert.equal(oracle.fault, undefined, `${name}: ${oracle.fault}`);
    const why = `${name}: ${JSON.stringify([oracle.received, oracle.refusal, oracle.posted, oracle.actions])}`;
    assert.equal(oracle.accepted, idiom.accepted !== false, why);
    if (idiom.accepted !== false) assert.ok(oracle.reward > 0.999, why);
    assert.ok(!(nothing.reward > 0.05), `${name}: a bare submit earns ${nothing.reward}`);
  }
}

test("every way in which a form reaches its server is judged by what the server received", () => check(SUBMISSIONS));
test("what a server refuses, or never gets, is not accepted", () => check(REFUSALS));
test("components are filled in by their roles and names, with clicks and keys", () =>
  check({ ...COMPONENTS, ...WIDGETS }));
test("pages in the manner of frameworks and form services", () => check(SITES));

test("the list is as long as it says", () => {
  assert.ok(Object.keys(SUBMISSIONS).length >= 40);
  assert.ok(Object.keys(COMPONENTS).length >= 15);
  assert.ok(Object.keys(REFUSALS).length >= 11);
});
