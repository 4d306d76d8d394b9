import assert from "node:assert/strict";
import { test } from "node:test";
import type { StepContext } from "../../../src/train/context.js";
import { Noise } from "../../../src/train/noise/noise.js";
import { type Group, samplesOf } from "../../../src/train/rollouts/groups.js";
import { rolloutRecord } from "../../support/rollout-record.js";
import { only } from "../../support/typed.js";

const noiseOf = (every: number): Noise => {
  const context = only<StepContext>({
    seed: 3,
    size: 4,
    options: {},
    training: { gradient_noise_every: every },
    objective: {},
    policy: {},
  });
  return new Noise(context, undefined);
};
/** Groups of two turns each, the second without signal. */
const groups = [true, false, true, true].map((signal, g): Group => {
  const rollouts = [0, 1].map((r) => ({ trajectories: [{ of: `${g}/${r}` }], record: rolloutRecord() }));
  return { rollouts, credit: [signal ? [1] : null, signal ? [-1] : null], signal };
});
const samples = samplesOf(groups, 3, 6);

test("the halves hold the step's own samples, whole groups each: what they draw does not depend on being measured", () => {
  const { parts } = noiseOf(3).measure(6, groups, samples);
  const lengths = parts.map((part) => part.length);
  assert.deepEqual(lengths, [4, 2]);
  const sorted = parts.flat().sort((a, b) => samples.indexOf(a) - samples.indexOf(b));
  assert.equal(sorted.length, samples.length);
  for (const [i, sample] of sorted.entries()) assert.equal(sample, samples[i]);
  const drawn = samples.map(({ stream }) => stream("layout").uniform());
  assert.equal(new Set(drawn).size, samples.length);
  for (const { rollouts, signal } of groups) {
    const own = rollouts.flatMap(({ trajectories }) => trajectories);
    const held = parts.map(
      (part) => part.filter(({ trajectory }) => own.includes(trajectory as { of: string })).length,
    );
    assert.deepEqual(held.sort(), signal ? [0, 2] : [0, 0]);
  }
});

test("where nothing is due all samples are one part, and every measure is null", async () => {
  for (const [every, step] of [
    [0, 6],
    [4, 6],
  ] as const) {
    const noise = noiseOf(every).measure(step, groups, samples);
    assert.deepEqual(noise.parts, [samples]);
    await noise.begin([], 0);
    assert.deepEqual([...new Set(Object.values(await noise.metrics()))], [null]);
  }
});
