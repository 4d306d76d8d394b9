import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../../src/core/errors.js";
import { check, withoutHome } from "../../../src/features/doctor/machine-checks.js";

test("an error is a miss, its hint the fix", async () => {
  for (const [error, found, fix] of [
    [new UserError("no such thing", { hint: "get one" }), "no such thing", "get one"],
    [new Error("broken"), "broken", "or this"],
  ] as const)
    assert.deepEqual(await check("x", () => Promise.reject(error), "or this"), { name: "x", ok: false, found, fix });
  assert.deepEqual(await check("x", async () => "fine"), { name: "x", ok: true, found: "fine" });
});

test("the home directory is ~, wherever it stands, and nothing else is", () => {
  const home = "/people/me";
  assert.equal(withoutHome("/people/me/a and /people/me", home), "~/a and ~");
  assert.equal(withoutHome("/people/me2/a /people/me.old", home), "/people/me2/a /people/me.old");
  assert.equal(withoutHome("/x", "/"), "/x");
});
