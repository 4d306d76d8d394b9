import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import type { Batch } from "../../../src/diffusion/layout/batch.js";
import { sampler } from "../../../src/diffusion/samplers/unmask.js";
import type { Policy } from "../../../src/engine/policy.js";
import { objective } from "../../../src/rl/objectives/espo.js";
import { MaskNoise } from "../../../src/train/noise/mask-noise.js";
import { prepareBatches } from "../../../src/train/update.js";
import { SMALL } from "../../diffusion/samplers/unmask/fake-model.js";
import { plainTrajectory } from "../../support/plain-trajectory.js";
import { only } from "../../support/typed.js";

const COUNT = 400;
const options = { ...SMALL, responseLength: 8 };
const espo = objective.schema.parse({ mc_samples: 1, coupled: false, kl_coeff: 0 });

/**
 * Measures the fraction for an update that changes every response's log-ratio per token by the sum of a part that is
 * equal on all masks and a part that is drawn anew for each scoring, with standard deviations `own` and `noise`.
 */
async function fraction(own: number, noise: number, { shift = 3, perToken = true } = {}): Promise<number | null> {
  // a shift of all ratios together adds no spread
  const rng = Rng.named(1, "noise");
  let updated = false;
  const ofPrompt = new Map<string, number>();
  const part = (key: string): number => {
    if (!ofPrompt.has(key)) ofPrompt.set(key, rng.normal());
    return ofPrompt.get(key) as number;
  };
  const before = new Map<Batch, Float32Array>();
  const engine = {
    score: async (batch: Batch) => ({
      logProbs: new Float32Array(),
      logProb: Float32Array.from(batch.owner, (owner, s) => {
        // ignores the batch's tokens: returns the value before the update plus the change by the update
        const values = before.get(batch) ?? Float32Array.from(batch.owner, () => rng.normal());
        before.set(batch, values);
        const value = values[s] as number;
        if (!updated) return value;
        const tokens = batch.units[s] as number;
        const change = own * (shift + part(`${numberOf(batch)}/${owner}`));
        return value + (perToken ? tokens * change : change) + tokens * noise * rng.normal();
      }),
    }),
  };
  // the batches of the two sets come in the same order, so the first scoring of a set numbers them
  const numbers = new Map<Batch, number>();
  const counts = [0, 0];
  const numberOf = (batch: Batch): number => numbers.get(batch) as number;
  const numbered = (batch: Batch, set: 0 | 1) => numbers.set(batch, (counts[set] as number)++);
  const policy = only<Policy>({ engine, sampler, options });
  const response = (): number[] => Array.from({ length: 2 + rng.int(7) }, () => rng.int(2));
  const samples = Array.from({ length: COUNT }, (_, i) => ({
    trajectory: plainTrajectory([1], response()),
    credit: 1,
    stream: (name: string) => Rng.named(1, `${name}/${i}`),
  }));
  const context = { policy, objective, options: espo, size: 32 };
  const batches = await prepareBatches(context, [samples]);
  for (const { batch } of batches) numbered(batch, 0);
  const scored = engine.score;
  engine.score = async (batch) => {
    numbered(batch, 1);
    return scored(batch);
  };
  const measured = await MaskNoise.begin(context, [samples], batches);
  engine.score = scored;
  updated = true;
  return measured.fraction();
}

describe("the share of the ratio's variance that is mask noise", () => {
  it("is 0 where all masks give the same ratios, about 1 where they have nothing in common", async () => {
    assert.ok(((await fraction(0.01, 0)) as number) < 1e-9);
    assert.ok(((await fraction(0, 0.01)) as number) > 0.85);
  });

  it("is the share of the variance in between", async () => {
    for (const [own, noise, expected] of [
      [0.01, 0.01, 0.5],
      [0.02, 0.01, 0.2],
      [0.01, 0.02, 0.8],
    ] as const) {
      const measured = (await fraction(own, noise)) as number;
      assert.ok(Math.abs(measured - expected) < 0.1, `${measured} for ${expected}`);
    }
  });

  it("is of ratios per token: what a response changes by as a whole counts for less the longer it is", async () => {
    const measured = (await fraction(0.1, 0.02, { shift: 0, perToken: false })) as number;
    // the response lengths are 2 to 8
    const share = [2, 3, 4, 5, 6, 7, 8].reduce((sum, length) => sum + length ** -2 / 7, 0);
    const expected = 0.02 ** 2 / (0.02 ** 2 + 0.1 ** 2 * share);
    assert.ok(Math.abs(measured - expected) < 0.1, `${measured} for ${expected}`);
  });

  it("is null where an update changed nothing but rounding", async () => {
    assert.equal(await fraction(0, 0), null);
    assert.equal(await fraction(0, 1e-8), null);
  });
});
