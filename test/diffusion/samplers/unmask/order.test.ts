import assert from "node:assert/strict";
import { test } from "node:test";
import type { RoundModel } from "../../../../src/diffusion/sampler.js";
import type { SlotOrder, UnmaskOptions } from "../../../../src/diffusion/samplers/unmask/options.js";
import type { RowStatistics } from "../../../../src/diffusion/samplers/unmask/round.js";
import { sampler } from "../../../../src/diffusion/samplers/unmask.js";
import { tokensOf } from "../../../support/token-batch.js";
import { SMALL, streams } from "./fake-model.js";

const PROMPT = [1, 0, 1];
/** Four slots of two positions, of which each round reveals one. */
const OPTIONS: UnmaskOptions = { ...SMALL, slotSize: 2, responseLength: 8, rounds: 4 };

/** The model's top probability at each response position, equal in every round. */
const TOP = [0.5, 0.9, 0.9, 0.1, 0.7, 0.8, 0.6, 0.7];
const TOP2 = [0.1, 0.1, 0.8, 0.05, 0.4, 0.6, 0.35, 0.3];
const ENTROPY = [0.9, 0.1, 0.2, 1, 0.4, 0.5, 0.3, 0.2];

/** Makes the model. @param wantsEos response positions whose most probable token is EOS. */
function model(wantsEos: readonly number[]): RoundModel<RowStatistics> {
  return {
    async forwardRound(input) {
      const { rows, positionIds } = tokensOf(input);
      const at = Array.from(rows, (row) => Number(positionIds[Number(row)]) - PROMPT.length);
      const of = (values: readonly number[]) => Float32Array.from(at, (position) => values[position] ?? 0);
      const twice = at.flatMap(() => [0, 0]);
      const two = BigInt64Array.from(twice, BigInt);
      return {
        token: two,
        logProb: Float32Array.from(twice, () => -1),
        argmax: two,
        argmaxLogProb: Float32Array.from(twice, () => -1),
        top: of(TOP),
        top2: of(TOP2),
        entropy: of(ENTROPY),
        eosIsArgmax: Uint8Array.from(at, (position) => Number(wantsEos.includes(position))),
        candidateLogProb: new Float32Array(at.length),
      };
    },
  };
}

/** Lists the slots in the order in which they were revealed. */
async function revealed(options: Partial<UnmaskOptions>, wantsEos: number[] = [], seed = 1): Promise<number[]> {
  const [trajectory] = await sampler.rollout(model(wantsEos), [PROMPT], { ...OPTIONS, ...options }, streams(1, seed));
  return (trajectory?.rounds ?? []).map(({ positions }) => {
    assert.deepEqual(positions, [positions[0], (positions[0] as number) + 1]);
    return (positions[0] as number) / 2;
  });
}

// computed by hand: for each slot, the score of its first position
const CASES: readonly [SlotOrder, readonly number[]][] = [
  // .5 .9 .7 .6
  ["confidence", [1, 2, 3, 0]],
  // .4 .1 .3 .25
  ["margin", [0, 2, 3, 1]],
  // the least entropy first: .9 .2 .4 .3
  ["entropy", [1, 3, 2, 0]],
  ["left-to-right", [0, 1, 2, 3]],
];
for (const [order, expected] of CASES) {
  test(`the surest slot comes first: ${order}`, async () => {
    assert.deepEqual(await revealed({ order }), expected);
  });
}

test("a rank and a count of one's own choose the slots, by what a round knows before it draws", async () => {
  const seen: unknown[] = [];
  const rank: UnmaskOptions["rank"] = ({ slot, ...of }) => {
    seen.push([slot, ...[of.top, of.top2, of.entropy].map((x) => Math.round(100 * x) / 100), of.round]);
    return 9 - Math.abs(slot - 2);
  };
  assert.deepEqual(await revealed({ rank }), [2, 1, 3, 0]);
  assert.deepEqual(seen[0], [0, 0.5, 0.1, 0.9, 0]);
  assert.deepEqual(seen[1], [1, 0.9, 0.8, 0.2, 0]);
  assert.equal(seen.length, 4 + 3 + 2 + 1, "open slots alone are ranked");
  const counted = new Map<number, unknown>();
  const count: UnmaskOptions["count"] = (of) => {
    counted.set(of.round, of);
    return 1;
  };
  const own = { ...OPTIONS, rank, count, rounds: 3 };
  const [{ rounds } = { rounds: [] }] = await sampler.rollout(model([]), [PROMPT], own, streams(1, 1));
  const slots = rounds.map(({ positions }) => positions.flatMap((at) => (at % 2 === 0 ? [at / 2] : [])));
  assert.deepEqual(slots, [[2], [1], [0, 3]]);
  const ranks = [
    [9, 8, 8, 7],
    [8, 8, 7],
  ].map((ranks, round) => ({ round, rounds: 3, ranks }));
  assert.deepEqual([...counted.values()], ranks);
  await assert.rejects(revealed({ rank, order: "blanks" }), /of one's own has no effect/);
});

test("at random every slot is as likely as any to come first", async () => {
  const first = [0, 0, 0, 0];
  for (let seed = 0; seed < 400; seed++) {
    const [slot] = (await revealed({ order: "random" }, [], seed)) as [number];
    first[slot] = (first[slot] as number) + 1;
  }
  for (const count of first) assert.ok(count > 65 && count < 140, `${first}`);
});

test("a slot that wants EOS in any of its positions waits until nothing is open before it", async () => {
  assert.deepEqual(await revealed({ order: "confidence" }, [3]), [2, 3, 0, 1]);
  assert.deepEqual(await revealed({ order: "confidence" }, [2, 5]), [3, 0, 1, 2]);
});
