import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../../src/core/errors.js";
import { check, withoutHome } from "../../../src/features/doctor/machine-checks.js";

test("an error is a miss, its hint the fix", async () => {
  const failing = async (): Promise<string> => {
    throw new UserError("no such thing", { hint: "get one" });
  };
  assert.deepEqual(await check("x", failing, "or this"), {
    name: "x",
    ok: false,
    found: "no such thing",
    fix: "get one",
  });
  const plain = async (): Promise<string> => {
    throw new Error("broken");
  };
  assert.deepEqual(await check("x", plain, "or this"), { name: "x", ok: false, found: "broken", fix: "or this" });
  assert.deepEqual(await check("x", async () => "fine"), { name: "x", ok: true, found: "fine" });
});

test("the home directory is ~, wherever it stands, and nothing else is", () => {
  const home = "/people/me";
  assert.equal(withoutHome("/people/me/a and /people/me", home), "~/a and ~");
  assert.equal(withoutHome("/people/me2/a /people/me.old", home), "/people/me2/a /people/me.old");
  assert.equal(withoutHome("/x", "/"), "/x");
});
