import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { UserError } from "../../../src/core/errors.js";
import { Rng } from "../../../src/core/rng.js";
import type { Batch } from "../../../src/diffusion/layout/batch.js";
import { type RoundModel, refusalOf } from "../../../src/diffusion/sampler.js";
import type { RowStatistics } from "../../../src/diffusion/samplers/unmask/round.js";
import { sampler } from "../../../src/features/autoregressive/samplers/autoregressive.js";
import {
  type AutoregressiveOptions,
  stepTerms,
  supervisedTerms,
  textTerms,
} from "../../../src/features/autoregressive/terms.js";
import { type AutoregressiveTrajectory, parseTrajectory } from "../../../src/features/autoregressive/trajectory.js";
import { CHOOSING, isOption, valuesOf } from "../../diffusion/samplers/choices.js";
import { sequences } from "../../diffusion/samplers/unmask/enumeration.js";
import {
  EXAMPLE,
  FakeNetwork,
  layout,
  MODEL,
  prompts,
  readAt,
  scored,
  streams,
  TOKENS,
} from "../../diffusion/samplers/unmask/fake-model.js";
import { close } from "../../support/close.js";
import { tokensOf } from "../../support/token-batch.js";
import { having, samplerConfig } from "../../support/typed.js";

const SMALL: AutoregressiveOptions = {
  ...{ responseLength: 4, promptLength: 3, temperature: 1, kvCache: "auto", model: MODEL },
};
const PROMPT = [1, 0];

/** Every response that the policy can write, with the sum of its log-probabilities. */
async function enumerate(network: FakeNetwork, options: AutoregressiveOptions): Promise<Map<string, number>> {
  const outcomes = new Map<string, number>();
  for (const drawn of sequences([0, 1, TOKENS.eos], options.responseLength)) {
    const forced: RoundModel<RowStatistics> = {
      async forwardRound(input) {
        const statistics = await network.forwardRound(input);
        const tokens = tokensOf(input);
        const n = Number(tokens.rows[0]);
        const token = drawn[n + 1 - PROMPT.length] as number;
        statistics.token[0] = BigInt(token);
        const hidden = network.hidden(tokens, 0)[n] as Float64Array;
        statistics.logProb[0] = network.logProbs(hidden, tokens.temperature, true)[token] as number;
        return statistics;
      },
    };
    const [trajectory] = await sampler.rollout(forced, [PROMPT], options, streams(1, 1));
    const { response, logProbs } = trajectory as AutoregressiveTrajectory;
    const total = logProbs.reduce((a, b) => a + b, 0);
    outcomes.set(response.join(), total);
  }
  return outcomes;
}

test("the probabilities of all responses add up to 1", async () => {
  for (const temperature of [0.6, 1]) {
    for (const seed of [1, 5, 9]) {
      const outcomes = await enumerate(new FakeNetwork(seed), { ...SMALL, temperature });
      assert.equal(outcomes.size, 2 ** 4 + 1 + 2 + 4 + 8);
      const total = [...outcomes.values()].reduce((sum, x) => sum + Math.exp(x), 0);
      assert.ok(Math.abs(total - 1) < 1e-6, `seed ${seed}: ${total}`);
    }
  }
});

test("packed, step by step, as a text and rollout give the same log-probabilities", async () => {
  const ends = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(0, 0.7, 1, 1.3), fc.integer({ min: 0, max: 1000 }), async (temperature, seed) => {
      const options = { ...SMALL, temperature, responseLength: 6 };
      const network = new FakeNetwork(seed);
      const tasks = prompts(3, options.promptLength, seed);
      const trajectories = await sampler.rollout(network, tasks, options, streams(3, seed));
      assert.deepEqual(await sampler.rollout(network, tasks, options, streams(3, seed), 2), trajectories);
      const batches = [
        stepTerms(trajectories, options, layout(3)),
        stepTerms(trajectories, options, layout(3, { packed: false })),
        textTerms(trajectories, options, { batch: 3, lengthStep: 1 }),
      ];
      const sizes = batches.map((terms) => tokensOf(terms).batch);
      assert.deepEqual(sizes, [3, 18, 3]);
      for (const terms of batches) {
        const scores = network.score(terms);
        trajectories.forEach((trajectory, b) => {
          ends.add(trajectory.ended);
          assert.deepEqual(parseTrajectory(JSON.parse(JSON.stringify(trajectory)), "here", TOKENS.eos), trajectory);
          const own = [...terms.coefficient].flatMap((c, r) =>
            c === 1 && terms.owner[Number(terms.segment[r])] === b ? [scores[r] as number] : [],
          );
          assert.equal(own.length, trajectory.response.length);
          own.forEach((score, i) => {
            assert.ok(Math.abs(score - (trajectory.logProbs[i] as number)) < 1e-6);
          });
        });
      }
    }),
    { numRuns: 40, seed: 4 },
  );
  assert.deepEqual([...ends].sort(), ["eos", "length"]);
});

test("a subset of the steps scores the same tokens in a shorter sequence", async () => {
  const network = new FakeNetwork(5);
  const options = { ...SMALL, responseLength: 8 };
  const [trajectory] = await sampler.rollout(network, [PROMPT], options, streams(1, 3));
  const { response, logProbs } = trajectory as AutoregressiveTrajectory;
  assert.ok(response.length > 4);
  const terms = stepTerms([trajectory as AutoregressiveTrajectory], options, layout(1, { subset: [[1, 3]] }));
  assert.equal(tokensOf(terms).length, 2 + 3);
  const scores = network.score(terms);
  [1, 3].forEach((step, i) => {
    assert.ok(Math.abs((scores[i] as number) - (logProbs[step] as number)) < 1e-6);
  });
});

