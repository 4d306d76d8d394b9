import assert from "node:assert/strict";
import { test } from "node:test";
import type { UnmaskOptions } from "../../../../src/diffusion/samplers/unmask/options.js";
import { drafts, type UnmaskTrajectory } from "../../../../src/diffusion/samplers/unmask/trajectory.js";
import { sampler } from "../../../../src/diffusion/samplers/unmask.js";
import { userError } from "../../../support/user-error.js";
import { FakeNetwork, prompts, SMALL, streams, TOKENS } from "./fake-model.js";

const COUNT = 24;
const options: UnmaskOptions = { ...SMALL, rounds: 3, responseLength: 6 };

const play = async (changes: Partial<UnmaskOptions>): Promise<UnmaskTrajectory[]> =>
  sampler.rollout(new FakeNetwork(3), prompts(COUNT, 3, 4), { ...options, ...changes }, streams(COUNT, 5));

const WAYS = (["confidence", "random", "left-to-right"] as const).flatMap((order) =>
  (["parallel", "autoregressive"] as const).map((slotFill) => ({ order, slotFill })),
);

for (const way of WAYS) {
  const name = `${way.order}, ${way.slotFill}`;

  test(`recording drafts changes nothing else (${name})`, async () => {
    const [plain, recorded] = [await play(way), await play({ ...way, recordDrafts: true })];
    assert.ok(recorded.every(({ rounds }) => rounds.every(({ draft }) => draft !== undefined)));
    const without = recorded.map((t) => ({ ...t, rounds: t.rounds.map(({ draft: _, ...round }) => round) }));
    assert.deepEqual(without, plain);
    assert.ok(plain.every(({ rounds }) => rounds.every((round) => !("draft" in round))));
  });

  test(`a draft is what was revealed and, elsewhere, what the network would write; the last is the response (${name})`, async () => {
    const trajectories = await play({ ...way, recordDrafts: true });
    let completed = 0;
    for (const trajectory of trajectories) {
      const all = drafts(trajectory, TOKENS.eos);
      assert.equal(all.length, trajectory.rounds.length);
      assert.equal(all.at(-1), trajectory);
      const revealed = new Map<number, number>();
      trajectory.rounds.slice(0, -1).forEach((round, t) => {
        round.positions.forEach((position, i) => void revealed.set(position, round.tokens[i] as number));
        const { response } = all[t] as UnmaskTrajectory;
        assert.equal(response.length, trajectory.responseLength);
        const open = response.flatMap((token, p) => (revealed.has(p) ? [] : [token]));
        assert.deepEqual(open, round.draft);
        for (const [position, token] of revealed) assert.equal(response[position], token);
        completed += open.length;
      });
    }
    assert.ok(completed > COUNT);
  });
}

test("a rollout that was recorded without drafts has none", async () => {
  const long = (await play({})).find(({ rounds }) => rounds.length > 1) as UnmaskTrajectory;
  assert.throws(() => drafts(long, options.model.tokens.eos), userError(/round 0 .* no draft of its 4 open positions/));
});

test("drafts survive the record on disk", async () => {
  for (const trajectory of await play({ recordDrafts: true }))
    assert.deepEqual(sampler.parse(JSON.parse(JSON.stringify(trajectory)), "here", options.model), trajectory);
});
