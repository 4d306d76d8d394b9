import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { UserError } from "../../../../src/core/errors.js";
import { Rng } from "../../../../src/core/rng.js";
import { stratified } from "../../../../src/diffusion/examples.js";
import type { Batch } from "../../../../src/diffusion/layout/batch.js";
import { layCanvas, revealSlots } from "../../../../src/diffusion/samplers/unmask/canvas.js";
import { corruptBatch } from "../../../../src/diffusion/samplers/unmask/corrupt.js";
import type { UnmaskOptions } from "../../../../src/diffusion/samplers/unmask/options.js";
import { Canvas } from "../../../../src/diffusion/template.js";
import { only, type TokenBatch, tokensOf, withTokens } from "../../../support/token-batch.js";
import { FakeNetwork, MODEL, SMALL, TOKENS } from "./fake-model.js";

const OPTIONS: UnmaskOptions = { ...SMALL, slotSize: 4, responseLength: 16, promptLength: 8 };
const BIDIRECTIONAL: UnmaskOptions = { ...OPTIONS, slotSize: 1, model: { ...MODEL, attention: "bidirectional" } };
const EXAMPLES = [
  { prompt: [10, 11, 12], response: [20, 21, 22, 23, 24, 25] },
  { prompt: [10], response: [30, 31, 32, 33, 34, 35, 36, 37, 38, 39] },
];
const corrupt = (options: UnmaskOptions, rng: Rng): Batch & TokenBatch =>
  withTokens(only(corruptBatch(EXAMPLES, options, { arWeight: null, eosFillWeight: 0.1, rng })));

test("masked slots stand behind the clean ones, all with their own positions", () => {
  const response = [20, 21, 22, 23, 24, 25, 26];
  const revealed = revealSlots(response, 2, [3, 1]);
  const { buffer, indexOf } = layCanvas({ prompt: [10, 11], canvas: Canvas.FREE, revealed, slotSize: 2 }, 7, MODEL);
  assert.deepEqual(buffer.ids, [10, 11, 26, 22, 23, 3, 3, 3, 3]);
  assert.deepEqual(buffer.positions, [0, 1, 8, 4, 5, 2, 3, 6, 7]);
  assert.deepEqual([...indexOf], [5, 6, 3, 4, 7, 8, 2]);
});

