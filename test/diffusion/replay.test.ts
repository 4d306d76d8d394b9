import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { UserError } from "../../src/core/errors.js";
import type { UnmaskOptions } from "../../src/diffusion/policy.js";
import { type PackedBatch, packedLength, packTrajectories, unpackedRounds } from "../../src/diffusion/replay.js";
import { sampler } from "../../src/diffusion/samplers/unmask.js";
import type { Trajectory } from "../../src/diffusion/trajectory.js";
import { FakeNetwork, prompts, SMALL, streams, TOKENS } from "./fake-model.js";

/** The scores of buffer b's real terms, in order. */
function termsOf(batch: PackedBatch, values: ArrayLike<number>, b: number): number[] {
  const each = batch.rounds * batch.reveals;
  return Array.from({ length: each }, (_, i) => b * each + i).flatMap((term) =>
    batch.mask[term] === 1 ? [values[term] as number] : [],
  );
}

function recorded(trajectory: Trajectory): number[] {
  return trajectory.rounds.flatMap((round) => [...round.logProbs]);
}

function close(actual: readonly number[], expected: readonly number[], tolerance = 1e-6): void {
  assert.equal(actual.length, expected.length);
  actual.forEach((x, i) => {
    assert.ok(Math.abs(x - (expected[i] as number)) < tolerance, `term ${i}: ${x} against ${expected[i]}`);
  });
}

const anyOptions = fc
  .record({
    slotSize: fc.constantFrom(1, 2, 4),
    rounds: fc.integer({ min: 1, max: 6 }),
    order: fc.constantFrom("confidence", "entropy", "random" as const),
    temperature: fc.constantFrom(0, 0.7, 1, 1.3),
  })
  .map((part): UnmaskOptions => ({ ...SMALL, ...part, responseLength: 8 }) as UnmaskOptions);

test("packed, round by round and rollout give the same log-probabilities", async () => {
  let [forbidden, outOfOrder] = [0, 0];
  await fc.assert(
    fc.asyncProperty(anyOptions, fc.integer({ min: 0, max: 1000 }), async (options, seed) => {
      const network = new FakeNetwork(seed);
      const tasks = prompts(3, options.promptLength, seed);
      const trajectories = await sampler.rollout(network, tasks, options, streams(3, seed));
      const packed = packTrajectories(trajectories, { tokens: TOKENS, batch: 4 });
      const scores = network.score(packed);
      trajectories.forEach((trajectory, b) => {
        close(termsOf(packed, scores, b), recorded(trajectory));
        close(termsOf(packed, packed.logProbs, b), recorded(trajectory));
        const rounds = unpackedRounds(trajectory, { tokens: TOKENS });
        const unpacked = network.score(rounds);
        const inOrder = trajectory.rounds.flatMap((_, t) => termsOf(rounds, unpacked, t));
        close(inOrder, recorded(trajectory));
        close(inOrder, termsOf(packed, scores, b), 1e-12);
        assert.ok(packedLength(trajectory) <= packed.length);
        const order = trajectory.rounds.flatMap((round) => [...round.positions]);
        if (order.some((p, i) => i > 0 && p < (order[i - 1] as number))) outOfOrder++;
        if (trajectory.rounds.some((round) => round.eosAllowed.includes(false))) forbidden++;
      });
      assert.deepEqual(packed.roundCount, [...trajectories.map((t) => t.rounds.length), 0]);
    }),
    { numRuns: 60, seed: 7 },
  );
  assert.ok(forbidden > 5 && outOfOrder > 5, `too weak: ${forbidden} forbidden, ${outOfOrder} out of order`);
});

test("the fake network notices a wrong position, token or visibility", async () => {
  const network = new FakeNetwork(8);
  const options: UnmaskOptions = { ...SMALL, responseLength: 8, rounds: 4, order: "random" };
  const trajectories = await sampler.rollout(network, [[1, 0]], options, streams(1, 8));
  const packed = packTrajectories(trajectories, { tokens: TOKENS });
  const right = network.totals(packed)[0] as number;
  const last = Number(packed.rows[packed.mask.lastIndexOf(1)]);
  const wrong: PackedBatch[] = [
    { ...packed, positionIds: packed.positionIds.map((p, n) => (n === 2 ? p + 1n : p)) },
    { ...packed, inputIds: packed.inputIds.map((id, n) => (n === 3 ? 1n - id : id)) },
    {
      ...packed,
      attentionBias: packed.attentionBias.map((x, i) => (i === last * packed.length + last - 1 ? -1e9 - x : x)),
    },
  ];
  for (const batch of wrong) assert.ok(Math.abs((network.totals(batch)[0] as number) - right) > 1e-6);
});

