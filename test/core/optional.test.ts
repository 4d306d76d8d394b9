import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../src/core/errors.js";
import { optional } from "../../src/core/optional.js";

test("an optional package that is missing is named, with the command that installs its pinned version", async () => {
  const missing = optional("runtime.binding=c-api needs", "koffi", () => Promise.reject(new Error("not there")));
  await assert.rejects(missing, (error: unknown) => {
    assert.ok(error instanceof UserError);
    assert.match(error.message, /needs the package koffi/);
    assert.match(error.hint ?? "", /npm install .*koffi@\d/);
    return true;
  });
});
