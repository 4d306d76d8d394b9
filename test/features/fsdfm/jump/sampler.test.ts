import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { UserError } from "../../../../src/core/errors.js";
import { groupBy } from "../../../../src/core/group-by.js";
import { Rng } from "../../../../src/core/rng.js";
import type { Batch } from "../../../../src/diffusion/layout/batch.js";
import type { StepLayout } from "../../../../src/diffusion/layout/scorings.js";
import { type RoundModel, refusalOf } from "../../../../src/diffusion/sampler.js";
import type { TokenTemplate } from "../../../../src/diffusion/template.js";
import { type Drawn, transitionHead } from "../../../../src/features/fsdfm/jump/heads.js";
import { flowSteps, type JumpOptions, ordinaryTokens } from "../../../../src/features/fsdfm/jump/options.js";
import {
  type JumpTrajectory,
  jumpReveals,
  parseJumpTrajectory,
  responseOf,
} from "../../../../src/features/fsdfm/jump/trajectory.js";
import { sampler as jump } from "../../../../src/features/fsdfm/samplers/jump.js";
import { vector } from "../../../../src/onnx/tensors.js";
import { assertFrequencies, assertZeroMean, sequences } from "../../../diffusion/samplers/unmask/enumeration.js";
import { EXAMPLE, prompts, streams, TOKENS } from "../../../diffusion/samplers/unmask/fake-model.js";
import { close } from "../../../support/close.js";
import { tokensOf } from "../../../support/token-batch.js";
import { having, samplerConfig } from "../../../support/typed.js";
import { FakeFlow, MODEL, SMALL } from "./reference.js";

const sampler = having(jump, "stepTerms", "boundTerms", "supervisedTerms");
const PROMPT = [1, 0];

const layout = (batch: number, level: StepLayout["level"]): StepLayout => ({ batch, lengthStep: 1, level });
const logPi = (trajectory: JumpTrajectory): number =>
  trajectory.steps.reduce((sum, step) => sum + step.logProbs.reduce((a, x) => a + x, 0), 0);

/** Makes a flow with prescribed draws that reports its own probabilities for them. */
function forced(flow: FakeFlow, draws: readonly number[]): RoundModel<Drawn> {
  let next = 0;
  return {
    async forwardRound(input) {
      const token = BigInt64Array.from(tokensOf(input).rows, () => BigInt(draws[next++] as number));
      const terms = {
        inputs: input.inputs,
        head: transitionHead,
        headInputs: { ...input.headInputs, targets: vector(token) },
        coefficient: new Float32Array(token.length).fill(1),
      };
      return { token, logProb: Float32Array.from(flow.score(terms)) };
    },
  };
}

/** Enumerates every trajectory from one source. */
async function enumerate(flow: FakeFlow, options: JumpOptions): Promise<JumpTrajectory[]> {
  const out: JumpTrajectory[] = [];
  for (const path of sequences(ordinaryTokens(options.model), options.steps * options.responseLength)) {
    const [trajectory] = await sampler.rollout(forced(flow, path), [PROMPT], options, streams(1, 1));
    out.push(trajectory as JumpTrajectory);
  }
  return out;
}

const CASES: [string, JumpOptions][] = [
  ["three steps", SMALL],
  ["one step, which is the last", { ...SMALL, steps: 1 }],
  ["quadratic schedule, hot", { ...SMALL, exponent: 2, temperature: 1.6 }],
  ["one position, four steps, cold", { ...SMALL, responseLength: 1, steps: 4, temperature: 0.6 }],
];

test("the probabilities of all ways through the steps add up to 1", async () => {
  for (const [name, options] of CASES) {
    for (const seed of [1, 9]) {
      const total = (await enumerate(new FakeFlow(seed), options)).reduce((sum, t) => sum + Math.exp(logPi(t)), 0);
      assert.ok(Math.abs(total - 1) < 1e-6, `${name}, seed ${seed}: ${total}`);
    }
  }
});

test("the score has zero mean under a constant reward, and not if what lies behind EOS is left out", async () => {
  let worstWrong = 0;
  for (const [name, options] of CASES) {
    const flow = new FakeFlow(19);
    const outcomes = await enumerate(flow, options);
    const terms = sampler.stepTerms(outcomes, options, layout(outcomes.length, "sequence"));
    const behind = terms.coefficient.slice();
    let r = 0;
    for (const { steps, response } of outcomes) {
      for (const { tokens } of steps) {
        tokens.forEach((_, position) => {
          if (position >= response.length) behind[r] = 0;
          r++;
        });
      }
    }
    const cut = { ...terms, coefficient: behind };
    const { parameters } = flow.network;
    const indices = [7, 13, 420, 460, 500, 560, parameters.length - 17];
    const values = (): [number[], number[]] => [flow.values(terms), flow.values(cut)];
    worstWrong = Math.max(worstWrong, assertZeroMean(name, parameters, indices, values));
  }
  assert.ok(worstWrong > 1e-3, `a wrong score passes too: ${worstWrong}`);
});

