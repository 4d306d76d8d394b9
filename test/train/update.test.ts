import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Rng } from "../../src/core/rng.js";
import type { Batch } from "../../src/diffusion/layout/batch.js";
import type { UnmaskTrajectory } from "../../src/diffusion/samplers/unmask/trajectory.js";
import { sampler } from "../../src/diffusion/samplers/unmask.js";
import type { Engine } from "../../src/engine/engine.js";
import { vector } from "../../src/onnx/tensors.js";
import { objective as espo } from "../../src/rl/objectives/espo.js";
import { objective as flowGrpo } from "../../src/rl/objectives/flow-grpo.js";
import type { Sample } from "../../src/train/rollouts/groups.js";
import { layOut, prepareBatches, prepareUpdate, type ScoredBatch, takeStep } from "../../src/train/update.js";
import { SMALL } from "../diffusion/samplers/unmask/fake-model.js";
import { objectiveOptions, only } from "../support/typed.js";

const OPTIONS = { ...SMALL, slotSize: 1, responseLength: 8, rounds: 8 };

/** Responses with one token per round; the k-th token of sample i has log-probability -(10 i + k + 1). */
const trajectories = [5, 2, 7, 3, 4].map(
  (length, i): UnmaskTrajectory => ({
    prompt: [1],
    slotSize: 1,
    responseLength: 8,
    temperature: 1,
    rounds: Array.from({ length }, (_, k) => {
      return { positions: [k], tokens: [k % 2], logProbs: [-(10 * i + k + 1)], eosAllowed: [true] };
    }),
    response: Array.from({ length }, (_, k) => k % 2),
    ended: "length",
  }),
);
const samples = trajectories.map(
  (trajectory, i): Sample => ({ trajectory, credit: i + 1, stream: (name) => Rng.named(1, `${name}/${i}`) }),
);
/** Finds the sample of a micro-batch's trajectory. */
const indexOf = ({ trajectories: some }: Pick<ScoredBatch, "trajectories">, b: number): number =>
  samples.findIndex((sample) => sample.trajectory === some[b]);
/** Lists the values of each segment, with the indices of its sequence and of its sample; padding has no part in a loss. */
const segmentsOf = (micro: ScoredBatch) =>
  micro.batch.owner.flatMap((b, s) => {
    const [advantage = 0, weight = 0] = [micro.values.advantage[s], micro.values.weight[s]];
    if (b < 0) assert.deepEqual([advantage, weight], [0, 0]);
    const [old, reference] = [micro.values.old?.[s] as number, micro.values.reference?.[s] as number];
    return b < 0 ? [] : [{ s, b, i: indexOf(micro, b), advantage, weight, old, reference }];
  });

/** Policies that the engine below was asked to score; each has a number of its own as score. */
const asked: string[] = [];
const engine = {
  score: async ({ segments }: Batch, key: string) => {
    asked.push(key);
    const logProb = new Float32Array(segments).fill(key === "policy" ? -100 : -200);
    return { logProbs: new Float32Array(), logProb };
  },
};
const policy = { engine, sampler, options: OPTIONS };

async function prepare(name: "flow-grpo" | "espo", options: object, size = 2, parts = [samples]) {
  asked.length = 0;
  return name === "espo"
    ? prepareBatches({ policy, objective: espo, options: objectiveOptions(espo, options), size }, parts)
    : prepareBatches({ policy, objective: flowGrpo, options: objectiveOptions(flowGrpo, options), size }, parts);
}

