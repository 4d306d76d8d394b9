import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Rng } from "../../../src/core/rng.js";
import type { Batch } from "../../../src/diffusion/layout/batch.js";
import { corruptBatch } from "../../../src/diffusion/samplers/unmask/corrupt.js";
import { SLOT_FILLS, type UnmaskOptions } from "../../../src/diffusion/samplers/unmask/options.js";
import { roundTerms } from "../../../src/diffusion/samplers/unmask/replay.js";
import type { UnmaskTrajectory } from "../../../src/diffusion/samplers/unmask/trajectory.js";
import { sampler as unmask } from "../../../src/diffusion/samplers/unmask.js";
import { Canvas, type TemplateStart, type TokenTemplate, templateOf } from "../../../src/diffusion/template.js";
import { close } from "../../support/close.js";
import { tokensOf } from "../../support/token-batch.js";
import { userError } from "../../support/user-error.js";
import { EXAMPLE, FakeNetwork, layout, MODEL, readAt, SMALL, scored, streams, TOKENS } from "./unmask/fake-model.js";

const EOS = TOKENS.eos;

/** Generates starts with random given texts and blanks. */
const anyStart = fc
  .record({
    prompt: fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 1, maxLength: 3 }),
    lines: fc.array(
      fc.record({
        given: fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 3 }),
        needs: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
      }),
      { minLength: 1, maxLength: 3 },
    ),
    tail: fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 2 }),
  })
  .map(({ prompt, lines, tail }): TemplateStart => {
    const blank = (i: number, needs?: number) => ({ name: `b${i}`, ...(needs === undefined ? {} : { needs }) });
    return { prompt, parts: [...lines.flatMap(({ given, needs }, i) => [given, blank(i, needs)]), tail] };
  });

const OPTIONS: UnmaskOptions = { ...SMALL, room: 4, responseLength: 24 };
test("a canvas numbers the cells of its blanks, and knows where each stands", () => {
  const canvas = Canvas.of([[7, 8], { name: "a", room: 2 }, [9], { name: "b", room: 4 }]);
  assert.deepEqual([canvas.length, canvas.cells, canvas.given.map(([at]) => at)], [9, 6, [0, 1, 4]]);
  const actual = [0, 1, 2, 5].map((cell) => canvas.position(cell));
  assert.deepEqual(actual, [2, 3, 5, 8]);
  const response = [EOS, 0, 1, EOS];
  assert.deepEqual(canvas.cellsOf(response, EOS), [0, 2, 3, 4]);
  assert.deepEqual(canvas.byCell(response, EOS), [EOS, undefined, 0, 1, EOS, undefined]);
  assert.deepEqual(canvas.cut(response, EOS), []);
  assert.deepEqual(canvas.cut([0, 1, EOS], EOS), [0]);
  assert.deepEqual(canvas.read([0, EOS, EOS, 1, 1, 1], EOS), [0, EOS, EOS]);
  const found = [[], [0], [EOS], [0, 1], [0, 1, 0, EOS]].map((drawn) => canvas.next(drawn, EOS));
  assert.deepEqual(found, [0, 1, 2, 2, undefined]);
});

test("rooms are whole slots, from what is known of a blank and never above the config's room unless all is known", () => {
  const known = { name: "d", needs: 9, whole: true } as const;
  const parts = [{ name: "a" }, { name: "b", needs: 3 }, { name: "c", needs: 99 }, known];
  const rooms = templateOf({ prompt: [], parts }, { room: 5, slotSize: 4 });
  const expected = Object.entries({ a: 8, b: 4, c: 8, d: 12 }).map(([name, room]) => ({ name, room }));
  assert.deepEqual(rooms, expected);
});