test("sampled frequencies match the probabilities", async () => {
  const options: JumpOptions = { ...SMALL, steps: 2 };
  const flow = new FakeFlow(3);
  const count = 3000;
  const sampled = await sampler.rollout(flow, Array<number[]>(count).fill(PROMPT), options, streams(count, 5), 100);
  const keyOf = (t: JumpTrajectory): string => t.steps.map((s) => s.tokens.join(",")).join(" | ");
  const bySource = groupBy(sampled, ({ source }) => source.join());
  assert.equal(bySource.size, 9);
  const cells = [...bySource.values()].flatMap((some) =>
    [...groupBy(some, keyOf).values()].map((same) => {
      return [same.length, some.length * Math.exp(logPi(same[0] as JumpTrajectory))] as const;
    }),
  );
  assertFrequencies(cells, count);
});

const anyOptions = fc
  .record({
    steps: fc.integer({ min: 1, max: 5 }),
    responseLength: fc.integer({ min: 1, max: 6 }),
    temperature: fc.constantFrom(0.5, 1, 1.4),
    exponent: fc.constantFrom(1, 2),
  })
  .map((part): JumpOptions => ({ ...SMALL, ...part }));

test("rollouts are scored again with their own log-probabilities, survive JSON and do not depend on the batch", async () => {
  const ends = new Set<string>();
  const property = fc.asyncProperty(anyOptions, fc.integer({ min: 0, max: 1000 }), async (options, seed) => {
    const flow = new FakeFlow(seed);
    const tasks = prompts(3, options.promptLength, seed);
    const trajectories = await sampler.rollout(flow, tasks, options, streams(3, seed));
    assert.deepEqual(await sampler.rollout(flow, tasks, options, streams(3, seed), 2), trajectories);
    const terms = sampler.stepTerms(trajectories, options, layout(4, "token"));
    const recorded = terms.logProb as Float32Array;
    const real = [...terms.coefficient].flatMap((c, r) => (c === 1 ? [r] : []));
    assert.equal(real.length, 3 * options.steps * options.responseLength);
    const scores = flow.score(terms);
    for (const r of real) assert.ok(Math.abs((scores[r] as number) - (recorded[r] as number)) < 1e-5);
    for (const trajectory of trajectories) {
      assert.deepEqual(parseJumpTrajectory(JSON.parse(JSON.stringify(trajectory)), "here", MODEL), trajectory);
      assert.equal(jumpReveals(trajectory).length, trajectory.response.length);
      ends.add(trajectory.ended);
    }
  });
  await fc.assert(property, { numRuns: 40, seed: 11 });
  assert.deepEqual([...ends].sort(), ["eos", "length"]);
});

test("a subset of the steps is laid out with its share", async () => {
  const options: JumpOptions = { ...SMALL, steps: 4 };
  const trajectories = await sampler.rollout(new FakeFlow(2), [PROMPT], options, streams(1, 2));
  const terms = sampler.stepTerms(trajectories, options, { ...layout(1, "step"), subset: [[1, 3]] });
  const { batch, rows, conditions, features } = tokensOf(terms);
  assert.deepEqual([batch, rows.length], [2, 2 * options.responseLength]);
  assert.deepEqual(terms.owner, [0, 0]);
  assert.deepEqual(terms.step, [1, 3]);
  assert.deepEqual([...(terms.sampled?.share ?? [])], [2, 2]);
  assert.equal(terms.sampled?.of, 4);
  assert.deepEqual([...(conditions.time as Float32Array)].slice(0, 2), [0.25, 0.75]);
  // the head does not read the hazard of the last step, but its logarithm must be finite
  const { last, hazard } = features as Record<string, Float32Array>;
  const { responseLength } = options;
  assert.deepEqual([...(last as Float32Array)], [...Array(responseLength).fill(0), ...Array(responseLength).fill(1)]);
  assert.ok((hazard as Float32Array).every((h) => h > 0 && Number.isFinite(h)));
  // with one ratio per token, the sampled terms represent the tokens of all steps
  const tokens = sampler.stepTerms(trajectories, options, { ...layout(1, "token"), subset: [[1, 3]] });
  assert.equal(tokens.sampled?.of, 4 * responseLength);
  assert.throws(() => sampler.stepTerms(trajectories, options, { ...layout(1, "step"), subset: [[4]] }), UserError);
});

test("text and noise are made of every token but mask and pad, of which one may be EOS", () => {
  const of = (tokens: typeof TOKENS): number[] => ordinaryTokens({ ...MODEL, tokens, vocabulary: 6 });
  assert.deepEqual(of({ eos: 1, mask: 3, pad: 4 }), [0, 1, 2, 5]);
  assert.deepEqual(of({ eos: 1, mask: 3, pad: 1 }), [0, 1, 2, 4, 5]);
  assert.deepEqual(of({ eos: 3, mask: 3, pad: 4 }), [0, 1, 2, 3, 5]);
});

