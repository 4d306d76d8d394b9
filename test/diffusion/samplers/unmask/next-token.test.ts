import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { UserError } from "../../../../src/core/errors.js";
import type { Batch } from "../../../../src/diffusion/layout/batch.js";
import { refusalOf } from "../../../../src/diffusion/sampler.js";
import { layBefore } from "../../../../src/diffusion/samplers/unmask/next-token.js";
import type { UnmaskOptions } from "../../../../src/diffusion/samplers/unmask/options.js";
import type { UnmaskTrajectory } from "../../../../src/diffusion/samplers/unmask/trajectory.js";
import { sampler } from "../../../../src/diffusion/samplers/unmask.js";
import { Canvas, type TemplateStart, type TokenTemplate } from "../../../../src/diffusion/template.js";
import { close } from "../../../support/close.js";
import { withTokens } from "../../../support/token-batch.js";
import { having, samplerConfig } from "../../../support/typed.js";
import { FakeNetwork, MODEL, SMALL, streams, TOKENS, totalLogProb } from "./fake-model.js";

const EOS = TOKENS.eos;
const BLANKS = {
  slotFill: "next-token",
  order: "blanks",
  slotSize: 1,
  rounds: 8,
  room: 4,
  responseLength: 24,
} as const;
const OPTIONS: UnmaskOptions = { ...SMALL, ...BLANKS };
const TEMPLATE: TokenTemplate = [[1, 1], { name: "a", room: 3 }, [0], { name: "b", room: 2 }, [1]];
/** Values 0 1 EOS and 1 0, the second without an end. */
const RECORD: UnmaskTrajectory = {
  prompt: [0],
  template: TEMPLATE,
  slotSize: 1,
  slotFill: "next-token",
  responseLength: 5,
  temperature: 1,
  rounds: [
    { positions: [0, 3], tokens: [0, 1], logProbs: [-1, -1], eosAllowed: [true, true] },
    { positions: [1, 4], tokens: [1, 0], logProbs: [-1, -1], eosAllowed: [true, true] },
    { positions: [2], tokens: [EOS], logProbs: [-1], eosAllowed: [true] },
  ],
  response: [0, 1, EOS, 1, 0],
  ended: "length",
};
const one = { batch: 1, lengthStep: 1 } as const;
const { stepTerms, boundTerms, supervisedTerms } = {
  ...having(sampler, "stepTerms"),
  ...having(sampler, "boundTerms"),
  ...having(sampler, "supervisedTerms"),
};

/** What the scored rows of a batch read, by response position: the row's own index, and the entries that it sees. */
function seen(batch: Batch) {
  const { inputIds, positionIds, attentionBias, length, rows } = withTokens(batch);
  return {
    ids: [...inputIds].map(Number),
    positions: [...positionIds].map(Number),
    rows: [...rows].map(Number),
    sees: (n: number) => Array.from({ length }, (_, m) => m).filter((m) => attentionBias[n * length + m] === 0),
  };
}

test("a blank's token is scored at the token before it, which sees what is given before and its own blank", () => {
  const { ids, positions, rows, sees } = seen(stepTerms([RECORD], OPTIONS, { ...one, level: "token" }));
  // prompt, given tokens, the tokens of each blank that another follows
  assert.deepEqual(ids, [0, 1, 1, 0, 1, 0, 1, 1]);
  assert.deepEqual(positions, [0, 1, 2, 6, 9, 3, 4, 7]);
  assert.deepEqual(rows, [2, 3, 5, 7, 6]);
  const seenBy = [2, 3, 5, 6, 7].map((n) => sees(n).join(""));
  assert.deepEqual(seenBy, ["012", "0123", "0125", "01256", "01237"]);
});

