import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Batch } from "../../src/diffusion/layout/batch.js";
import { importanceWeights, normalised, totalShare, type WeighingOptions } from "../../src/rl/weighing.js";
import { close } from "../support/close.js";

/** A batch of three ratios of one response, one of another, and padding. */
const batch = {
  owner: [0, 0, 0, 1, -1],
  step: [0, 1, 2, 0, -1],
  share: Float32Array.from([0.2, 0.3, 0.5, 1, 0]),
  logProb: Float32Array.from([-1, -2, -3, -1, 0]),
  units: Float32Array.from([2, 4, 1, 1, 1]),
} as unknown as Batch;
const options: WeighingOptions = { length_norm: "own", importance_cap: 2 };
describe("length_norm", () => {
  /** Computes the weight of each segment of a step. */
  const weights = (norm: WeighingOptions["length_norm"]): number[] => {
    const { share, owner } = normalised(batch, norm);
    const shares = owner.map((b, s) => (b < 0 ? 0 : (share?.[s] ?? 1)));
    const sum = shares.reduce((a, x) => a + x, 0);
    const total = totalShare(sum, 2, norm);
    return shares.map((x) => x / total);
  };

  it("own: as the objective laid them out", () => close(weights("own"), [0.1, 0.15, 0.25, 0.5, 0]));
  it("segment: every ratio of the step the same", () => close(weights("segment"), [0.25, 0.25, 0.25, 0.25, 0]));
  it("response: every response the same", () => close(weights("response"), [1 / 6, 1 / 6, 1 / 6, 1 / 2, 0]));
  it("a number: the sum over a response by it, so that a long one counts more", () =>
    close(weights(8), [1 / 16, 1 / 16, 1 / 16, 1 / 16, 0]));

  it("response: the mean over a random subset is not scaled up to the whole", () => {
    const sampled = { share: new Float32Array(5).fill(4), of: 12 };
    assert.equal(normalised({ ...batch, sampled }, "response").sampled, undefined);
    assert.equal(normalised({ ...batch, sampled }, 8).sampled, sampled);
  });
});

describe("truncated importance sampling", () => {
  const old = Float32Array.from([-1.5, -1.5, -1, -1, 7]);

  it("weighs a segment by the ratio to what was recorded, at most the cap; padding by 0", () =>
    close([...importanceWeights(batch, old, options)], [Math.exp(-0.5), Math.exp(0.5), 2, 1, 0]));
  it("of a mean it is the ratio of all tokens", () => {
    const means = { ...options, importance_cap: 100, reduction: "mean" } as const;
    close([...importanceWeights(batch, old, means)], [Math.exp(-1), Math.exp(2), Math.exp(2), 1, 0]);
  });
  it("on policy it is 1", () =>
    close([...importanceWeights(batch, batch.logProb as Float32Array, options)], [1, 1, 1, 1, 0]));
});
