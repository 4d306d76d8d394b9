import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { UserError } from "../../../../src/core/errors.js";
import type { Batch } from "../../../../src/diffusion/layout/batch.js";
import type { StepLayout } from "../../../../src/diffusion/layout/scorings.js";
import { SLOT_FILLS, type UnmaskOptions } from "../../../../src/diffusion/samplers/unmask/options.js";
import { roundTerms as layRounds, packedLength } from "../../../../src/diffusion/samplers/unmask/replay.js";
import type { UnmaskTrajectory } from "../../../../src/diffusion/samplers/unmask/trajectory.js";
import { sampler } from "../../../../src/diffusion/samplers/unmask.js";
import { close } from "../../../support/close.js";
import { type TokenBatch, withTokens } from "../../../support/token-batch.js";
import { FakeNetwork, layout, MODEL, prompts, SMALL, streams, TOKENS } from "./fake-model.js";

const roundTerms = (...given: Parameters<typeof layRounds>): Batch & TokenBatch => withTokens(layRounds(...given));

/** Selects the values of trajectory b's terms, padding aside, in order. */
function termsOf(batch: Batch, values: ArrayLike<number>, b: number): number[] {
  return [...batch.coefficient].flatMap((c, r) =>
    c === 1 && batch.owner[Number(batch.segment[r])] === b ? [values[r] as number] : [],
  );
}

/** Lists the entries that an entry of a batch sees. */
const seenIn =
  ({ length, attentionBias }: TokenBatch) =>
  (n: number): number[] =>
    Array.from({ length }, (_, m) => m).filter((m) => attentionBias[n * length + m] === 0);

const recorded = (trajectory: UnmaskTrajectory): number[] => trajectory.rounds.flatMap((round) => [...round.logProbs]);

const anyOptions = fc
  .record({
    slotSize: fc.constantFrom(1, 2, 4),
    rounds: fc.integer({ min: 1, max: 6 }),
    order: fc.constantFrom("confidence", "entropy", "random" as const),
    temperature: fc.constantFrom(0, 0.7, 1, 1.3),
    slotFill: fc.constantFrom(...SLOT_FILLS),
    canvasPerPrompt: fc.constantFrom(null, 2),
  })
  .map((part): UnmaskOptions => ({ ...SMALL, ...part, responseLength: 8 }) as UnmaskOptions);

test("packed, round by round and rollout give the same log-probabilities", async () => {
  let [forbidden, outOfOrder] = [0, 0];
  const property = fc.asyncProperty(
    anyOptions,
    fc.constantFrom("causal", "bidirectional" as const),
    fc.constantFrom(undefined, 3),
    fc.integer({ min: 0, max: 1000 }),
    async (any, attention, block, seed) => {
      const slotFill = attention === "causal" ? any.slotFill : "parallel";
      const model = { ...MODEL, attention, ...(attention === "causal" ? {} : { block }) };
      const options = { ...any, slotFill, model };
      const network = new FakeNetwork(seed);
      const tasks = prompts(3, options.promptLength, seed);
      const trajectories = await sampler.rollout(network, tasks, options, streams(3, seed));
      const inOne = roundTerms(trajectories, options, layout(4));
      const apart = roundTerms(trajectories, options, layout(4, { packed: false }));
      const { steps } = sampler.shapes(options);
      assert.deepEqual([inOne.batch, apart.batch], [attention === "causal" ? 4 : 4 * steps, 4 * steps]);
      const [scores, separate] = [network.score(inOne), network.score(apart)];
      trajectories.forEach((trajectory, b) => {
        close(termsOf(inOne, scores, b), recorded(trajectory));
        close(termsOf(inOne, inOne.logProb as Float32Array, b), recorded(trajectory));
        close(termsOf(apart, separate, b), recorded(trajectory));
        close(termsOf(apart, separate, b), termsOf(inOne, scores, b), 1e-12);
        assert.ok(attention === "bidirectional" || packedLength(trajectory) <= inOne.length);
        const order = trajectory.rounds.flatMap((round) => [...round.positions]);
        if (order.some((p, i) => i > 0 && p < (order[i - 1] as number))) outOfOrder++;
        if (trajectory.rounds.some((round) => round.eosAllowed.includes(false))) forbidden++;
      });
    },
  );
  await fc.assert(property, { numRuns: 80, seed: 7 });
  assert.ok(forbidden > 5 && outOfOrder > 5, `too weak: ${forbidden} forbidden, ${outOfOrder} out of order`);
});

