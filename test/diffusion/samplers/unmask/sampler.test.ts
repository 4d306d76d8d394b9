import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { UserError } from "../../../../src/core/errors.js";
import type { RoundInput, RoundModel } from "../../../../src/diffusion/sampler.js";
import { SLOT_FILLS, SLOT_ORDERS, type UnmaskOptions } from "../../../../src/diffusion/samplers/unmask/options.js";
import type { RowStatistics } from "../../../../src/diffusion/samplers/unmask/round.js";
import { checkTrajectory, type UnmaskTrajectory } from "../../../../src/diffusion/samplers/unmask/trajectory.js";
import { sampler as unmask } from "../../../../src/diffusion/samplers/unmask.js";
import { Canvas, type TextStart, templateOf } from "../../../../src/diffusion/template.js";
import { tokensOf, withTokens } from "../../../support/token-batch.js";
import { having, samplerConfig } from "../../../support/typed.js";
import { assertFrequencies, assertZeroMean, sequences } from "./enumeration.js";
import { EXAMPLE, FakeNetwork, MODEL, prompts, SMALL, streams, TOKENS, totalLogProb } from "./fake-model.js";

const sampler = having(unmask, "stepTerms");
const PROMPT = [1, 0];

/** Makes the key by which two outcomes are told apart. */
const keyOf = ({ rounds }: UnmaskTrajectory): string =>
  rounds.map(({ positions, tokens }) => positions.map((p, i) => `${p}:${tokens[i]}`).join(" ")).join(" | ");

/** Makes a network with prescribed samples at every response position that reports its own probabilities for them. */
function forced(network: FakeNetwork, tokens: readonly number[]): RoundModel<RowStatistics> {
  return {
    async forwardRound(round: RoundInput): Promise<RowStatistics> {
      const statistics = await network.forwardRound(round);
      const input = tokensOf(round);
      const hidden = network.hidden(input, 0);
      input.rows.forEach((flat, r) => {
        const n = Number(flat);
        // a mask predicts the token of its own position, a token that of the next one
        const ahead = Number(input.inputIds[n]) === TOKENS.mask ? 0 : 1;
        const token = tokens[Number(input.positionIds[n]) - PROMPT.length + ahead];
        if (token === undefined) return;
        for (const variant of [0, 1]) {
          const row = hidden[n] as Float64Array;
          statistics.token[r * 2 + variant] = BigInt(token);
          const logProbs = network.logProbs(row, input.temperature, variant === 0);
          statistics.logProb[r * 2 + variant] = logProbs[token] as number;
        }
      });
      return statistics;
    },
  };
}

/** Enumerates the policy's trajectories: all assignments of tokens except those that need a forbidden EOS. */
async function enumerate(network: FakeNetwork, options: UnmaskOptions, start: TextStart = PROMPT) {
  const outcomes = new Map<string, UnmaskTrajectory>();
  const canvas = Canvas.of(templateOf(start, options));
  for (const tokens of sequences([0, 1, TOKENS.eos], canvas.isFree ? options.responseLength : canvas.cells)) {
    const placed: number[] = [];
    for (const [cell, token] of tokens.entries()) placed[canvas.position(cell)] = token;
    try {
      const [trajectory] = await sampler.rollout(forced(network, placed), [start], options, streams(1, 1));
      if (trajectory !== undefined) outcomes.set(keyOf(trajectory), trajectory);
    } catch (error) {
      assert.match(String(error), /blocked token 2/);
    }
  }
  return outcomes;
}

const BIDIRECTIONAL = { ...MODEL, attention: "bidirectional" } as const;