test("its supervised loss predicts every token of the response and EOS, packed or not", () => {
  const examples = [
    { prompt: [1, 0], response: [0, 1] },
    { prompt: [1], response: [1] },
  ];
  const supervised = { arWeight: null, eosFillWeight: 0, rng: Rng.named(1, "sft") };
  const [plain, ...none] = supervisedTerms(examples, SMALL, supervised);
  assert.ok(plain !== undefined && none.length === 0);
  const real = [...plain.coefficient].flatMap((c, r) =>
    c === 0 ? [] : [[Number(tokensOf(plain).rows[r]), Number(tokensOf(plain).targets[r]), c]],
  );
  const weight = Math.fround(1 / 5);
  const { eos } = TOKENS;
  const expected = Object.entries({ 1: 0, 2: 1, 3: eos, 7: 1, 8: eos });
  assert.deepEqual(
    real,
    expected.map(([row, target]) => [Number(row), target, weight]),
  );
  const packed = supervisedTerms(examples, SMALL, { ...supervised, packLength: 12 });
  assert.equal(packed.length, 1);
  const network = new FakeNetwork(2);
  const everywhere = (batch: typeof plain): Float32Array => batch.coefficient.map(() => 1);
  const loss = network.values(plain, everywhere(plain))[0] as number;
  const [one] = packed as [typeof plain];
  assert.ok(Math.abs((network.values(one, everywhere(one))[0] as number) - loss) < 1e-6);
  assert.throws(() => supervisedTerms(examples, SMALL, { ...supervised, packLength: 3 }), UserError);
  assert.throws(() => supervisedTerms(examples, SMALL, { ...supervised, arWeight: 1 }), /ar_weight|weigh/);
});

test("what cannot be sampled or was not is refused", () => {
  const config = samplerConfig(sampler);
  assert.throws(() => sampler.options(config, { ...MODEL, attention: "bidirectional" }), UserError);
  assert.match(String(refusalOf(sampler, "bound", SMALL)?.reason), /no bound/);
  assert.equal(refusalOf(sampler, "text", SMALL)?.reason, undefined);
  const response = { response: [0, 1], logProbs: [-1, -1], ended: "length" };
  const good = { prompt: [1], responseLength: 2, temperature: 1, ...response };
  assert.deepEqual(parseTrajectory(good, "x", TOKENS.eos), good);
  const wrongs = [
    { logProbs: [-1] },
    { ended: "eos" },
    { responseLength: 3 },
    { response: [0, TOKENS.eos] },
    { extra: 1 },
  ];
  for (const wrong of wrongs)
    assert.throws(() => parseTrajectory({ ...good, ...wrong }, "line 3", TOKENS.eos), /line 3: inconsistent/);
});

const { eos: EOS } = TOKENS;
const OPTIONS = { responseLength: 16, promptLength: 3, kvCache: "auto" as const, model: MODEL };
/** Asserts that the record survives JSON, and is scored as it was drawn: step by step, packed, and as a text. */
function assertScored(
  network: FakeNetwork,
  trajectory: AutoregressiveTrajectory,
  options: AutoregressiveOptions,
): void {
  const { parse, stepTerms, textTerms } = having(sampler, "stepTerms", "textTerms");
  assert.deepEqual(parse(JSON.parse(JSON.stringify(trajectory)), "here", MODEL), trajectory);
  const layouts = [true, false].map((packed) => stepTerms([trajectory], options, layout(1, { packed })));
  for (const terms of [...layouts, textTerms([trajectory], options, layout(1))])
    close(scored(network, terms), trajectory.logProbs);
}

test("the autoregressive policy writes the values, and its steps are scored as they were drawn", async () => {
  const options = { ...OPTIONS, temperature: 1, room: 3 };
  const { supervisedTerms } = having(sampler, "supervisedTerms");
  for (let seed = 0; seed < 12; seed++) {
    const network = new FakeNetwork(seed);
    const trajectories = await sampler.rollout(network, [EXAMPLE, [1]], options, streams(2, seed));
    for (const [i, trajectory] of trajectories.entries()) {
      assertScored(network, trajectory, options);
      assert.equal(trajectory.template === undefined, i === 1);
    }
  }
  const [batch] = supervisedTerms(
    [{ prompt: [0], template: [[1, 1], { name: "a", room: 3 }, [0], { name: "b", room: 2 }], response: [1, EOS, EOS] }],
    options,
    { arWeight: null, eosFillWeight: 0, rng: Rng.named(0, "s") },
  ) as [Batch];
  assert.deepEqual([...tokensOf(batch).inputIds].slice(0, 6).map(Number), [0, 1, 1, 1, EOS, 0]);
  // each token is predicted from the one before it, the second value from what is given
  assert.deepEqual(readAt(batch, 1), [1, 2, 5]);
  const masked = { arWeight: null, eosFillWeight: 0.1, maskGiven: true, rng: Rng.named(1, "g") };
  const example = { prompt: [0], template: [[1, 0, 1], { name: "a", room: 4 }], response: [1, EOS] };
  assert.throws(() => supervisedTerms([example], options, masked), /masks nothing/);
});

test("constrained: every value is an option or nothing, all add up to 1, and the record and its text are scored as drawn", async () => {
  const options = { ...OPTIONS, temperature: 6, constrained: true };
  const network = new FakeNetwork(4);
  const drawn = await sampler.rollout(network, Array(250).fill(CHOOSING), options, streams(250, 8), 50);
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
  assert.match(String(sampler.schema.safeParse({ explore: 0.1 }).error), /needs constrained_decoding/);
});
