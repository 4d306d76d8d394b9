import assert from "node:assert/strict";
import { test } from "node:test";
import { checkAll, listed } from "../support/boundary-run.js";

for (const path of listed())
  test(`whatever comes in is read, or refused with a next step: ${path}`, async () => {
    assert.ok(Object.keys(await checkAll(path, 1)).length > 0);
  });