const ON_TEMPLATE: UnmaskOptions = { ...SMALL, responseLength: 10 };
const CASES: [string, UnmaskOptions, TextStart?][] = [
  ["two blanks", ON_TEMPLATE, EXAMPLE],
  ["two blanks, slots of one", { ...ON_TEMPLATE, slotSize: 1, rounds: 3 }, EXAMPLE],
  ["two blanks, bidirectional", { ...ON_TEMPLATE, model: BIDIRECTIONAL, slotSize: 1, rounds: 3 }, EXAMPLE],
  ["bidirectional, slots of one", { ...SMALL, model: BIDIRECTIONAL, slotSize: 1, rounds: 3 }],
  ["bidirectional, random", { ...SMALL, model: BIDIRECTIONAL, order: "random", slotSize: 1, rounds: 4 }],
  ["two rounds of one slot", SMALL],
  ["one round of both slots", { ...SMALL, rounds: 1 }],
  ["slots of one, two a round", { ...SMALL, slotSize: 1 }],
  ["slots of one, one a round", { ...SMALL, slotSize: 1, rounds: 4 }],
  ["margin", { ...SMALL, order: "margin" }],
  ["entropy, hot", { ...SMALL, order: "entropy", temperature: 1.7 }],
  ["random", { ...SMALL, order: "random", slotSize: 1, rounds: 3 }],
  ["left to right, cold", { ...SMALL, order: "left-to-right", temperature: 0.6 }],
  ["autoregressive, a slot a round", { ...SMALL, slotFill: "autoregressive" }],
  ["autoregressive, both slots at once", { ...SMALL, slotFill: "autoregressive", rounds: 1 }],
  ["autoregressive, left to right", { ...SMALL, slotFill: "autoregressive", order: "left-to-right", temperature: 0.6 }],
  [
    "autoregressive, three slots in two rounds",
    { ...SMALL, slotFill: "autoregressive", responseLength: 6, order: "entropy" },
  ],
  ["single-mask, a slot a round", { ...SMALL, slotFill: "single-mask" }],
  ["single-mask, in order of blanks", { ...SMALL, slotFill: "single-mask", responseLength: 6, order: "blanks" }],
  ["autoregressive, a slot of four", { ...SMALL, slotFill: "autoregressive", slotSize: 4, rounds: 1 }],
];

test("the probabilities of all outcomes add up to 1, EOS included", async () => {
  let forbidden = 0;
  for (const [name, options, start] of CASES) {
    for (const seed of [1, 9, 19]) {
      const outcomes = [...(await enumerate(new FakeNetwork(seed), options, start)).values()];
      const total = outcomes.reduce((sum, outcome) => sum + Math.exp(totalLogProb(outcome)), 0);
      assert.ok(Math.abs(total - 1) < 1e-6, `${name}, seed ${seed}: ${total}`);
      forbidden += outcomes.filter((o) => o.rounds.some((r) => r.eosAllowed.includes(false))).length;
    }
  }
  assert.ok(forbidden > 0, "no case with a forbidden EOS: the test is too weak");
});

test("the score has zero mean under a constant reward, and not if the forbidden EOS is forgotten", async () => {
  let worstWrong = 0;
  for (const [name, options, start] of CASES) {
    const network = new FakeNetwork(19);
    const outcomes = [...(await enumerate(network, options, start)).values()];
    const packed = sampler.stepTerms(outcomes, options, { batch: outcomes.length, lengthStep: 1, level: "sequence" });
    const anywhere = new Float32Array(packed.coefficient.length).fill(1);
    const { parameters } = network;
    const indices = [7, 13, 50, 420, 460, 500, 560, 630, parameters.length - 17];
    const values = (): [number[], number[]] => [network.values(packed), network.values(packed, anywhere)];
    worstWrong = Math.max(worstWrong, assertZeroMean(name, parameters, indices, values));
  }
  assert.ok(worstWrong > 1e-3, `a wrong score passes too: ${worstWrong}`);
});

test("sampled frequencies match the probabilities", async () => {
  for (const [options, seed] of [
    [SMALL, 16],
    [{ ...SMALL, slotSize: 1 }, 1],
    [{ ...SMALL, slotFill: "autoregressive", rounds: 1 }, 3],
  ] as const) {
    const network = new FakeNetwork(seed);
    const outcomes = await enumerate(network, options);
    const count = 3000;
    const seen = new Map<string, number>();
    const all = Array.from({ length: count }, () => PROMPT);
    for (const trajectory of await sampler.rollout(network, all, options, streams(count, 5), 100)) {
      const key = keyOf(trajectory);
      const expected = outcomes.get(key);
      assert.ok(expected !== undefined, `${key} is not an outcome of the policy`);
      assert.ok(Math.abs(totalLogProb(trajectory) - totalLogProb(expected)) < 1e-6);
      seen.set(key, (seen.get(key) ?? 0) + 1);
    }
    const probable = (outcome: UnmaskTrajectory): number => count * Math.exp(totalLogProb(outcome));
    const cells = [...outcomes].map(([key, outcome]) => [seen.get(key) ?? 0, probable(outcome)] as const);
    assertFrequencies(cells, count);
  }
});

const anyOptions = fc
  .record({
    slotSize: fc.constantFrom(1, 2, 4),
    rounds: fc.integer({ min: 1, max: 6 }),
    order: fc.constantFrom(...SLOT_ORDERS),
    slotFill: fc.constantFrom(...SLOT_FILLS),
    canvasPerPrompt: fc.constantFrom(null, 1.5),
    temperature: fc.constantFrom(0, 0.7, 1, 1.3),
  })
  .map((part): UnmaskOptions => ({ ...SMALL, ...part, responseLength: 8 }) as UnmaskOptions);

