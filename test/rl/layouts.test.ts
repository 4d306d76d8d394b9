import assert from "node:assert/strict";
import { test } from "node:test";
import type { Batch } from "../../src/diffusion/layout/batch.js";
import { policyHead } from "../../src/diffusion/score-head.js";
import { countEqually, meanOfRounds, perTerm } from "../../src/rl/layouts.js";
import { close } from "../support/close.js";

/** Token segments of two responses: rounds of 1 and 3 tokens, and one round of 2; the last segment is padding. */
const tokens: Batch = {
  inputs: {},
  head: policyHead,
  headInputs: {},
  coefficient: new Float32Array([1, 1, 1, 1, 1, 1, 0]),
  segment: BigInt64Array.from([0n, 1n, 2n, 3n, 4n, 5n, 6n]),
  segments: 7,
  owner: [0, 0, 0, 0, 1, 1, -1],
  step: [0, 1, 1, 1, 0, 0, -1],
  units: new Float32Array(7).fill(1),
  logProb: new Float32Array(7),
};

test("every response counts 1, every round of it the same, every token of a round the same", () => {
  close(meanOfRounds(tokens).share, [1 / 2, 1 / 6, 1 / 6, 1 / 6, 1 / 2, 1 / 2, 0]);
});

test("every group of segments counts 1, padding nothing", () => {
  close(countEqually(tokens, (s) => String(tokens.owner[s])).share, [1 / 4, 1 / 4, 1 / 4, 1 / 4, 1 / 2, 1 / 2, 0]);
});

test("every scored term becomes a segment of its response, with coefficient 1 and no recorded value", () => {
  const responses: Batch = {
    ...tokens,
    coefficient: new Float32Array([0.5, 3, 2, 0]),
    segment: BigInt64Array.from([0n, 1n, 0n, 0n]),
    segments: 2,
    owner: [4, 7],
    step: [-1, -1],
    units: new Float32Array([9, 8]),
    share: new Float32Array([2, 2]),
    logProb: new Float32Array(2),
  };
  const batch = perTerm(responses);
  assert.deepEqual([...batch.coefficient], [1, 1, 1, 0]);
  assert.deepEqual([...batch.segment], [0n, 1n, 2n, 3n]);
  assert.deepEqual([batch.segments, batch.owner, batch.step], [4, [4, 7, 4, -1], [-1, -1, -1, -1]]);
  assert.deepEqual([...batch.units], [1, 1, 1, 1]);
  assert.deepEqual([batch.logProb, batch.share], [undefined, undefined]);
});
