import assert from "node:assert/strict";
import { test } from "node:test";
import type { UnmaskOptions } from "../../../../src/diffusion/samplers/unmask/options.js";
import { drafts, type UnmaskTrajectory } from "../../../../src/diffusion/samplers/unmask/trajectory.js";
import { sampler } from "../../../../src/diffusion/samplers/unmask.js";
import { FakeNetwork, prompts, SMALL, streams } from "./fake-model.js";

const COUNT = 24;
const options: UnmaskOptions = { ...SMALL, rounds: 3, responseLength: 6 };

async function play(changes: Partial<UnmaskOptions>): Promise<UnmaskTrajectory[]> {
  return sampler.rollout(new FakeNetwork(3), prompts(COUNT, 3, 4), { ...options, ...changes }, streams(COUNT, 5));
}

for (const slotFill of ["parallel", "autoregressive"] as const) {
  test(`recording drafts changes nothing else (${slotFill})`, async () => {
    const [plain, recorded] = [await play({ slotFill }), await play({ slotFill, recordDrafts: true })];
    assert.ok(recorded.every(({ rounds }) => rounds.every(({ draft }) => draft !== undefined)));
    const without = recorded.map((t) => ({ ...t, rounds: t.rounds.map(({ draft: _, ...round }) => round) }));
    assert.deepEqual(without, plain);
    assert.ok(plain.every(({ rounds }) => rounds.every((round) => !("draft" in round))));
  });

  test(`a draft is what was revealed and, elsewhere, what the network would write; the last is the response (${slotFill})`, async () => {
    const trajectories = await play({ slotFill, recordDrafts: true });
    let completed = 0;
    for (const trajectory of trajectories) {
      const all = drafts(trajectory);
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

test("drafts survive the record on disk", async () => {
  for (const trajectory of await play({ recordDrafts: true }))
    assert.deepEqual(sampler.parse(JSON.parse(JSON.stringify(trajectory)), "here", options.model), trajectory);
});