test("steps are a uniform grid; the last one goes all the way", () => {
  const actual = flowSteps({ steps: 4, exponent: 1 }).flatMap((s) => [s.time, s.step]);
  assert.deepEqual(actual, [0, 0.25, 0.25, 0.25, 0.5, 0.25, 0.75, 0.25]);
  const hazards = flowSteps({ steps: 3, exponent: 2 }).map((s) => s.hazard);
  // r = (1 - 1/9) / 1, then (1 - 4/9) / (1 - 1/9)
  assert.ok(Math.abs((hazards[0] as number) + Math.log(8 / 9)) < 1e-12);
  assert.ok(Math.abs((hazards[1] as number) + Math.log(5 / 8)) < 1e-12);
  assert.equal(hazards[2], Number.POSITIVE_INFINITY);
});

test("a response ends with the first EOS of the last canvas", () => {
  const { eos } = TOKENS;
  assert.deepEqual(responseOf([0, eos, 1, eos], eos), { response: [0, eos], ended: "eos" });
  assert.deepEqual(responseOf([eos, 0], eos), { response: [eos], ended: "eos" });
  assert.deepEqual(responseOf([0, 1], eos), { response: [0, 1], ended: "length" });
});

test("a token's step is the one after which it never changed", () => {
  const step = (tokens: number[], logProbs: number[]) => ({ tokens, logProbs });
  const trajectory: JumpTrajectory = {
    ...{ prompt: PROMPT, responseLength: 3, temperature: 1, exponent: 1, response: [0, 1, 1], ended: "length" },
    source: [0, 1, 0],
    steps: [step([0, 0, 1], [-1, -2, -3]), step([0, 1, 1], [-4, -5, -6]), step([0, 1, 1], [-7, -8, -9])],
  };
  assert.deepEqual(
    jumpReveals(trajectory).flatMap((r) => [r.step, r.logProb]),
    [0, -1, 1, -5, 0, -3],
  );
});

test("what cannot have been sampled is refused, with its reason", async () => {
  const [good] = (await sampler.rollout(new FakeFlow(1), [PROMPT], SMALL, streams(1, 1))) as [JumpTrajectory];
  const edited = (change: Partial<JumpTrajectory>): unknown => ({ ...good, ...change });
  const cases: [unknown, RegExp][] = [
    [null, /inconsistent trajectory/],
    [edited({ source: [0] }), /the source has 1 tokens on a canvas of 2/],
    [edited({ source: [0, TOKENS.mask] }), /token 3, which is never sampled/],
    [edited({ steps: [{ tokens: [0, 1], logProbs: [-1] }] }), /step 0 has 1 log-probabilities/],
    [edited({ steps: [{ tokens: [0, 1], logProbs: [-1, 0.5] }] }), /0.5 at position 1 is no log-probability/],
    [edited({ steps: [{ tokens: [0, 1], logProbs: [0.5, -1] }] }), /0.5 at position 0 is no log-probability/],
    [edited({ response: [1, 1, 1] }), /not what its last canvas spells/],
    [edited({ ended: good.ended === "eos" ? "length" : "eos" }), /it ended by/],
  ];
  for (const [data, message] of cases) assert.throws(() => parseJumpTrajectory(data, "here", MODEL), message);
});

test("what a model must not do, and prompts and settings that cannot run, are refused", async () => {
  const flow = new FakeFlow(1);
  await assert.rejects(sampler.rollout(flow, [[1, 1, 1, 1]], SMALL, streams(1, 1)), UserError);
  await assert.rejects(sampler.rollout(flow, [[1]], SMALL, []), /random streams/);
  await assert.rejects(sampler.rollout(flow, [[1]], { ...SMALL, temperature: 0 }, streams(1, 1)), /no greedy/);
  const nan: RoundModel<Drawn> = {
    forwardRound: async (input) => {
      const drawn = await flow.forwardRound(input);
      return { ...drawn, logProb: drawn.logProb.fill(Number.NaN) };
    },
  };
  await assert.rejects(sampler.rollout(nan, [[1]], SMALL, streams(1, 1)), /non-finite log-probability/);
  const config = samplerConfig(sampler);
  assert.throws(() => sampler.options(config, { ...MODEL, attention: "causal" }), /needs a bidirectional model/);
  const { dims, ...shapes } = sampler.shapes(sampler.options(config, MODEL));
  assert.deepEqual(shapes, { rows: 96, steps: 8 });
  assert.deepEqual(dims(3), { B: 3, N: 160 });
  assert.equal(sampler.schema.safeParse({ temperature: 0 }).success, false);
  const unread = /no log-probabilities of a text read from left to right/;
  assert.match(refusalOf(sampler, "text", SMALL)?.reason ?? "", unread);
  for (const scoring of ["steps", "bound", "supervised"] as const)
    assert.equal(refusalOf(sampler, scoring, SMALL)?.reason, undefined);
  const held = sampler.schema.safeParse({ constrained_decoding: true });
  assert.match(String(held.error?.issues[0]?.message), /sampler\.kind=jump cannot/);
});

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
