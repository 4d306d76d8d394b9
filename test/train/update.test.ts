import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Rng } from "../../src/core/rng.js";
import type { UnmaskTrajectory } from "../../src/diffusion/samplers/unmask/trajectory.js";
import { sampler } from "../../src/diffusion/samplers/unmask.js";
import type { TermBatch } from "../../src/diffusion/terms.js";
import type { Engine } from "../../src/engine/engine.js";
import { objective as espo } from "../../src/rl/objectives/espo.js";
import { objective as flowGrpo } from "../../src/rl/objectives/flow-grpo.js";
import type { Sample } from "../../src/train/groups.js";
import { type MicroBatch, prepareBatches, takeStep } from "../../src/train/update.js";
import { SMALL } from "../diffusion/samplers/unmask/fake-model.js";

const OPTIONS = { ...SMALL, slotSize: 1, responseLength: 8, rounds: 8 };

/** Responses of these lengths, a token a round, the k-th of sample i recorded at -(10 i + k + 1). */
const samples: readonly Sample[] = [5, 2, 7, 3, 4].map((length, i): Sample => {
  const trajectory: UnmaskTrajectory = {
    prompt: [1],
    slotSize: 1,
    responseLength: 8,
    temperature: 1,
    rounds: Array.from({ length }, (_, k) => ({
      positions: [k],
      tokens: [k % 2],
      logProbs: [-(10 * i + k + 1)],
      eosAllowed: [true],
    })),
    response: Array.from({ length }, (_, k) => k % 2),
    ended: "length",
  };
  return { trajectory, advantage: i + 1 };
});

/** Scores as many as it is asked for, a policy's own number each. */
const asked: string[] = [];
const engine = {
  score: async (terms: TermBatch, key: string) => {
    asked.push(key);
    return {
      logProbs: new Float32Array(),
      value: new Float32Array(terms.segments).fill(key === "policy" ? -100 : -200),
    };
  },
};
const policy = { engine, sampler: sampler as never, options: OPTIONS };

async function prepare(objective: "flow-grpo" | "espo", options: object, size = 2): Promise<MicroBatch[]> {
  asked.length = 0;
  const rng = Rng.named(1, "layout");
  return objective === "espo"
    ? prepareBatches(policy, espo, espo.schema.parse(options) as never, samples, size, rng)
    : prepareBatches(policy, flowGrpo, flowGrpo.schema.parse(options) as never, samples, size, rng);
}

describe("what the loss compares with", () => {
  it("is each rollout's own: its advantage, and the log-probabilities that it was sampled with", async () => {
    const batches = await prepare("flow-grpo", {});
    // of similar length together, all of them once
    assert.deepEqual(
      batches.map((batch) => batch.trajectories.map((t) => t.response.length)),
      [[2, 3], [4, 5], [7]],
    );
    let segments = 0;
    for (const { terms, values, trajectories, half } of batches) {
      assert.equal(half, 0);
      const seen = trajectories.map(() => 0);
      terms.owner.forEach((b, s) => {
        if (b < 0) {
          assert.deepEqual([values.advantage[s], values.weight[s]], [0, 0]);
          return;
        }
        const i = samples.findIndex((sample) => sample.trajectory === trajectories[b]);
        assert.equal(values.advantage[s], i + 1);
        assert.equal(values.old[s], -(10 * i + (seen[b] as number) + 1));
        assert.equal(values.reference[s], -200);
        // each of the 21 rounds weighs the same
        assert.equal(values.weight[s], Math.fround(1 / 21));
        seen[b] = (seen[b] as number) + 1;
        segments++;
      });
    }
    assert.equal(segments, 21);
    assert.deepEqual(asked, ["reference", "reference", "reference"]);
  });

  it("is scored for nobody without a penalty", async () => {
    for (const { values } of await prepare("flow-grpo", { kl_coeff: 0 })) assert.equal(values.reference, values.old);
    assert.deepEqual(asked, []);
  });

  it("is scored on the policy's own draws where the rollout says nothing: one value a response", async () => {
    const batches = await prepare("espo", {}, 3);
    assert.deepEqual(asked, ["policy", "reference", "policy", "reference"]);
    for (const { terms, values, trajectories } of batches) {
      terms.owner.forEach((b, s) => {
        const i = samples.findIndex((sample) => sample.trajectory === trajectories[b]);
        assert.deepEqual([values.advantage[s], values.weight[s]], b < 0 ? [0, 0] : [i + 1, Math.fround(1 / 5)]);
        if (b >= 0) assert.deepEqual([values.old[s], values.reference[s]], [-100, -200]);
      });
    }
    assert.ok((await prepare("espo", { kl_coeff: 0 })).every(({ values }) => values.reference[0] === -100));
    assert.deepEqual(asked, ["policy", "policy", "policy"]);
  });

  it("weighs a round of a random subset by the rounds that it stands for", async () => {
    for (const { terms, values, trajectories } of await prepare("flow-grpo", { steps_per_update: 2 })) {
      terms.owner.forEach((b, s) => {
        if (b < 0) return;
        const rounds = (trajectories[b] as UnmaskTrajectory).rounds.length;
        assert.equal(values.weight[s], Math.fround(rounds / 2 / 21));
      });
    }
  });
});

