import assert from "node:assert/strict";
import { test } from "node:test";
import { refusalOf } from "../../../src/diffusion/sampler.js";
import type { SampledModel } from "../../../src/diffusion/tokens.js";
import { sampler } from "../../../src/features/refusion-decoding/samplers/refusion.js";
import { samplerConfig } from "../../support/typed.js";

const CAUSAL: SampledModel = { tokens: { eos: 2, mask: 3, pad: 4 }, vocabulary: 5, attention: "causal" };

test("a search has no likelihood: what it cannot score is said", () => {
  const options = sampler.options(samplerConfig(sampler), CAUSAL);
  assert.match(refusalOf(sampler, "steps", options)?.reason ?? "", /has no log-probabilities of its steps/);
  assert.match(refusalOf(sampler, "bound", options)?.reason ?? "", /has no bound/);
  assert.match(refusalOf(sampler, "supervised", options)?.reason ?? "", /has no supervised loss/);
});