test("another blank's value changes no log-probability of this one", async () => {
  const values = fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 3 });
  await fc.assert(
    fc.property(values, values, values, fc.nat(100), (own, a, b, seed) => {
      const network = new FakeNetwork(seed);
      const template: TokenTemplate = [[1], { name: "a", room: 4 }, [0, 1], { name: "b", room: 4 }, [1]];
      const scores = (first: number[], second: number[]): { first: number[]; second: number[] } => {
        const trajectory = { ...RECORD, template, response: [...first, EOS, ...second, EOS] };
        const batch = boundTerms([trajectory], OPTIONS, { ...one, samples: 1, coupled: false, rngs: streams(1, 1) });
        const all = [...network.score(batch)];
        return { first: all.slice(0, first.length + 1), second: all.slice(first.length + 1) };
      };
      const near = (x: number[], y: number[]): void =>
        assert.ok(x.every((v, i) => Math.abs(v - (y[i] as number)) < 1e-12));
      near(scores(own, a).first, scores(own, b).first);
      near(scores(a, own).second, scores(b, own).second);
    }),
    { numRuns: 60, seed: 3 },
  );
});

test("rounds only group the draws, and the bound is the path's own log-probability", async () => {
  const start: TemplateStart = { prompt: [1, 0], parts: [[1], { name: "a" }, [0, 1], { name: "b", needs: 3 }] };
  for (const seed of [1, 2, 3, 4]) {
    const network = new FakeNetwork(seed);
    for (const [slotSize = 0, rounds = 0] of ["11", "12", "18", "21", "42"].map((sizes) => [...sizes].map(Number))) {
      const options = { ...OPTIONS, slotSize, rounds };
      network.forwards = 0;
      const [trajectory] = (await sampler.rollout(network, [start], options, streams(1, seed))) as [UnmaskTrajectory];
      assert.ok(trajectory.rounds.length <= rounds);
      const canvas = Canvas.of(trajectory.template);
      const cells = canvas.cellsOf(trajectory.response, EOS);
      const lengths = canvas.blanks.map(({ first, end }) => cells.filter((c) => c >= first && c < end).length);
      assert.equal(network.forwards, Math.max(...lengths), "one forward a token of the longest value");
      const layout = { ...one, samples: 2, coupled: true, rngs: streams(1, seed) };
      const [bound] = network.values(boundTerms([trajectory], options, layout)) as [number];
      assert.ok(Math.abs(bound - totalLogProb(trajectory)) < 1e-5, `${bound}, drawn ${totalLogProb(trajectory)}`);
    }
  }
});

test("guesses change no token and no log-probability: a pass keeps what it would have drawn one at a time", async () => {
  const choices = [[1, 0, 0, 1], [1, 0, 1], [0]];
  const parts = [[1], { name: "a", needs: 7 }, [0, 1], { name: "b", choices }, [1], { name: "c", needs: 3 }];
  const starts: TemplateStart[] = [[0, 1, 0, 0, 1, 1, 0], [0]].map((prompt) => ({ prompt, parts }));
  const passes = { one: 0, several: 0 };
  for (const seed of [1, 2, 3, 4, 5, 6])
    for (const temperature of [0, 1])
      for (const [slotSize = 0, rounds = 0] of ["82", "28", "11"].map((sizes) => [...sizes].map(Number))) {
        const small = { ...OPTIONS, slotSize, rounds, temperature, room: 8, promptLength: 8, responseLength: 48 };
        const drawn = async (speculate: number) => {
          const network = new FakeNetwork(seed);
          const options = { ...small, constrained: true, speculate };
          const trajectories = await sampler.rollout(network, starts, options, streams(2, seed));
          return { trajectories, forwards: network.forwards };
        };
        const one = await drawn(1);
        for (const speculate of [2, 3, 8]) {
          const several = await drawn(speculate);
          assert.deepEqual(several.trajectories, one.trajectories);
          assert.ok(several.forwards <= one.forwards, "a pass draws a token of every open blank");
          passes.one += one.forwards;
          passes.several += several.forwards;
        }
      }
  assert.ok(passes.several < 0.95 * passes.one, `${passes.several} passes in place of ${passes.one}`);
});

