import assert from "node:assert/strict";
import { test } from "node:test";
import { within } from "../../src/core/within.js";

test("what settles is in time, well or not; what never settles is not", async () => {
  assert.equal(await within(Promise.resolve(), 60_000), true);
  assert.equal(await within(Promise.reject(new Error("its own")), 60_000), true);
  assert.equal(await within(new Promise(() => undefined), 0), false);
});