describe("a step", () => {
  it("of a random subset of rounds gives means over what was drawn, and the loss as it is", async () => {
    const batches = await prepare("flow-grpo", { steps_per_update: 2 });
    const drawn = batches.reduce((sum, { values }) => values.weight.reduce((a, w) => a + w, sum), 0);
    assert.ok(Math.abs(drawn - 1) < 1e-6, "a round is weighed by its response's");
    const tokens = await prepare("flow-grpo", { steps_per_update: 2, ratio_level: "token" });
    for (const weight of [1, 0.5]) {
      const scaled = [...batches, ...tokens].map(({ values, ...batch }) => ({
        ...batch,
        values: { ...values, weight: values.weight.map((w) => (w * weight) / 2) },
      }));
      const fake = {
        // every ratio is 1
        accumulate: async (_: unknown, { weight }: { weight: Float32Array }) => ({
          loss: 1,
          ratio_max: 1,
          ratio_mean: weight.reduce((a, w) => a + w, 0),
        }),
        reduction: (name: string) => (name === "ratio_max" ? "max" : "sum"),
        step: async () => 0.5,
      } as unknown as Engine;
      const { loss, ratio_max, ratio_mean } = await takeStep(fake, scaled, 1, 0.1);
      assert.deepEqual([loss, ratio_max], [scaled.length, 1]);
      assert.ok(Math.abs((ratio_mean as number) - 1) < 1e-6, `${ratio_mean}`);
    }
  });

  it("adds metrics up, takes the largest of those that say so, then steps once", async () => {
    const calls: string[] = [];
    const metrics = [
      { loss: 1, ratio_max: 3, first: 5 },
      { loss: 0.25, ratio_max: 7 },
      { loss: -2, ratio_max: 2 },
    ];
    const fake = {
      accumulate: async (terms: unknown, values: unknown) => {
        calls.push(`${terms} ${values}`);
        return metrics[calls.length - 1];
      },
      reduction: (name: string) => (name === "ratio_max" ? "max" : "sum"),
      step: async (t: number, learningRate: number) => {
        calls.push(`step ${t} ${learningRate}`);
        return 0.5;
      },
    } as unknown as Engine;
    const batches = [0, 1, 2].map((i) => ({ terms: `terms ${i}`, values: `values ${i}` }) as unknown as MicroBatch);
    const heard: [MicroBatch, number][] = [];
    const observer = { accumulated: async (batch: MicroBatch) => void heard.push([batch, calls.length]) };
    const total = await takeStep(fake, batches, 9, 0.125, observer);
    assert.deepEqual(total, { loss: -0.75, ratio_max: 7, first: 5, grad_norm: 0.5 });
    assert.deepEqual(calls, ["terms 0 values 0", "terms 1 values 1", "terms 2 values 2", "step 9 0.125"]);
    assert.deepEqual(
      heard,
      batches.map((batch, i) => [batch, i + 1]),
    );
  });
});
