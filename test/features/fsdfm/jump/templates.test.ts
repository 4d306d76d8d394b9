import assert from "node:assert/strict";
import { test } from "node:test";
import { Rng } from "../../../../src/core/rng.js";
import type { Batch } from "../../../../src/diffusion/layout/batch.js";
import type { TokenTemplate } from "../../../../src/diffusion/template.js";
import { sampler as jump } from "../../../../src/features/fsdfm/samplers/jump.js";
import { EXAMPLE, streams } from "../../../diffusion/samplers/unmask/fake-model.js";
import { close } from "../../../support/close.js";
import { tokensOf } from "../../../support/token-batch.js";
import { having } from "../../../support/typed.js";
import { FakeFlow, MODEL, SMALL } from "./reference.js";

const sampler = having(jump, "stepTerms", "boundTerms", "supervisedTerms");

test("given texts stay in place, and the steps are scored as they were drawn", async () => {
  const options = { ...SMALL, promptLength: 3, responseLength: 12, room: 2, steps: 3, model: MODEL };
  const flow = new FakeFlow(3);
  for (let seed = 0; seed < 8; seed++) {
    const trajectories = await sampler.rollout(flow, [EXAMPLE], options, streams(1, seed));
    const [trajectory] = trajectories;
    assert.ok(trajectory !== undefined);
    assert.deepEqual(sampler.parse(JSON.parse(JSON.stringify(trajectory)), "here", MODEL), trajectory);
    assert.equal(trajectory.source.length, 4);
    const batch = sampler.stepTerms(trajectories, options, { batch: 1, lengthStep: 1, level: "token" });
    const scores = flow.score(batch as never);
    const actual = [...batch.coefficient].flatMap((c, r) => (c === 0 ? [] : [scores[r] as number]));
    const drawn = trajectory.steps.flatMap((step) => [...step.logProbs]);
    close(actual, drawn);
    const { batch: sequences, length, inputIds, positionIds } = tokensOf(batch);
    for (let b = 0; b < sequences; b++) {
      const at = (position: number): number =>
        [...positionIds.slice(b * length, (b + 1) * length)].findIndex((p, n) => Number(p) === position && n > 0);
      const found = [2, 3, 6, 7, 8, 11].map((p) => Number(inputIds[b * length + at(p)]));
      assert.deepEqual(found, [1, 1, 0, 1, 0, 1]);
    }
    const tokens = sampler.reveals?.(trajectory).map(({ token }) => token);
    assert.deepEqual(tokens, trajectory.response);
    const layout = { batch: 1, lengthStep: 1, samples: 1, coupled: true, rngs: streams(1, seed) };
    const bound = sampler.boundTerms(trajectories, options, layout);
    assert.ok([...bound.coefficient].filter((c) => c !== 0).length === 2 * trajectory.response.length);
  }
});

test("supervised with mask_given: all positions are scored as what they hold", () => {
  const { eos } = MODEL.tokens;
  const template: TokenTemplate = [[1, 0, 1], { name: "a", room: 4 }, [0], { name: "b", room: 2 }];
  const example = { prompt: [0], template, response: [1, eos, 0, eos] };
  const text = [1, 0, 1, 1, eos, eos, eos, 0, 0, eos];
  const options = { ...SMALL, promptLength: 3, responseLength: 12, steps: 3, model: MODEL };
  const layout = { arWeight: null, eosFillWeight: 0.1, maskGiven: true, rng: Rng.named(1, "g") };
  const [batch] = sampler.supervisedTerms([example], options, layout) as [Batch];
  const { rows, positionIds, targets } = tokensOf(batch);
  const seen = [...batch.coefficient].flatMap((c, r) =>
    c === 0 ? [] : [[Number(positionIds[Number(rows[r])]) - 1, Number(targets[r])] as const],
  );
  assert.deepEqual(new Map(seen), new Map(seen.map(([at]) => [at, text[at] as number])));
  assert.equal(seen.length, text.length);
});