test("every trajectory is consistent: nothing behind EOS, EOS never left of a committed token", async () => {
  const ends = new Set<string>();
  const property = fc.asyncProperty(anyOptions, fc.integer({ min: 0, max: 1000 }), async (options, seed) => {
    const tasks = prompts(3, options.promptLength, seed);
    for (const trajectory of await sampler.rollout(new FakeNetwork(seed), tasks, options, streams(3, seed))) {
      checkTrajectory(trajectory, "sampled", TOKENS.eos);
      ends.add(trajectory.ended);
      assert.ok(sampler.steps(trajectory) <= sampler.shapes(options).steps);
      assert.equal(trajectory.response.includes(TOKENS.mask) || trajectory.response.includes(TOKENS.pad), false);
    }
  });
  await fc.assert(property, { numRuns: 60, seed: 11 });
  assert.deepEqual([...ends].sort(), ["eos", "length"]);
});

test("a rollout does not depend on the batch that it is in", async () => {
  for (const order of ["confidence", "random"] as const) {
    const options: UnmaskOptions = { ...SMALL, responseLength: 8, rounds: 3, order };
    const network = new FakeNetwork(4);
    const tasks = prompts(7, options.promptLength, 4);
    const together = await sampler.rollout(network, tasks, options, streams(7, 4));
    for (const batchSize of [1, 3, 16])
      assert.deepEqual(await sampler.rollout(network, tasks, options, streams(7, 4), batchSize), together);
  }
});

test("shapes of a round depend on the configuration only, and rollouts that ended take no more forwards", async () => {
  const options: UnmaskOptions = { ...SMALL, slotSize: 1, rounds: 9 };
  const network = new FakeNetwork(1);
  const shapes = new Set<string>();
  const spy: RoundModel<RowStatistics> = {
    async forwardRound(input) {
      const { batch, length, inputIds, positionIds, attentionBias, rows, uniform } = tokensOf(input);
      shapes.add([batch, length, inputIds.length, positionIds.length, attentionBias.length].join());
      assert.ok(uniform.every((u) => u >= 0 && u < 1));
      const statistics = await network.forwardRound(input);
      // EOS wherever it is allowed
      for (let r = 0; r < rows.length; r++) {
        statistics.token[r * 2] = BigInt(TOKENS.eos);
        statistics.eosIsArgmax[r] = 1;
      }
      return statistics;
    },
  };
  const [one] = await sampler.rollout(spy, [[1], [0, 1]], options, streams(2, 1), 3);
  assert.deepEqual([...shapes], ["3,7,21,21,147"]);
  assert.equal(network.forwards, 1);
  assert.deepEqual(one?.response, [TOKENS.eos]);
});

test("the head on rows that rank and rows that are drawn gives the draws of a head that reads every mask", async () => {
  const drawn: unknown[] = [];
  for (const order of SLOT_ORDERS.filter((order) => order !== "blanks"))
    for (const slotFill of SLOT_FILLS.filter((fill) => fill !== "next-token"))
      for (const temperature of [0, 1]) {
        const sizes = { slotSize: 3, responseLength: 18, rounds: 4 };
        const options: UnmaskOptions = { ...SMALL, ...sizes, order, slotFill, temperature };
        const all = await sampler.rollout(new FakeNetwork(3), prompts(6, 3, 5), options, streams(6, 9));
        drawn.push(all.map(({ rounds }) => rounds.map(({ positions, tokens }) => [positions, tokens])));
      }
  // computed before ranking and drawing were separated
  const digest = createHash("sha256").update(JSON.stringify(drawn)).digest("hex");
  assert.equal(digest.slice(0, 16), "1fb6baaeb44d8304");
});