test("the layout is prompt, committed tokens, then each round's masks up to its last revealed position", () => {
  const trajectory: UnmaskTrajectory = {
    ...{ prompt: [1, 0], slotSize: 2, responseLength: 6, temperature: 1 },
    rounds: [
      { positions: [2, 3], tokens: [0, 1], logProbs: [-1, -1], eosAllowed: [false, false] },
      { positions: [0, 1], tokens: [1, 1], logProbs: [-1, -1], eosAllowed: [false, false] },
      { positions: [4], tokens: [2], logProbs: [-1], eosAllowed: [true] },
    ],
    response: [1, 1, 0, 1, 2],
    ended: "eos",
  };
  const { mask, pad } = TOKENS;
  const options: UnmaskOptions = { ...SMALL, responseLength: 6, rounds: 3 };
  const packed = roundTerms([trajectory], options, layout(1, { lengthStep: 14 }));
  assert.equal(packedLength(trajectory), 13);
  assert.deepEqual([...packed.inputIds].map(Number), [1, 0, 0, 1, 1, 1, mask, mask, mask, mask, mask, mask, mask, pad]);
  assert.deepEqual([...packed.positionIds].map(Number), [0, 1, 4, 5, 2, 3, 2, 3, 4, 5, 2, 3, 6, 0]);
  const sees = seenIn(packed);
  assert.deepEqual(sees(4), [0, 1, 2, 3, 4]);
  assert.deepEqual(sees(9), [0, 1, 6, 7, 8, 9]);
  assert.deepEqual(sees(11), [0, 1, 2, 3, 10, 11]);
  assert.deepEqual(sees(12), [0, 1, 2, 3, 4, 5, 12]);
  assert.deepEqual([...packed.rows].map(Number), [8, 9, 10, 11, 12]);
  assert.deepEqual([...packed.targets].map(Number), [0, 1, 1, 1, 2]);
  assert.deepEqual([...packed.coefficient], [1, 1, 1, 1, 1]);
  assert.deepEqual([...(packed.features.eos_allowed as Float32Array)], [0, 0, 0, 0, 1]);
});

test("slots that are filled in side by side see neither each other nor later masks", () => {
  const trajectory: UnmaskTrajectory = {
    ...{ prompt: [1], slotSize: 2, slotFill: "autoregressive", responseLength: 6, temperature: 1 },
    rounds: [
      { positions: [0, 1, 4, 5], tokens: [0, 1, 1, 0], logProbs: [-1, -1, -1, -1], eosAllowed: Array(4).fill(false) },
      { positions: [2, 3], tokens: [1, 1], logProbs: [-1, -1], eosAllowed: [false, false] },
    ],
    response: [0, 1, 1, 1, 1, 0],
    ended: "length",
  };
  const { mask } = TOKENS;
  const options: UnmaskOptions = { ...SMALL, responseLength: 6, slotFill: "autoregressive" };
  const packed = roundTerms([trajectory], options, layout(1));
  // prompt, the two slots of round 0, the slot of round 1, the masks up to the first token of each round's last slot
  assert.deepEqual([...packed.inputIds].map(Number), [1, 0, 1, 1, 0, 1, 1, mask, mask, mask, mask, mask, mask]);
  assert.deepEqual([...packed.positionIds].map(Number), [0, 1, 2, 5, 6, 3, 4, 1, 2, 3, 4, 5, 3]);
  const sees = seenIn(packed);
  assert.deepEqual(sees(2), [0, 1, 2]);
  assert.deepEqual(sees(4), [0, 3, 4]);
  assert.deepEqual(sees(6), [0, 1, 2, 3, 4, 5, 6]);
  assert.deepEqual(sees(11), [0, 7, 8, 9, 10, 11]);
  assert.deepEqual(sees(12), [0, 1, 2, 3, 4, 12]);
  assert.deepEqual([...packed.rows.subarray(0, 6)].map(Number), [7, 1, 11, 3, 12, 5]);
});

