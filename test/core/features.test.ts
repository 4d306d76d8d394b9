import assert from "node:assert/strict";
import { test } from "node:test";
import { CALLED, calledFeature } from "../../src/core/features.js";

test("every feature that the core calls exports what it calls", async () => {
  for (const name of Object.keys(CALLED) as (keyof typeof CALLED)[])
    assert.notEqual(await calledFeature(name), undefined, name);
});