test("sft: the mean cross-entropy of values and ends, which are predicted and not read", () => {
  const examples = [
    { prompt: [0], template: TEMPLATE, response: [0, 1, EOS, EOS] },
    { prompt: [1, 1], response: [0] },
  ];
  const layout = { arWeight: null, eosFillWeight: 0, rng: streams(1, 1)[0] as never };
  const [batch] = supervisedTerms(examples, OPTIONS, layout) as [Batch];
  const { inputIds, length } = withTokens(batch);
  assert.deepEqual([...batch.coefficient], new Array(6).fill(Math.fround(1 / 6)));
  assert.deepEqual([...withTokens(batch).targets].map(Number), [0, 1, EOS, EOS, 0, EOS]);
  const entries = (b: number): number[] =>
    [...inputIds.slice(b * length, (b + 1) * length)].map(Number).filter((id) => id !== TOKENS.pad);
  assert.deepEqual(entries(0), [0, 1, 1, 0, 1, 0, 1]);
  assert.deepEqual(entries(1), [1, 1, 0]);
  const actual = [...withTokens(batch).rows].map((row) => Number(row) % length);
  assert.deepEqual(actual, [2, 5, 6, 3, 1, 2]);
  for (const odd of [{ arWeight: 0.5 }, { maskGiven: true }])
    assert.throws(() => supervisedTerms(examples, OPTIONS, { ...layout, ...odd }), /sampler.slot_fill=next-token/);
});

/** A bidirectional network whose row n has the logits of entry n - 1. */
class ShiftedNetwork extends FakeNetwork {
  override hidden(...given: Parameters<FakeNetwork["hidden"]>): Float64Array[] {
    const states = super.hidden(...given);
    return states.map((_, n) => states[Math.max(0, n - 1)] as Float64Array);
  }
}

test("a bidirectional model with shifted logits reads what is given in both directions, and is scored as it drew", async () => {
  const model = { ...MODEL, attention: "bidirectional", shifted: true } as const;
  const start: TemplateStart = { prompt: [1, 0], parts: [[1], { name: "a" }, [0, 1], { name: "b", needs: 3 }, [1]] };
  const config = samplerConfig(sampler, { slot_fill: "next-token", order: "blanks" });
  assert.throws(() => sampler.options(config, { ...model, block: 4 }), UserError);
  assert.equal(sampler.options(config, model).slotFill, "next-token");
  for (const seed of [1, 2, 3]) {
    const slotSize = seed === 2 ? 2 : 1;
    const network = new ShiftedNetwork(seed);
    const options = { ...OPTIONS, slotSize, model };
    const [trajectory] = (await sampler.rollout(network, [start], options, streams(1, seed))) as [UnmaskTrajectory];
    const recorded = trajectory.rounds.flatMap(({ logProbs }) => [...logProbs]);
    for (const packed of [true, false]) {
      const batch = stepTerms([trajectory], options, { ...one, level: "token", packed });
      const scores = network.score(batch);
      const own = [...batch.coefficient].flatMap((c, r) => (c === 0 ? [] : [scores[r] as number]));
      close(own, recorded);
      const { sees } = seen(batch);
      assert.deepEqual(sees(0), [0, 1, 2, 3, 4, 5], "the first token of the prompt sees all that is given");
    }
    const layout = { ...one, samples: 1, coupled: false, rngs: streams(1, 1) };
    const [bound] = network.values(boundTerms([trajectory], options, layout)) as [number];
    assert.ok(Math.abs(bound - totalLogProb(trajectory)) < 1e-5);
  }
});

test("what next-token cannot do is refused", () => {
  const [first, ...rest] = RECORD.rounds;
  const early = { ...RECORD, rounds: [{ ...(first as object), positions: [1, 3] }, ...rest] };
  assert.throws(() => sampler.parse(early, "here", MODEL), /position 1 was drawn without the token before it/);
  assert.deepEqual(sampler.parse(RECORD, "here", MODEL), RECORD);
  const issue = sampler.schema.safeParse({ slot_fill: "next-token" }).error?.issues[0];
  assert.match(String(issue?.message), /needs order=blanks/);
  const config = samplerConfig(sampler, { slot_fill: "next-token", order: "blanks" });
  assert.throws(() => sampler.options(config, { ...MODEL, attention: "bidirectional" }), UserError);
  assert.match(refusalOf(sampler as never, "masks", OPTIONS)?.reason ?? "", /reads no masks/);
  assert.match(refusalOf(sampler as never, "steps", { ...OPTIONS, recordDrafts: true })?.reason ?? "", /no draft/);
  const canvas = Canvas.of([{ name: "a", room: 2 }]);
  assert.throws(() => layBefore({ prompt: [], canvas }, new Map(), [0], MODEL), /begins a text without a prompt/);
});