test("templates: packed, round by round and rollout give the same log-probabilities, and the record is read again", async () => {
  let [closed, reordered] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      anyStart,
      fc.record({
        slotSize: fc.constantFrom(1, 2, 4),
        rounds: fc.integer({ min: 1, max: 5 }),
        order: fc.constantFrom("confidence", "random", "left-to-right", "blanks" as const),
        slotFill: fc.constantFrom(...SLOT_FILLS),
        attention: fc.constantFrom("causal", "bidirectional" as const),
      }),
      fc.integer({ min: 0, max: 1000 }),
      async (start, { attention, ...any }, seed) => {
        const slotFill = attention === "causal" ? any.slotFill : "parallel";
        const options = { ...OPTIONS, ...any, slotFill, responseLength: 32, model: { ...MODEL, attention } };
        const network = new FakeNetwork(seed);
        const trajectories = await unmask.rollout(network, [start], options, streams(1, seed));
        const [trajectory] = trajectories as [UnmaskTrajectory];
        assert.deepEqual(unmask.parse(JSON.parse(JSON.stringify(trajectory)), "here", options.model), trajectory);
        assert.ok(trajectory.rounds.length <= any.rounds);
        const canvas = Canvas.of(trajectory.template);
        const recorded = trajectory.rounds.flatMap((round) => [...round.logProbs]);
        for (const packed of [true, false]) {
          const batch = roundTerms(trajectories, options, layout(1, { packed }));
          close(scored(network, batch), recorded);
          // given tokens have no terms
          const at = new Set(canvas.given.map(([position]) => position));
          if (slotFill === "parallel" && packed)
            assert.ok(readAt(batch, start.prompt.length).every((position) => !at.has(position)));
        }
        if (trajectory.response.length < trajectory.responseLength) closed++;
        const order = trajectory.rounds.flatMap((round) => [...round.positions]);
        if (order.some((p, i) => i > 0 && p < (order[i - 1] as number))) reordered++;
      },
    ),
    { numRuns: 120, seed: 5 },
  );
  assert.ok(closed > 20 && reordered > 10, `too weak: ${closed} closed, ${reordered} out of order`);
});

test("supervised: blanks alone are masked and scored; what is behind an end goes with it", () => {
  const template: TokenTemplate = [[1, 1], { name: "a", room: 4 }, [0], { name: "b", room: 2 }];
  const example = { prompt: [0], template, response: [1, EOS, 0, EOS] };
  let absent = 0;
  for (const attention of ["causal", "bidirectional"] as const) {
    for (let seed = 0; seed < 40; seed++) {
      const options = { ...OPTIONS, model: { ...MODEL, attention } };
      const [batch] = corruptBatch([example], options, {
        arWeight: null,
        eosFillWeight: 0.1,
        rng: Rng.named(seed, "c"),
      }) as [Batch];
      const { inputIds, positionIds } = tokensOf(batch);
      const masks = [...inputIds].flatMap((id, n) => (Number(id) === TOKENS.mask ? [Number(positionIds[n]) - 1] : []));
      const there = new Set([...positionIds].map((p) => Number(p) - 1));
      // given: 0, 1 and 6; a: 2 to 5, its end in the first slot; b: 7 and 8
      assert.ok([0, 1, 6].every((position) => !masks.includes(position) && there.has(position)));
      assert.equal(masks.includes(4), masks.includes(2), "behind the end as the end");
      if (!masks.includes(2)) absent += Number(!there.has(4));
      assert.ok(readAt(batch, 1).every((position) => [2, 3, 4, 5, 7, 8].includes(position)));
      const ends = batch.headInputs.targets?.data as BigInt64Array;
      assert.ok([...ends].some((target) => Number(target) === EOS));
    }
  }
  assert.ok(absent > 5);
});

