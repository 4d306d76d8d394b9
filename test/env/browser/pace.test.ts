import assert from "node:assert/strict";
import { test } from "node:test";
import { Pace } from "../../../src/env/browser/pace.js";

test("limits follow the mean of what went well, never below what was set, never above six times that", () => {
  const pace = new Pace();
  assert.equal(pace.limit(5000, 2), 5000);
  pace.observe(100);
  assert.equal(pace.limit(5000, 2), 5000);
  for (let i = 0; i < 50; i++) pace.observe(8000);
  assert.ok(Math.abs(pace.limit(5000, 2) - 16_000) < 10);
  assert.equal(pace.limit(1000, 2), 6000);
  for (let i = 0; i < 50; i++) pace.observe(100);
  assert.equal(pace.limit(5000, 2), 5000);
  // a single slow episode must not change the time of the next one much
  pace.observe(10_000);
  assert.ok(pace.limit(1000, 2) < 5000);
});
