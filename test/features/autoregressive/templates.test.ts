import assert from "node:assert/strict";
import { test } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import type { Batch } from "../../../src/diffusion/layout/batch.js";
import { sampler as autoregressive } from "../../../src/features/autoregressive/samplers/autoregressive.js";
import type { AutoregressiveOptions } from "../../../src/features/autoregressive/terms.js";
import type { AutoregressiveTrajectory } from "../../../src/features/autoregressive/trajectory.js";
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
const OPTIONS = { responseLength: 16, promptLength: 3, kvCache: "auto" as const, model: MODEL };
/** Asserts that the record survives JSON, and is scored as it was drawn: step by step, packed, and as a text. */
function assertScored(
  network: FakeNetwork,
  trajectory: AutoregressiveTrajectory,
  options: AutoregressiveOptions,
): void {
  const { parse, stepTerms, textTerms } = having(autoregressive, "stepTerms", "textTerms");
  assert.deepEqual(parse(JSON.parse(JSON.stringify(trajectory)), "here", MODEL), trajectory);
  const layouts = [true, false].map((packed) => stepTerms([trajectory], options, layout(1, { packed })));
  for (const terms of [...layouts, textTerms([trajectory], options, layout(1))])
    close(scored(network, terms), trajectory.logProbs);
}

test("the autoregressive policy writes the values, and its steps are scored as they were drawn", async () => {
  const options = { ...OPTIONS, temperature: 1, room: 3 };
  const sampler = having(autoregressive, "supervisedTerms");
  for (let seed = 0; seed < 12; seed++) {
    const network = new FakeNetwork(seed);
    const trajectories = await sampler.rollout(network, [EXAMPLE, [1]], options, streams(2, seed));
    for (const [i, trajectory] of trajectories.entries()) {
      assertScored(network, trajectory, options);
      assert.equal(trajectory.template === undefined, i === 1);
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
  const options = { ...OPTIONS, temperature: 6, constrained: true };
  const network = new FakeNetwork(4);
  const drawn = await autoregressive.rollout(network, Array(250).fill(CHOOSING), options, streams(250, 8), 50);
  const outcomes = new Map<string, number>();
  for (const [i, trajectory] of drawn.entries()) {
    const [a = [], b = []] = valuesOf(trajectory);
    assert.ok(isOption("a", a) && isOption("b", b));
    outcomes.set(JSON.stringify([a, b]), Math.exp(trajectory.logProbs.reduce((sum, x) => sum + x, 0)));
    if (i <= 5) assertScored(network, trajectory, options);
  }
  const total = [...outcomes.values()].reduce((sum, p) => sum + p, 0);
  assert.ok(outcomes.size === 8 && Math.abs(total - 1) < 1e-6, `${total} of ${outcomes.size}`);
});

test("explore needs options to draw among", () => {
  assert.match(String(autoregressive.schema.safeParse({ explore: 0.1 }).error), /needs constrained_decoding/);
});