describe("what the loss compares with", () => {
  it("is each rollout's own: its advantage, and the log-probabilities that it was sampled with", async () => {
    const batches = await prepare("flow-grpo", {});
    // trajectories of similar length share a micro-batch, and each appears once
    const lengths = batches.map((micro) =>
      micro.trajectories.map((_, b) => trajectories[indexOf(micro, b)]?.response.length),
    );
    assert.deepEqual(lengths, [[2, 3], [4, 5], [7]]);
    let segments = 0;
    for (const micro of batches) {
      const seen = micro.trajectories.map(() => 0);
      for (const { b, i, ...values } of segmentsOf(micro)) {
        const old = -(10 * i + (seen[b] as number) + 1);
        // the 21 rounds have equal weights
        assert.deepEqual(values, { s: values.s, advantage: i + 1, old, reference: -200, weight: Math.fround(1 / 21) });
        seen[b] = (seen[b] as number) + 1;
        segments++;
      }
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
    assert.deepEqual(asked, ["policy", "policy", "reference", "reference"]);
    for (const { i, advantage, weight, old, reference } of batches.flatMap(segmentsOf))
      assert.deepEqual([advantage, weight, old, reference], [i + 1, Math.fround(1 / 5), -100, -200]);
    const context = { policy, objective: espo, options: objectiveOptions(espo, {}), size: 3 };
    asked.length = 0;
    const once = await prepareUpdate(context, [samples], undefined, true);
    assert.ok(once.every(({ values }) => values.old === undefined && values.reference?.[0] === -200));
    assert.deepEqual(asked, ["reference", "reference"]);
    asked.length = 0;
    const weighed = { ...context, options: objectiveOptions(espo, { importance_cap: 2 }) };
    const told = await prepareUpdate(weighed, [samples], undefined, true);
    assert.ok(told.every(({ values }) => values.old?.[0] === -100));
    assert.ok((await prepare("espo", { kl_coeff: 0 })).every(({ values }) => values.reference[0] === -100));
    assert.deepEqual(asked, ["policy", "policy", "policy"]);
  });

  it("weighs a round of a random subset by the rounds that it stands for", async () => {
    for (const { i, weight } of (await prepare("flow-grpo", { steps_per_update: 2 })).flatMap(segmentsOf))
      assert.equal(weight, Math.fround((trajectories[i]?.rounds.length as number) / 2 / 21));
  });
});

describe("credit", () => {
  /** Lists the step and the advantage of each segment of one trajectory. */
  const advantages = async (credit: Sample["credit"], options: object): Promise<string[]> => {
    const [micro] = await prepare("flow-grpo", options, 2, [[{ ...(samples[3] as Sample), credit }]]);
    const { batch, values } = micro as ScoredBatch;
    return batch.owner.flatMap((b, s) => (b < 0 ? [] : [`${batch.step[s]}: ${values.advantage[s]}`]));
  };

  it("of one number goes to every segment, of one a step to the segments of each step", async () => {
    assert.deepEqual(await advantages(2, {}), ["0: 2", "1: 2", "2: 2"]);
    for (const ratio_level of ["step", "token"])
      assert.deepEqual(await advantages([0.5, -1, 2], { ratio_level }), ["0: 0.5", "1: -1", "2: 2"]);
  });

  it("of one a step goes with the steps that a random subset lays out", async () => {
    const laidOut = await advantages([0.5, -1, 2], { steps_per_update: 2 });
    assert.equal(laidOut.length, 2);
    for (const one of laidOut) assert.ok(["0: 0.5", "1: -1", "2: 2"].includes(one), one);
  });

  it("of one a token goes to the token's own segment, and is refused where one covers several", async () => {
    const tokens = [0.5, -1, 2];
    assert.deepEqual(await advantages({ tokens }, { ratio_level: "token" }), ["0: 0.5", "1: -1", "2: 2"]);
    await assert.rejects(advantages({ tokens }, {}), /segments of one token/);
  });

  it("of one a step is refused where a segment covers several", async () => {
    await assert.rejects(advantages([0.5, -1, 2], { ratio_level: "sequence" }), /segments of one step each/);
    await assert.rejects(advantages([0.5, -1], {}), /this one covers step 2/);
  });
});

describe("the layout", () => {
  const two = { policy, objective: flowGrpo, options: objectiveOptions(flowGrpo, { steps_per_update: 2 }) };
  /** Lists each sample's index with the steps that are laid out of it, in order. */
  const subsets = (some: readonly Sample[], size: number, draws = "layout"): string[] =>
    layOut({ ...two, size }, some, draws)
      .flatMap(({ batch, samples: of }) =>
        of.map((one, b) => `${samples.indexOf(one)}: ${batch.step.filter((_, s) => batch.owner[s] === b)}`),
      )
      .sort();

  it("draws the same for a sample whatever shares its micro-batch, and other draws for something else", () => {
    const alone = samples.flatMap((sample) => subsets([sample], 1));
    assert.equal(alone.length, samples.length);
    for (const size of [1, 2, 3, 5]) assert.deepEqual(subsets(samples, size), alone);
    assert.deepEqual(subsets([...samples].reverse(), 2), alone);
    assert.notDeepEqual(subsets(samples, 2, "mask-noise"), alone);
  });

  it("keeps parts apart: no micro-batch holds samples of two, and all weights together sum to 1", async () => {
    const parts = [samples.slice(0, 3), samples.slice(3)];
    const batches = await prepare("flow-grpo", {}, 2, parts);
    const actual = batches.map((micro) => micro.trajectories.map((_, b) => indexOf(micro, b)));
    assert.deepEqual(actual, [[1, 0], [2], [3, 4]]);
    const total = batches.reduce((sum, { values }) => values.weight.reduce((a, w) => a + w, sum), 0);
    assert.ok(Math.abs(total - 1) < 1e-6, `${total}`);
  });

  it("gives the loss what the objective feeds it of each micro-batch", async () => {
    const fed: number[][] = [];
    const feeding = {
      ...flowGrpo,
      feed: (batch: Batch, some: readonly object[]) => {
        fed.push(some.map((trajectory) => samples.findIndex((sample) => sample.trajectory === trajectory)));
        return { own: vector(new Float32Array(batch.segments).fill(fed.length)) };
      },
    };
    const context = { policy, objective: feeding, options: objectiveOptions(flowGrpo, {}), size: 2 };
    const batches = await prepareBatches(context, [samples]);
    assert.deepEqual(fed, [[1, 3], [4, 0], [2]]);
    const actual = batches.map(({ values }) => values.extra?.own?.data[0]);
    assert.deepEqual(actual, [1, 2, 3]);
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
      const fake = only<Engine>({
        // every ratio is 1
        accumulate: async (_: unknown, { weight }: { weight: Float32Array }) => ({
          loss: 1,
          ratio_max: 1,
          ratio_mean: weight.reduce((a, w) => a + w, 0),
        }),
        reduction: (name: string) => (name === "ratio_max" ? "max" : "sum"),
        step: async () => 0.5,
      });
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
    const fake = only<Engine>({
      accumulate: async (batch: unknown, values: unknown) => {
        calls.push(`${batch} ${(values as { readonly name: string }).name}`);
        return metrics[calls.length - 1] ?? {};
      },
      reduction: (name: string) => (name === "ratio_max" ? "max" : "sum"),
      step: async (t: number, learningRate: number) => {
        calls.push(`step ${t} ${learningRate}`);
        return 0.5;
      },
    });
    const batches = [0, 1, 2].map((i) => ({
      batch: `batch ${i}`,
      values: { name: `values ${i}`, weight: [1 / 3] },
    })) as unknown as ScoredBatch[];
    const heard: [number, number][] = [];
    const observer = { boundary: 0, accumulated: async (index: number) => void heard.push([index, calls.length]) };
    const total = await takeStep(fake, batches, 9, 0.125, { observer });
    assert.deepEqual(total, { loss: -0.75, ratio_max: 7, first: 5, grad_norm: 0.5 });
    assert.deepEqual(calls, ["batch 0 values 0", "batch 1 values 1", "batch 2 values 2", "step 9 0.125"]);
    const expected = batches.map((_, i) => [i, i + 1]);
    assert.deepEqual(heard, expected);
  });
});

describe("weights and corrections that options ask for", () => {
  it("a constant length: the sum over a response by it, and metrics are still means", async () => {
    const batches = await prepare("flow-grpo", { length_norm: 8, kl_coeff: 0 });
    const weights = batches.flatMap(({ values }) => [...values.weight]).filter((w) => w > 0);
    assert.equal(weights.length, 21);
    for (const w of weights) assert.ok(Math.abs(w - 1 / (8 * 5)) < 1e-7);
    const accumulate = async () => ({ kl: 21 / 40 / 3, loss: 1 });
    const told = only<Engine>({ reduction: () => "sum", step: async () => 1, accumulate });
    const { kl, loss } = await takeStep(told, batches, 1, 0.1);
    assert.ok(Math.abs((kl as number) - 1) < 1e-6, `${kl}`);
    assert.equal(loss, 3);
  });

  it("truncated importance sampling: old is the policy before the update, and credit is weighed against what was recorded", async () => {
    const near = {
      ...engine,
      score: async ({ logProb: recorded, segments }: Batch, key: string) => ({
        logProbs: new Float32Array(),
        logProb: Float32Array.from({ length: segments }, (_, s) =>
          key === "reference" ? -200 : (recorded?.[s] ?? 0) + (s % 2 === 0 ? -0.5 : 3),
        ),
      }),
    };
    const options = objectiveOptions(flowGrpo, { importance_cap: 2 });
    const context = { policy: { ...policy, engine: near }, objective: flowGrpo, options, size: 2 };
    const batches = await prepareBatches(context, [samples]);
    for (const micro of batches)
      for (const { s, i, old, advantage } of segmentsOf(micro)) {
        const even = s % 2 === 0;
        assert.ok(Math.abs(old - ((micro.batch.logProb?.[s] as number) + (even ? -0.5 : 3))) < 1e-5);
        assert.ok(Math.abs(advantage - (i + 1) * (even ? Math.exp(-0.5) : 2)) < 1e-5);
      }
  });

  it("what an older policy sampled and no one recorded is scored under that policy", async () => {
    const options = objectiveOptions(espo, { importance_cap: 2, kl_coeff: 0 });
    const score = async () => ({ logProbs: new Float32Array(), logProb: Float32Array.of(-1, -1, -1) });
    const near = { ...engine, score };
    const older = async (batches: readonly Batch[]) => batches.map(() => Float32Array.of(-1.5, -9, -1.5));
    const context = { policy: { ...policy, engine: near }, objective: espo, options, size: 2 };
    const plain = await prepareBatches(context, [samples]);
    const batches = await prepareBatches(context, [samples], older);
    for (const [i, micro] of batches.entries()) {
      assert.equal(plain[i]?.trust, undefined);
      for (const { s, old, advantage } of segmentsOf(micro)) {
        assert.equal(old, -1);
        const trust = micro.trust?.[s] as number;
        assert.ok(Math.abs(trust - (s === 1 ? 2 : Math.exp(0.5))) < 1e-6);
        assert.ok(Math.abs(advantage - (plain[i]?.values.advantage[s] as number) * trust) < 1e-5);
      }
    }
  });
});