test("slots are filled in autoregressively by k - 1 passes that read no masks, and EOS ends them", async () => {
  const options: UnmaskOptions = { ...SMALL, slotSize: 4, responseLength: 8, slotFill: "autoregressive" };
  const network = new FakeNetwork(7);
  const read: string[] = [];
  const spy: RoundModel<RowStatistics> = {
    forwardRound(input) {
      const text = [...tokensOf(input).inputIds].map(Number).filter((id) => id !== TOKENS.pad);
      if (input.again !== true) read.push(text.join(""));
      return network.forwardRound(input);
    },
  };
  const [trajectory] = (await sampler.rollout(spy, [PROMPT], options, streams(1, 4))) as [UnmaskTrajectory];
  const [first, second] = trajectory.rounds;
  const begun = (round: typeof first, n: number): string => (round?.tokens.slice(0, n) ?? []).join("");
  assert.equal(trajectory.slotFill, "autoregressive");
  const passes = [1, 2, 3].map((n) => `10${begun(first, n)}`);
  assert.deepEqual(read.slice(0, 4), ["1033333333", ...passes]);
  assert.deepEqual(read.slice(4, 6), [`10${begun(first, 4)}3333`, `10${begun(first, 4)}${begun(second, 1)}`]);
  // the second token of the second slot is EOS, so there is no further pass
  assert.equal(second?.tokens.indexOf(TOKENS.eos), 1);
  assert.equal(read.length, 6);
});

test("a model without next-token logits cannot fill slots in autoregressively", () => {
  const config = samplerConfig(sampler, { slot_fill: "autoregressive", slot_size: 4 });
  assert.throws(() => sampler.options(config, BIDIRECTIONAL), /next-token logits/);
});

test("EOS may be the padding too", async () => {
  const model = { ...MODEL, tokens: { ...TOKENS, pad: TOKENS.eos } };
  const found = await sampler.rollout(new FakeNetwork(1), prompts(8, 3, 1), { ...SMALL, model }, streams(8, 2));
  assert.ok(found.some(({ ended }) => ended === "eos"));
});

test("greedy takes the most probable tokens and needs no noise", async () => {
  const options: UnmaskOptions = { ...SMALL, responseLength: 8, rounds: 3, temperature: 0 };
  const network = new FakeNetwork(6);
  const tasks = prompts(5, options.promptLength, 6);
  const first = await sampler.rollout(network, tasks, options, streams(5, 1));
  assert.deepEqual(await sampler.rollout(network, tasks, options, streams(5, 2)), first);
  const packed = withTokens(sampler.stepTerms(first, options, { batch: 5, lengthStep: 1, level: "token" }));
  assert.equal(packed.temperature, 1);
  const scores = network.score(packed);
  const recorded = packed.logProb as Float32Array;
  packed.coefficient.forEach((real, term) => {
    if (real === 0) return;
    assert.ok(Math.abs((scores[term] as number) - (recorded[term] as number)) < 1e-6);
    // the most probable of two or three tokens
    assert.ok((scores[term] as number) >= Math.log(packed.features.eos_allowed?.[term] === 1 ? 1 / 3 : 1 / 2) - 1e-6);
  });
});

test("what a model must not do, and prompts that do not fit, are refused", async () => {
  const network = new FakeNetwork(1);
  await assert.rejects(sampler.rollout(network, [[1, 1, 1, 1]], SMALL, streams(1, 1)), UserError);
  await assert.rejects(sampler.rollout(network, [[1]], SMALL, []), /random streams/);
  const broken = (change: (s: RowStatistics) => void): RoundModel<RowStatistics> => ({
    async forwardRound(input) {
      const statistics = await network.forwardRound(input);
      change(statistics);
      return statistics;
    },
  });
  const run = (change: (s: RowStatistics) => void): Promise<UnmaskTrajectory[]> =>
    sampler.rollout(broken(change), [[1]], SMALL, streams(1, 1));
  const attempt = run((s) => s.top.fill(Number.NaN));
  await assert.rejects(attempt, /non-finite confidence/);
  const refused = run((s) => s.logProb.fill(Number.NEGATIVE_INFINITY));
  await assert.rejects(refused, /non-finite log-probability/);
  const blocked = run((s) => (s.token as BigInt64Array).fill(BigInt(TOKENS.mask)));
  await assert.rejects(blocked, /blocked token 3/);
});

test("the configuration has defaults and rejects what cannot run", () => {
  const config = samplerConfig(sampler);
  assert.deepEqual(config, {
    ...{ rounds: 8, slot_size: 4, response_length: 96, prompt_length: 64, temperature: 1, order: "confidence" },
    ...{ slot_fill: "parallel", canvas_per_prompt: null, paragraph_room: null, room: 12 },
    ...{ constrained_decoding: false, explore: 0, kv_cache: "auto", speculate: 1 },
  });
  const { dims, ...shapes } = sampler.shapes(sampler.options(config, MODEL));
  assert.deepEqual(shapes, { length: 160, rows: 96, steps: 8 });
  assert.deepEqual(dims(3), { B: 3, N: 160 });
  assert.equal(sampler.schema.safeParse({ response_length: 62 }).success, false);
  assert.equal(sampler.schema.safeParse({ slots: 4 }).success, false);
});