test("the layout is prompt, committed tokens, then each round's masks up to its last revealed position", () => {
  const trajectory: Trajectory = {
    prompt: [1, 0],
    slotSize: 2,
    responseLength: 6,
    temperature: 1,
    rounds: [
      { positions: [2, 3], tokens: [0, 1], logProbs: [-1, -1], eosAllowed: [false, false] },
      { positions: [0, 1], tokens: [1, 1], logProbs: [-1, -1], eosAllowed: [false, false] },
      { positions: [4], tokens: [2], logProbs: [-1], eosAllowed: [true] },
    ],
    response: [1, 1, 0, 1, 2],
    ended: "eos",
  };
  const { mask, pad } = TOKENS;
  const packed = packTrajectories([trajectory], { tokens: TOKENS, length: 14 });
  assert.equal(packedLength(trajectory), 13);
  assert.deepEqual([...packed.inputIds].map(Number), [1, 0, 0, 1, 1, 1, mask, mask, mask, mask, mask, mask, mask, pad]);
  assert.deepEqual([...packed.positionIds].map(Number), [0, 1, 4, 5, 2, 3, 2, 3, 4, 5, 2, 3, 6, 0]);
  const sees = (n: number): number[] =>
    Array.from({ length: 14 }, (_, m) => m).filter((m) => packed.attentionBias[n * 14 + m] === 0);
  assert.deepEqual(sees(4), [0, 1, 2, 3, 4]);
  assert.deepEqual(sees(9), [0, 1, 6, 7, 8, 9]);
  assert.deepEqual(sees(11), [0, 1, 2, 3, 10, 11]);
  assert.deepEqual(sees(12), [0, 1, 2, 3, 4, 5, 12]);
  assert.deepEqual([packed.rounds, packed.reveals], [3, 2]);
  assert.deepEqual([...packed.rows].map(Number), [8, 9, 10, 11, 12, 0]);
  assert.deepEqual([...packed.targets].map(Number), [0, 1, 1, 1, 2, TOKENS.eos]);
  assert.deepEqual([...packed.mask], [1, 1, 1, 1, 1, 0]);
  assert.deepEqual([...packed.eosAllowed], [0, 0, 0, 0, 1, 1]);
});

test("a subset of the rounds scores the same terms in a shorter sequence", async () => {
  const network = new FakeNetwork(9);
  const options: UnmaskOptions = { ...SMALL, responseLength: 12, rounds: 6, order: "random" };
  const trajectories = await sampler.rollout(network, prompts(4, 3, 9), options, streams(4, 9));
  const subset = trajectories.map((t) => t.rounds.map((_, i) => i).filter((i) => i % 2 === 1));
  const packed = packTrajectories(trajectories, { tokens: TOKENS, subset, rounds: 3, reveals: 4, length: 64 });
  const scores = network.score(packed);
  trajectories.forEach((trajectory, b) => {
    const chosen = subset[b] as number[];
    close(
      termsOf(packed, scores, b),
      chosen.flatMap((t) => [...(trajectory.rounds[t]?.logProbs ?? [])]),
    );
    assert.ok(packedLength(trajectory, chosen) < packedLength(trajectory) || trajectory.rounds.length < 2);
    const entries = packed.inputIds.subarray(b * 64, (b + 1) * 64).filter((id) => id !== BigInt(TOKENS.pad)).length;
    assert.equal(packedLength(trajectory, chosen), entries);
  });
});

test("what does not fit is refused", async () => {
  const network = new FakeNetwork(1);
  const options: UnmaskOptions = { ...SMALL, order: "left-to-right", temperature: 0.5 };
  const [a] = await sampler.rollout(network, [[1]], options, streams(1, 3));
  const trajectory = a as Trajectory;
  const tokens = TOKENS;
  assert.throws(() => packTrajectories([trajectory], { tokens, length: 2 }), UserError);
  assert.throws(() => packTrajectories([trajectory], { tokens, reveals: 0 }), UserError);
  assert.throws(() => packTrajectories([trajectory], { tokens, rounds: 0 }), UserError);
  assert.throws(() => packTrajectories([trajectory], { tokens, subset: [[5]] }), UserError);
  assert.throws(() => packTrajectories([trajectory, { ...trajectory, temperature: 1 }], { tokens }), /temperatures/);
});
