import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Rng } from "../../src/core/rng.js";
import type { Batch } from "../../src/diffusion/layout/batch.js";
import type { UnmaskTrajectory } from "../../src/diffusion/samplers/unmask/trajectory.js";
import { sampler as unmask } from "../../src/diffusion/samplers/unmask.js";
import { afterEosFraction } from "../../src/diffusion/scored-tokens.js";
import { plainTrajectory } from "../support/plain-trajectory.js";
import { having } from "../support/typed.js";
import { FakeNetwork, MODEL, SMALL, streams, TOKENS } from "./samplers/unmask/fake-model.js";

const sampler = having(unmask, "stepTerms", "boundTerms", "textTerms");
const options = { ...SMALL, responseLength: 8 };
const layout = { batch: 3, lengthStep: 8 };

const { eos } = TOKENS;
const whole = [
  plainTrajectory([1], [0, 1, 0, 1, eos]),
  plainTrajectory([0, 1, 1], [0, eos]),
  plainTrajectory([0], [0, 1, 0, 1]),
];
/** Trajectories with tokens after the end of the response: 1 of 6 and 2 of 4 tokens. */
const beyond = [plainTrajectory([1], [0, 1, 0, 1, eos, 0]), plainTrajectory([0, 1, 1], [0, eos, 1, 1])];

const layouts: Readonly<Record<string, (some: readonly UnmaskTrajectory[], model: typeof MODEL) => Batch>> = {
  "steps, packed": (some, model) => sampler.stepTerms(some, { ...options, model }, { ...layout, level: "step" }),
  "steps, one by one": (some, model) =>
    sampler.stepTerms(some, { ...options, model }, { ...layout, level: "token", packed: false }),
  bound: (some, model) => {
    const rngs = some.map((_, b) => Rng.named(b, "m"));
    return sampler.boundTerms(some, { ...options, model }, { ...layout, samples: 2, coupled: true, rngs });
  },
  text: (some, model) => sampler.textTerms(some, { ...options, model }, layout),
};

/** Computes the share with all segments that have an owner. */
function share(trajectories: readonly UnmaskTrajectory[], name: string, model = MODEL): number {
  const batch = (layouts[name] as (typeof layouts)[string])(trajectories, model);
  const weight = Float32Array.from(batch.owner, (b) => (b < 0 ? 0 : 1));
  const scoring = name === "text" || name === "bound" ? name : "steps";
  return afterEosFraction([{ batch, trajectories, values: { weight } }], scoring, eos);
}

describe("the share of trained tokens behind EOS", () => {
  for (const name of Object.keys(layouts)) {
    it(`is 0 for what a policy samples, and exactly what lies behind EOS otherwise: ${name}`, () => {
      assert.equal(share(whole, name), 0);
      // a bound of two coupled samples covers every token twice (a side without masked slots covers no token)
      assert.equal(share(beyond, name), 3 / 10);
      if (name !== "text") assert.equal(share(whole, name, { ...MODEL, attention: "bidirectional" }), 0);
    });
  }

  it("is 0 for rollouts of the sampler itself, and where nothing is trained", async () => {
    const prompts = [[1], [0, 1], [1, 1]];
    const rollouts = await sampler.rollout(new FakeNetwork(3), prompts, options, streams(3, 5));
    assert.ok(rollouts.some((r) => r.ended === "eos" && r.response.length < 8));
    for (const name of Object.keys(layouts)) assert.equal(share(rollouts, name), 0);
    assert.equal(afterEosFraction([], "steps", eos), 0);
  });
});