test("a blank without a label has no loss, by any fill; the others have", () => {
  const template: TokenTemplate = [[1], { name: "a", room: 4 }, [0], { name: "b", room: 4 }];
  const example = { prompt: [0], template, response: [1, 1, EOS, 0, EOS] };
  const terms = unmask.supervisedTerms as NonNullable<typeof unmask.supervisedTerms>;
  for (const slotFill of SLOT_FILLS) {
    const options: UnmaskOptions = { ...OPTIONS, slotFill, order: "blanks" };
    /** Lists the positions that have a loss, from the batches of 20 seeds. */
    const scoredAt = (unlabelled: number[]): Set<number> => {
      const found = new Set<number>();
      for (let seed = 0; seed < 20; seed++) {
        const layout = { arWeight: null, eosFillWeight: 0.1, rng: Rng.named(seed, "labels") };
        const [batch] = terms([{ ...example, unlabelled: new Set(unlabelled) }], options, layout) as [Batch];
        const { positionIds, inputIds, rows } = tokensOf(batch);
        batch.coefficient.forEach((c, r) => {
          const n = Number(rows[r]);
          if (c !== 0) found.add(Number(positionIds[n]) - (Number(inputIds[n]) === TOKENS.mask ? 1 : 0));
        });
      }
      return found;
    };
    const [a, b] = [scoredAt([1]), scoredAt([0])];
    assert.ok([...a].every((position) => position < 6) && a.size > 1, slotFill);
    assert.ok([...b].every((position) => position >= 6) && b.size > 0, slotFill);
    assert.deepEqual(scoredAt([]), new Set([...a, ...b].sort((x, y) => x - y)), slotFill);
  }
});

test("supervised with mask_given: all positions are masked and scored as what they hold, blanks in their own slots", () => {
  const template: TokenTemplate = [[1, 0, 1], { name: "a", room: 4 }, [0], { name: "b", room: 2 }];
  const example = { prompt: [0], template, response: [1, EOS, 0, EOS] };
  // a is 3 to 6, its end at 4; b is 8 and 9
  const text = [1, 0, 1, 1, EOS, EOS, EOS, 0, 0, EOS];
  const layoutOf = (seed: number) => {
    return { arWeight: null, eosFillWeight: 0.1, maskGiven: true, rng: Rng.named(seed, "g") };
  };
  const scoredAt = new Set<number>();
  for (const attention of ["causal", "bidirectional"] as const)
    for (let seed = 0; seed < 40; seed++) {
      const options = { ...OPTIONS, model: { ...MODEL, attention } };
      const [batch] = corruptBatch([example], options, layoutOf(seed)) as [Batch];
      const { inputIds, positionIds, rows, targets } = tokensOf(batch);
      const masks = [...inputIds].flatMap((id, n) => (Number(id) === TOKENS.mask ? [Number(positionIds[n]) - 1] : []));
      const expected = [...masks].sort((a, b) => a - b);
      assert.deepEqual(masks, expected, "masks stand by position");
      for (const first of [3, 8]) assert.equal(masks.includes(first), masks.includes(first + 1));
      batch.coefficient.forEach((c, r) => {
        if (c === 0) return;
        const n = Number(rows[r]);
        const at = Number(positionIds[n]) - 1 + (Number(inputIds[n]) === TOKENS.mask ? 0 : 1);
        assert.equal(Number(targets[r]), text[at], `position ${at}`);
        scoredAt.add(at);
      });
    }
  assert.equal(scoredAt.size, text.length);
});

test("a template that is longer than the canvas is refused before anything runs", async () => {
  const run = unmask.rollout(new FakeNetwork(1), [EXAMPLE], { ...OPTIONS, responseLength: 8 }, streams(1, 1));
  await assert.rejects(run, { name: "UserError", message: /Template 0 has 10 tokens, response_length allows 8/ });
});

test("a record whose rooms, ends or rounds cannot have been is refused", async () => {
  const options = { ...OPTIONS, rounds: 2 };
  const [good] = await unmask.rollout(new FakeNetwork(2), [EXAMPLE], options, streams(1, 1));
  const edits: [object, RegExp][] = [
    [{ template: [[1], { name: "a", room: 2 }] }, /blanks of 2 tokens on a canvas of 4/],
    [
      { template: Object.entries({ a: 3, b: 1 }).map(([name, room]) => ({ name, room })) },
      /multiple of the slot size 2/,
    ],
    [{ template: [[1]] }, /without a blank/],
    [{ ended: (good as UnmaskTrajectory).ended === "eos" ? "length" : "eos" }, /it ended by/],
    [{ rounds: (good as UnmaskTrajectory).rounds.slice(0, 1) }, /the rounds reveal/],
  ];
  for (const [edit, message] of edits)
    assert.throws(() => unmask.parse({ ...good, ...edit }, "x", MODEL), userError(message), String(message));
});
