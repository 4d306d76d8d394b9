import assert from "node:assert/strict";
import { test } from "node:test";
import type { Rng } from "../../src/core/rng.js";
import { refusalOf, rowNoise, scoringTemperature } from "../../src/diffusion/sampler.js";
import { sampler as unmask } from "../../src/diffusion/samplers/unmask.js";
import type { SampledModel } from "../../src/diffusion/tokens.js";
import { samplerConfig } from "../support/typed.js";

const CAUSAL: SampledModel = { tokens: { eos: 2, mask: 3, pad: 4 }, vocabulary: 5, attention: "causal" };
const BIDIRECTIONAL: SampledModel = { ...CAUSAL, attention: "bidirectional" };

test("a row's noise stays below 1 in float32 and is otherwise the stream's", () => {
  const of = (uniform: number): number => rowNoise({ uniform: () => uniform } as Rng);
  for (const u of [0, 0.25, 0.999]) assert.equal(of(u), u);
  for (const u of [1 - 2 ** -24, 1 - 2 ** -25, 1 - 2 ** -53]) assert.equal(Math.fround(of(u)), 1 - 2 ** -24);
});

test("greedy decoding is scored at temperature 1, everything else at its own", () => {
  assert.deepEqual([0, 0.5, 1, 1.7].map(scoringTemperature), [1, 0.5, 1, 1.7]);
});

test("what a sampler cannot score is said by what it lacks, or by why its options do not allow it", () => {
  const masked = (model: SampledModel) => unmask.options(samplerConfig(unmask), model);
  for (const scoring of ["steps", "bound", "supervised"] as const)
    for (const model of [CAUSAL, BIDIRECTIONAL])
      assert.equal(refusalOf(unmask, scoring, masked(model))?.reason, undefined);
  assert.equal(refusalOf(unmask, "text", masked(CAUSAL))?.reason, undefined);
  const refused = refusalOf(unmask, "text", masked(BIDIRECTIONAL))?.reason ?? "";
  assert.match(refused, /bidirectional model gives no probabilities/);
  const without = refusalOf({ ...unmask, textTerms: undefined } as never, "text", masked(CAUSAL))?.reason ?? "";
  assert.match(without, /has no log-probabilities of a text read from left to right/);
});
