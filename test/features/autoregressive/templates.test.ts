import assert from "node:assert/strict";
import { test } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import type { Batch } from "../../../src/diffusion/layout/batch.js";
import { sampler as autoregressive } from "../../../src/features/autoregressive/samplers/autoregressive.js";
import { CHOOSING, isOption, valuesOf } from "../../diffusion/samplers/choices.js";
import {
  EXAMPLE,
  FakeNetwork,
  layout,
  MODEL,
  readAt,
  scored,
  streams,
  TOKENS,
} from "../../diffusion/samplers/unmask/fake-model.js";
import { close } from "../../support/close.js";
import { tokensOf } from "../../support/token-batch.js";
import { having } from "../../support/typed.js";

const EOS = TOKENS.eos;
test("the autoregressive policy writes the values, and its steps are scored as they were drawn", async () => {
  const options = {
    responseLength: 16,
    promptLength: 3,
    temperature: 1,
    room: 3,
    kvCache: "auto" as const,
    model: MODEL,
  };
  const sampler = having(autoregressive, "stepTerms", "textTerms", "supervisedTerms");
  for (let seed = 0; seed < 12; seed++) {
    const network = new FakeNetwork(seed);
    const trajectories = await sampler.rollout(network, [EXAMPLE, [1]], options, streams(2, seed));
    for (const [i, trajectory] of trajectories.entries()) {
      assert.deepEqual(sampler.parse(JSON.parse(JSON.stringify(trajectory)), "here", MODEL), trajectory);
      assert.equal(trajectory.template === undefined, i === 1);
      for (const packed of [true, false])
        close(scored(network, sampler.stepTerms([trajectory], options, layout(1, { packed }))), [
          ...trajectory.logProbs,
        ]);
      close(scored(network, sampler.textTerms([trajectory], options, layout(1))), [...trajectory.logProbs]);
    }
  }
  const [batch] = sampler.supervisedTerms(
    [{ prompt: [0], template: [[1, 1], { name: "a", room: 3 }, [0], { name: "b", room: 2 }], response: [1, EOS, EOS] }],
    options,
    { arWeight: null, eosFillWeight: 0, rng: Rng.named(0, "s") },
  ) as [Batch];
  assert.deepEqual([...tokensOf(batch).inputIds].slice(0, 6).map(Number), [0, 1, 1, 1, EOS, 0]);
  // each token is predicted from the one before it, the second value from what is given
  assert.deepEqual(readAt(batch, 1), [1, 2, 5]);
  const masked = { arWeight: null, eosFillWeight: 0.1, maskGiven: true, rng: Rng.named(1, "g") };
  const example = { prompt: [0], template: [[1, 0, 1], { name: "a", room: 4 }], response: [1, EOS] };
  assert.throws(() => sampler.supervisedTerms([example], options, masked), /masks nothing/);
});

test("constrained: every value is an option or nothing, all add up to 1, and the record and its text are scored as drawn", async () => {
  const sampler = having(autoregressive, "stepTerms", "textTerms");
  const options = {
    responseLength: 16,
    promptLength: 3,
    temperature: 6,
    constrained: true,
    kvCache: "auto" as const,
    model: MODEL,
  };
  const network = new FakeNetwork(4);
  const drawn = await sampler.rollout(network, Array(250).fill(CHOOSING), options, streams(250, 8), 50);
  const outcomes = new Map<string, number>();
  for (const [i, trajectory] of drawn.entries()) {
    const [a = [], b = []] = valuesOf(trajectory);
    assert.ok(isOption("a", a) && isOption("b", b));
    outcomes.set(JSON.stringify([a, b]), Math.exp(trajectory.logProbs.reduce((sum, x) => sum + x, 0)));
    if (i > 5) continue;
    assert.deepEqual(sampler.parse(JSON.parse(JSON.stringify(trajectory)), "here", MODEL), trajectory);
    for (const packed of [true, false])
      close(scored(network, sampler.stepTerms([trajectory], options, layout(1, { packed }))), trajectory.logProbs);
    close(scored(network, sampler.textTerms([trajectory], options, layout(1))), trajectory.logProbs);
  }
  const total = [...outcomes.values()].reduce((sum, p) => sum + p, 0);
  assert.ok(outcomes.size === 8 && Math.abs(total - 1) < 1e-6, `${total} of ${outcomes.size}`);
});

test("explore needs options to draw among", () => {
  assert.match(String(autoregressive.schema.safeParse({ explore: 0.1 }).error), /needs constrained_decoding/);
});
