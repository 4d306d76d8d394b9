import assert from "node:assert/strict";
import { test } from "node:test";
import { BLOCKED } from "../../src/attention/bias.js";
import type { Batch } from "../../src/diffusion/layout/batch.js";
import { BufferBuilder } from "../../src/diffusion/layout/buffer.js";
import type { StepLayout } from "../../src/diffusion/layout/scorings.js";
import type { UnmaskOptions } from "../../src/diffusion/samplers/unmask/options.js";
import { roundTerms } from "../../src/diffusion/samplers/unmask/replay.js";
import type { UnmaskTrajectory } from "../../src/diffusion/samplers/unmask/trajectory.js";
import { policyHead } from "../../src/diffusion/score-head.js";
import { bufferTerms } from "../../src/diffusion/terms.js";
import { type TokenBatch, withTokens } from "../support/token-batch.js";

const tokens = { eos: 2, mask: 3, pad: 4 };

/** Two responses on a canvas of 6: one of three rounds that EOS cuts, and one of two rounds. */
const trajectories: readonly UnmaskTrajectory[] = [
  {
    ...{ prompt: [1, 0], slotSize: 2, responseLength: 6, temperature: 0.5 },
    rounds: [
      { positions: [2, 3], tokens: [0, 1], logProbs: [-1, -2], eosAllowed: [false, false] },
      { positions: [0, 1], tokens: [1, 1], logProbs: [-3, -4], eosAllowed: [false, false] },
      { positions: [4], tokens: [2], logProbs: [-5], eosAllowed: [true] },
    ],
    response: [1, 1, 0, 1, 2],
    ended: "eos",
  },
  {
    ...{ prompt: [0], slotSize: 2, responseLength: 6, temperature: 0.5 },
    rounds: [
      { positions: [0, 1], tokens: [1, 0], logProbs: [-6, -7], eosAllowed: [false, false] },
      { positions: [2, 3, 4, 5], tokens: [0, 0, 1, 1], logProbs: [-8, -9, -10, -11], eosAllowed: Array(4).fill(true) },
    ],
    response: [1, 0, 0, 0, 1, 1],
    ended: "length",
  },
];
const options: UnmaskOptions = {
  ...{ rounds: 3, slotSize: 2, responseLength: 6, promptLength: 2, temperature: 0.5 },
  ...{ order: "confidence", slotFill: "parallel", canvasPerPrompt: null, kvCache: "auto" },
  model: { tokens, vocabulary: 5, attention: "causal" },
};
const lay = (level: StepLayout["level"], more: Partial<StepLayout> = {}): Batch & TokenBatch =>
  withTokens(roundTerms(trajectories, options, { batch: 3, lengthStep: 32, level, ...more }));

test("a round, a token or a response is a segment", () => {
  const step = lay("step");
  assert.deepEqual([...step.segment].slice(0, 11).map(Number), [0, 0, 1, 1, 2, 3, 3, 4, 4, 4, 4]);
  assert.deepEqual(step.owner, [0, 0, 0, 1, 1, -1, -1, -1, -1]);
  assert.deepEqual(step.step, [0, 1, 2, 0, 1, -1, -1, -1, -1]);
  assert.deepEqual([...(step.logProb as Float32Array)], [-3, -7, -5, -13, -38, 0, 0, 0, 0]);
  assert.deepEqual([...step.units], [2, 2, 1, 2, 4, 0, 0, 0, 0]);
  assert.equal(step.temperature, 0.5);
  assert.equal(step.sampled, undefined);

  const token = lay("token");
  assert.equal(token.segments, 11);
  assert.deepEqual([...token.segment].slice(0, 11).map(Number), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  assert.deepEqual(token.owner, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]);
  assert.deepEqual(token.step, [0, 0, 1, 1, 2, 0, 0, 1, 1, 1, 1]);
  assert.deepEqual([...(token.logProb as Float32Array)].slice(0, 5), [-1, -2, -3, -4, -5]);
  assert.deepEqual(token.position, [2, 3, 0, 1, 4, 0, 1, 2, 3, 4, 5]);
  assert.equal(step.position, undefined);

  const sequence = lay("sequence");
  assert.deepEqual(sequence.owner, [0, 1, -1]);
  assert.deepEqual(sequence.step, [-1, -1, -1]);
  assert.deepEqual([...(sequence.logProb as Float32Array)], [-15, -51, 0]);
  assert.deepEqual([...sequence.units], [5, 6, 0]);
});

