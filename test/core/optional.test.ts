import assert from "node:assert/strict";
import { test } from "node:test";
import { optional } from "../../src/core/optional.js";
import { userError } from "../support/user-error.js";

test("an optional package that is missing is named, with the command that installs its pinned version", async () => {
  const missing = optional("runtime.binding=c-api needs", "koffi", () => Promise.reject(new Error("not there")));
  await assert.rejects(missing, userError(/needs the package koffi/, { hint: /npm install .*koffi@\d/ }));
});