test("fractions are stratified: one in each part of (0, 1)", () => {
  const strata = stratified(8, Rng.named(1, "f")).map((t) => Math.floor(t * 8));
  assert.deepEqual([...strata].sort(), [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.notDeepEqual(strata, [0, 1, 2, 3, 4, 5, 6, 7]);
});

interface Seen {
  readonly example: number;
  readonly masked: boolean;
  readonly position: number;
  readonly target: number;
  readonly weight: number;
  /** Token at the row that makes the prediction. */
  readonly from: number;
}

/** Lists a batch's terms, padding aside, with the network's inputs. */
function seen(batch: Batch & TokenBatch): Seen[] {
  return [...batch.coefficient].flatMap((weight, r) => {
    if (weight === 0) return [];
    const row = Number(batch.rows[r]);
    const example = Math.floor(row / batch.length);
    const from = Number(batch.inputIds[row]);
    const masked = from === TOKENS.mask;
    const position = Number(batch.positionIds[row]) - (EXAMPLES[example]?.prompt.length ?? 0) + (masked ? 0 : 1);
    return [{ example, masked, position, target: Number(batch.targets[r]), weight, from }];
  });
}

const tokenAt = (example: number, position: number): number => EXAMPLES[example]?.response[position] ?? TOKENS.eos;

test("every term points at the row that predicts it, in the right layout", () => {
  fc.assert(
    fc.property(fc.integer(), fc.constantFrom(OPTIONS, BIDIRECTIONAL), (seed, options) => {
      const batch = corrupt(options, Rng.named(seed, "c"));
      const causal = options.model.attention === "causal";
      const terms = seen(batch);
      for (const { example, masked, position, target, from } of terms) {
        assert.equal(target, tokenAt(example, position));
        if (!masked) assert.equal(from, tokenAt(example, position - 1));
        if (!masked) assert.ok(causal && position % options.slotSize > 0);
      }
      EXAMPLES.forEach(({ prompt, response }, b) => {
        const own = terms.filter((t) => t.example === b);
        const masks = own.filter((t) => t.masked).map((t) => t.position);
        // slots with EOS are always masked, and no position is scored twice
        for (let i = response.length; i < options.responseLength; i++) assert.ok(masks.includes(i));
        assert.equal(new Set(own.map((t) => t.position)).size, own.length);
        const ids = [...batch.inputIds.subarray(b * batch.length, (b + 1) * batch.length)].map(Number);
        const canvas = ids.slice(0, prompt.length + options.responseLength);
        assert.equal(canvas.filter((id) => id === TOKENS.mask).length, masks.length);
        // a causal canvas has no clean token after a mask
        if (causal) assert.ok(canvas.slice(canvas.indexOf(TOKENS.mask)).every((id) => id === TOKENS.mask));
        else assert.ok(canvas.slice(prompt.length).every((id, i) => [TOKENS.mask, tokenAt(b, i)].includes(id)));
      });
      const clean = terms.reduce((sum, t) => (t.masked ? sum : sum + t.weight), 0);
      assert.ok(clean === 0 || (causal && Math.abs(clean - 0.5) < 1e-6));
    }),
    { numRuns: 80, seed: 3 },
  );
});

test("the autoregressive loss has the weight that is asked for; the loss is the model's own", () => {
  const cleanWeight = (arWeight: number | null, options = OPTIONS): number => {
    const layout = { arWeight, eosFillWeight: 0.1, rng: Rng.named(8, "clean") };
    const batch = withTokens(only(corruptBatch(EXAMPLES, options, layout)));
    assert.deepEqual([batch.temperature, batch.head.name], [1, "model"]);
    return seen(batch).reduce((sum, term) => (term.masked ? sum : sum + term.weight), 0);
  };
  for (const asked of [0.25, 2, 0]) assert.ok(Math.abs(cleanWeight(asked) - asked) < 1e-6);
  assert.ok(Math.abs(cleanWeight(null) - 0.5) < 1e-6);
  for (const none of [0, null]) assert.equal(cleanWeight(none, BIDIRECTIONAL), 0);
});

test("EOS and its fill weigh their share, a masked token 1 / p of it, p being the example's own", () => {
  // the response fills its last slot, so EOS begins the next one
  const responses = [
    [20, 21, 22, 23, 24, 25, 26, 27],
    [30, 31],
  ];
  const examples = responses.map((response) => ({ prompt: [10], response }));
  // total weights on a canvas of 16 tokens: 9 + .1 x 7 and 3 + .1 x 13
  const answers = [9.7, 4.3];
  for (const options of [OPTIONS, BIDIRECTIONAL]) {
    const clean = new Set<number>();
    for (let seed = 0; seed < 40; seed++) {
      const rng = Rng.named(seed, "weights");
      const batch = withTokens(only(corruptBatch(examples, options, { arWeight: 0, eosFillWeight: 0.1, rng })));
      const strata: number[] = [];
      examples.forEach(({ response }, b) => {
        const weights = new Map<number, number>();
        batch.coefficient.forEach((weight, r) => {
          const row = Number(batch.rows[r]);
          if (weight !== 0 && Math.floor(row / batch.length) === b)
            weights.set(Number(batch.positionIds[row]) - 1, weight);
        });
        const share = 1 / (answers[b] as number) / 2;
        for (let i = response.length; i < 16; i++) {
          const expected = i === response.length ? share : 0.1 * share;
          assert.ok(Math.abs((weights.get(i) as number) / expected - 1) < 1e-6, `position ${i}: ${weights.get(i)}`);
        }
        const holdsEos = Math.floor(response.length / options.slotSize) * options.slotSize;
        const masked = [...weights].filter(([i]) => i < holdsEos);
        const chances = masked.map(([, weight]) => share / weight);
        for (const p of chances)
          assert.ok(p >= 1e-3 - 1e-9 && p <= 1 && Math.abs(p - (chances[0] as number)) < 1e-6, `${chances}`);
        if (chances[0] !== undefined) strata.push(Math.floor(2 * chances[0]));
        response.forEach((_, i) => {
          if (!weights.has(i)) clean.add(b * 16 + i);
        });
      });
      // where both examples have a masked token, their p lie in different halves
      if (strata.length === 2) assert.equal((strata[0] as number) + (strata[1] as number), 1);
    }
    // every token before EOS is sometimes clean, including the last one where its slot ends there
    for (let i = 0; i < 8; i++) assert.ok(clean.has(i), `position ${i} is never clean`);
    assert.equal(clean.has(17), options === BIDIRECTIONAL);
  }
});

test("the masked weights are unbiased: a token's expected weight is its share of the canvas", () => {
  for (const options of [OPTIONS, BIDIRECTIONAL]) {
    const expected = new Float64Array(2 * options.responseLength);
    const rng = Rng.named(5, "unbiased");
    const draws = 6000;
    for (let i = 0; i < draws; i++) {
      for (const { example, masked, position, weight } of seen(corrupt(options, rng))) {
        const place = example * options.responseLength + position;
        if (masked) expected[place] = (expected[place] as number) + weight / draws;
      }
    }
    EXAMPLES.forEach(({ response }, b) => {
      const fill = options.responseLength - response.length - 1;
      const answer = response.length + 1 + 0.1 * fill;
      for (let i = 0; i < options.responseLength; i++) {
        const share = (i > response.length ? 0.1 : 1) / answer / 2;
        const ratio = (expected[b * options.responseLength + i] as number) / share;
        assert.ok(Math.abs(ratio - 1) < 0.2, `example ${b}, position ${i}: ${ratio}`);
      }
    });
  }
});

test("examples that do not fit, and an autoregressive loss of a bidirectional model, are refused", () => {
  const long = { prompt: [1], response: Array.from({ length: 16 }, () => 1) };
  const layout = { arWeight: null, eosFillWeight: 0.1, rng: Rng.named(1, "x") };
  assert.throws(() => corruptBatch([long], OPTIONS, layout), UserError);
  assert.throws(() => corruptBatch([{ prompt: long.response, response: [1] }], OPTIONS, layout), UserError);
  assert.throws(() => corruptBatch(EXAMPLES, BIDIRECTIONAL, { ...layout, arWeight: 0.5 }), /autoregressive/);
});

const AUTOREGRESSIVE: UnmaskOptions = { ...OPTIONS, slotFill: "autoregressive" };

/** Lists the buffer indices that entry n of sequence b sees. */
function sees(batch: TokenBatch, b: number, n: number): number[] {
  const row = (b * batch.length + n) * batch.length;
  return Array.from({ length: batch.length }, (_, m) => m).filter((m) => batch.attentionBias[row + m] === 0);
}

test("clean slots see what they see in a rollout: their own slot and those of earlier rounds, never the slot of EOS", () => {
  const [example] = EXAMPLES as [(typeof EXAMPLES)[number]];
  const { prompt, response } = { prompt: example.prompt, response: Array.from({ length: 14 }, (_, i) => 20 + i) };
  let [together, apart] = [0, 0];
  for (let seed = 0; seed < 60; seed++) {
    const layout = { arWeight: null, eosFillWeight: 0.1, rng: Rng.named(seed, "sight") };
    const batch = withTokens(only(corruptBatch([{ prompt, response }], AUTOREGRESSIVE, layout)));
    const ids = [...batch.inputIds].map(Number);
    const firstMask = ids.indexOf(TOKENS.mask);
    const lastMask = ids.lastIndexOf(TOKENS.mask);
    // after the masks comes the slot of EOS, which sees only the prompt and clean slots
    assert.deepEqual(ids.slice(lastMask + 1, lastMask + 3), [32, 33]);
    const clean = Array.from({ length: firstMask }, (_, n) => n);
    assert.deepEqual(sees(batch, 0, lastMask + 2), [...clean, lastMask + 1, lastMask + 2]);
    for (let n = firstMask; n <= lastMask; n++) assert.deepEqual(sees(batch, 0, n), [...Array(n + 1).keys()]);
    let round = prompt.length;
    for (let start = prompt.length; start < firstMask; start += 4) {
      const before = sees(batch, 0, start).length - 1;
      if (before === start) round = start;
      assert.equal(before, round, "all of the rounds before its own");
      if (start > prompt.length) before === start ? apart++ : together++;
      for (let i = 0; i < 4; i++) {
        const own = Array.from({ length: i + 1 }, (_, j) => start + j);
        assert.deepEqual(sees(batch, 0, start + i), [...clean.slice(0, round), ...own]);
      }
    }
    const terms = [...batch.coefficient].flatMap((c, r) => (c === 0 ? [] : [`${batch.rows[r]}: ${batch.targets[r]}`]));
    assert.deepEqual(terms.slice(-2), [`${lastMask + 1}: 33`, `${lastMask + 2}: ${TOKENS.eos}`]);
  }
  assert.ok(together > 10 && apart > 10, `${together} and ${apart}`);
});

test("masks that nothing is drawn from weigh what they are given, as a share of the same canvas", () => {
  const layout = { arWeight: 0, eosFillWeight: 1, draftWeight: 0.25, rng: Rng.named(2, "drafts") };
  const example = { prompt: [10], response: Array.from({ length: 15 }, () => 20) };
  const weights = (options: UnmaskOptions): number[] => {
    const batch = withTokens(only(corruptBatch([example], options, layout)));
    const found = Array<number>(16).fill(0);
    batch.coefficient.forEach((weight, r) => {
      const n = Number(batch.rows[r]);
      if (Number(batch.inputIds[n]) === TOKENS.mask) found[Number(batch.positionIds[n]) - 1] = weight;
    });
    return found.slice(12);
  };
  // the slot of EOS is always masked; the total weight is that of 4 slots of 1 + 3 / 4
  const [first, ...drafts] = weights(AUTOREGRESSIVE) as [number, ...number[]];
  assert.ok(Math.abs(first - 1 / 7) < 1e-6, `${first}`);
  for (const weight of drafts) assert.ok(Math.abs(weight - 1 / 28) < 1e-6, `${weight}`);
  for (const weight of weights(OPTIONS)) assert.ok(Math.abs(weight - 1 / 16) < 1e-6, `${weight}`);
});

test("packed examples have the loss that they have in sequences of their own", () => {
  const network = new FakeNetwork(3);
  const examples = Array.from({ length: 5 }, (_, i) => ({
    prompt: Array.from({ length: 1 + i }, (_, j) => j % 2),
    response: Array.from({ length: 2 + 2 * i }, (_, j) => (i + j) % 2),
  }));
  for (const any of [{ ...OPTIONS, canvasPerPrompt: 2 }, AUTOREGRESSIVE, BIDIRECTIONAL]) {
    const loss = (pack: { packLength?: number }) => {
      const layout = { arWeight: null, eosFillWeight: 0.1, rng: Rng.named(4, "pack"), ...pack };
      const batches = corruptBatch(examples, any, layout);
      const everywhere = (batch: Batch): Float32Array => batch.coefficient.map(() => 1);
      const values = batches.map((batch) => network.values(batch, everywhere(batch))[0] as number);
      const shapes = batches.map(tokensOf).map(({ batch, length }) => [batch, length]);
      return { loss: values.reduce((a, b) => a + b, 0), shapes };
    };
    const [plain, packed] = [loss({}), loss({ packLength: 40 })];
    assert.ok(Math.abs(plain.loss - packed.loss) < 1e-5, `${plain.loss}, packed ${packed.loss}`);
    assert.ok(packed.shapes.length > 1 && packed.shapes.length < examples.length);
    for (const shape of packed.shapes) assert.deepEqual(shape, [1, 40]);
  }
});

test("a canvas follows its prompt, and holds the response all the same", () => {
  const options = { ...OPTIONS, canvasPerPrompt: 2 };
  const layout = { arWeight: 0, eosFillWeight: 1, rng: Rng.named(1, "canvas") };
  const canvas = (prompt: number, response: number): number => {
    const example = { prompt: Array(prompt).fill(10), response: Array(response).fill(20) };
    const batch = withTokens(only(corruptBatch([example], options, layout)));
    const behind = [...batch.positionIds].map(Number);
    return Math.max(...behind) + 1 - prompt;
  };
  assert.deepEqual([canvas(1, 2), canvas(1, 4), canvas(3, 2), canvas(8, 2)], [4, 8, 8, 16]);
});