test("a segment's value may be the mean of its log-probabilities", () => {
  const step = lay("step", { reduction: "mean" });
  assert.deepEqual([...(step.logProb as Float32Array)].slice(0, 5), [-1.5, -3.5, -5, -6.5, -9.5]);
  assert.deepEqual([...step.coefficient], [0.5, 0.5, 0.5, 0.5, 1, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25]);
});

test("every token is a term; a batch without any has one that counts nothing and is always possible", () => {
  const terms = lay("step");
  assert.deepEqual([...terms.coefficient], new Array<number>(11).fill(1));
  assert.deepEqual([...(terms.features.eos_allowed as Float32Array)].slice(0, 5), [0, 0, 0, 0, 1]);
  const none = withTokens(roundTerms([], options, { batch: 3, lengthStep: 32, level: "step" }));
  assert.deepEqual([...none.coefficient], [0]);
  assert.deepEqual([...(none.features.eos_allowed as Float32Array)], [1]);
  assert.deepEqual([...none.targets].map(Number), [tokens.eos]);
});

test("a random subset says how many segments each stands for", () => {
  const subset = [[1], [0, 1]];
  const step = lay("step", { subset });
  assert.deepEqual([...(step.logProb as Float32Array)].slice(0, 5), [-7, 0, 0, -13, -38]);
  assert.deepEqual(step.sampled?.of, 5);
  assert.deepEqual([...(step.sampled?.share ?? [])].slice(0, 5), [3, 0, 0, 1, 1]);
  const token = lay("token", { subset });
  assert.equal(token.sampled?.of, 11);
  assert.deepEqual([...(token.sampled?.share ?? [])].slice(0, 4), [3, 3, 1, 1]);
});

test("plain buffers become terms at flat rows, with what the model reads of a sequence", () => {
  const a = new BufferBuilder([1, 0]);
  a.push(1, 0);
  const b = new BufferBuilder([1]);
  const { pad, eos: filler } = tokens;
  const info = { owner: [0, 1], tokens: Float32Array.of(1, 1, 0), temperature: 1, head: policyHead, pad, filler };
  const sizes = { batch: 3, length: 4, segments: 3 };
  const last = { row: 0, target: 0, coefficient: 2, segment: 1, features: { eos_allowed: 1 } };
  const scored = [
    { buffer: a, conditions: { time: 0.25 }, terms: [{ row: 1, target: 1, coefficient: 0.5, segment: 0 }] },
    { buffer: b, conditions: { time: 0.75 }, terms: [last] },
  ];
  const terms = withTokens(bufferTerms(scored, sizes, info));
  assert.deepEqual([...terms.rows].map(Number), [1, 4]);
  assert.deepEqual([...terms.targets].map(Number), [1, 0]);
  assert.deepEqual([...terms.coefficient], [0.5, 2]);
  assert.deepEqual([...(terms.features.eos_allowed as Float32Array)], [0, 1]);
  assert.deepEqual([...(terms.conditions.time as Float32Array)], [0.25, 0.75, 0.25]);
  assert.deepEqual(terms.owner, [0, 1, -1]);
  assert.deepEqual(terms.step, [-1, -1, -1]);
  assert.equal(terms.logProb, undefined);
  assert.deepEqual([...terms.attentionBias.subarray(4, 8)], [0, 0, BLOCKED, BLOCKED].map(Math.fround));
});
