import assert from "node:assert/strict";
import { test } from "node:test";
import type { Rng } from "../../src/core/rng.js";
import { rowNoise, scoringTemperature } from "../../src/diffusion/sampler.js";

test("a row's noise stays below 1 in float32 and is otherwise the stream's", () => {
  const of = (uniform: number): number => rowNoise({ uniform: () => uniform } as Rng);
  for (const u of [0, 0.25, 0.999]) assert.equal(of(u), u);
  for (const u of [1 - 2 ** -24, 1 - 2 ** -25, 1 - 2 ** -53]) assert.equal(Math.fround(of(u)), 1 - 2 ** -24);
});

test("greedy decoding is scored at temperature 1, everything else at its own", () => {
  assert.deepEqual([0, 0.5, 1, 1.7].map(scoringTemperature), [1, 0.5, 1, 1.7]);
});