test("a bidirectional model reads every round in place, and everything sees everything", () => {
  const trajectory: UnmaskTrajectory = {
    ...{ prompt: [1], slotSize: 1, responseLength: 3, temperature: 1 },
    rounds: [
      { positions: [2], tokens: [0], logProbs: [-1], eosAllowed: [true] },
      { positions: [0], tokens: [1], logProbs: [-1], eosAllowed: [false] },
    ],
    response: [1],
    ended: "length",
  };
  const model = { ...MODEL, attention: "bidirectional" as const };
  const options: UnmaskOptions = { ...SMALL, model, slotSize: 1, promptLength: 2, responseLength: 3, rounds: 3 };
  const terms = roundTerms([trajectory], options, layout(1));
  const { mask, pad } = TOKENS;
  assert.deepEqual([terms.batch, terms.length], [3, 5]);
  assert.deepEqual([...terms.inputIds.subarray(0, 10)].map(Number), [1, mask, mask, mask, pad, 1, mask, mask, 0, pad]);
  assert.deepEqual([...terms.positionIds.subarray(0, 5)].map(Number), [0, 1, 2, 3, 0]);
  assert.deepEqual([...terms.rows.subarray(0, 2)].map(Number), [3, 6]);
  for (let n = 0; n < 4; n++)
    assert.deepEqual([...terms.attentionBias.subarray(n * 5, n * 5 + 5)], [0, 0, 0, 0, Math.fround(-1e9)]);
});

test("a bidirectional model gets no sequences for rounds that a subset leaves out", async () => {
  const network = new FakeNetwork(4);
  const model = { ...MODEL, attention: "bidirectional" as const };
  const options: UnmaskOptions = { ...SMALL, model, slotSize: 1, responseLength: 6, rounds: 6, order: "random" };
  const trajectories = await sampler.rollout(network, prompts(3, 3, 8), options, streams(3, 8));
  assert.ok(trajectories.some((t) => t.rounds.length > 2));
  const subset = trajectories.map((t) => t.rounds.map((_, i) => i).slice(-2));
  const terms = roundTerms(trajectories, options, layout(3, { subset }));
  assert.equal(terms.batch, 3 * 2);
  const scores = network.score(terms);
  trajectories.forEach((trajectory, b) => {
    const chosen = trajectory.rounds.slice(-2);
    const expected = chosen.flatMap((round) => round.logProbs);
    close(termsOf(terms, scores, b), expected);
  });
});

test("a subset of the rounds scores the same terms in a shorter sequence", async () => {
  const network = new FakeNetwork(9);
  const options: UnmaskOptions = { ...SMALL, responseLength: 12, rounds: 6, order: "random" };
  const trajectories = await sampler.rollout(network, prompts(4, 3, 9), options, streams(4, 9));
  const subset = trajectories.map((t) => t.rounds.map((_, i) => i).filter((i) => i % 2 === 1));
  const packed = roundTerms(trajectories, options, layout(4, { subset, lengthStep: 64 }));
  const scores = network.score(packed);
  trajectories.forEach((trajectory, b) => {
    const chosen = subset[b] as number[];
    const expected = chosen.flatMap((t) => [...(trajectory.rounds[t]?.logProbs ?? [])]);
    close(termsOf(packed, scores, b), expected);
    assert.ok(packedLength(trajectory, chosen) < packedLength(trajectory) || trajectory.rounds.length < 2);
    const entries = packed.inputIds.subarray(b * 64, (b + 1) * 64).filter((id) => id !== BigInt(TOKENS.pad)).length;
    assert.equal(packedLength(trajectory, chosen), entries);
  });
});

test("what does not fit is refused", async () => {
  const network = new FakeNetwork(1);
  const options: UnmaskOptions = { ...SMALL, order: "left-to-right", temperature: 0.5 };
  const [a] = await sampler.rollout(network, [[1]], options, streams(1, 3));
  const trajectory = a as UnmaskTrajectory;
  const score = (some: readonly UnmaskTrajectory[], changes: Partial<UnmaskOptions>, rest: Partial<StepLayout> = {}) =>
    roundTerms(some, { ...options, ...changes }, layout(2, rest));
  assert.throws(() => score([trajectory], { responseLength: 2, rounds: 1 }), UserError);
  assert.throws(() => score([trajectory], { rounds: 1 }), /does not fit 1 steps/);
  assert.throws(() => score([trajectory], {}, { subset: [[5]] }), UserError);
  assert.throws(() => score([trajectory, { ...trajectory, temperature: 1 }], {}), /temperatures/);
  assert.throws(() => score([trajectory, trajectory, trajectory], {}), UserError);
});
