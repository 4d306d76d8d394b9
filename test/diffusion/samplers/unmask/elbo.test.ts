import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import fc from "fast-check";
import { layBuffers, type TokenBuffer } from "../../../../src/attention/rows.js";
import { Rng } from "../../../../src/core/rng.js";
import { BufferBuilder } from "../../../../src/diffusion/layout/buffer.js";
import { boundTerms, drawMask, type MaskDraw } from "../../../../src/diffusion/samplers/unmask/elbo.js";
import type { UnmaskOptions } from "../../../../src/diffusion/samplers/unmask/options.js";
import type { UnmaskTrajectory } from "../../../../src/diffusion/samplers/unmask/trajectory.js";
import { allOutcomes } from "../../../support/outcomes.js";
import { assertOwnStreams } from "../../../support/own-streams.js";
import { tokensOf, withTokens } from "../../../support/token-batch.js";
import { FakeNetwork, MODEL, SMALL, TOKENS } from "./fake-model.js";

const PROMPT = [1, 0];
const CANVAS = 24;

/** Computes log p(target) at one entry of a buffer, at temperature 1. */
function logProb(network: FakeNetwork, buffer: TokenBuffer, row: number, target: number): number {
  const batch = tokensOf(layBuffers([buffer], { batch: 1, length: buffer.ids.length, pad: TOKENS.pad }));
  const hidden = network.hidden(batch, 0)[row] as Float64Array;
  return network.logProbs(hidden, 1, true)[target] as number;
}

/** Makes a trajectory of which the response alone is known. */
const written = (response: readonly number[], slotSize = 2): UnmaskTrajectory => ({
  ...{ prompt: PROMPT, slotSize, responseLength: CANVAS, temperature: 1 },
  ...{ rounds: [], response, ended: response.length < CANVAS ? "eos" : "length" },
});

/** Lays out one response with one draw. */
function lay(response: readonly number[], slotSize: number, draw: MaskDraw, coupled: boolean, model = MODEL) {
  const trajectory = written(response, slotSize);
  const options: UnmaskOptions = { ...SMALL, slotSize, responseLength: CANVAS, model };
  const layout = { batch: 1, lengthStep: 1, samples: 1, coupled, rngs: [Rng.named(0, "unused")] };
  return withTokens(boundTerms([trajectory], options, layout, () => draw));
}

/**
 * Computes the bound without the estimator: the mean, over all orders of the slots, of the log-probability of revealing
 * the slots in that order, one per step.
 */
function anyOrderBound(network: FakeNetwork, response: readonly number[], slotSize: number): number {
  const slots = Math.ceil(response.length / slotSize);
  const positionsOf = (slot: number): number[] =>
    response.flatMap((_, i) => (Math.floor(i / slotSize) === slot ? [i] : []));
  const orders = allOutcomes((rng) => rng.shuffle(Array.from({ length: slots }, (_, i) => i)));
  return orders.reduce((mean, { value: order, probability }) => {
    let total = 0;
    order.forEach((slot, step) => {
      const buffer = new BufferBuilder(PROMPT);
      for (const known of order.slice(0, step))
        for (const i of positionsOf(known)) buffer.push(response[i] as number, i);
      const open = order.slice(step).sort((a, b) => a - b);
      const rows = new Map<number, number>();
      for (const masked of open) for (const i of positionsOf(masked)) rows.set(i, buffer.push(TOKENS.mask, i));
      for (const i of positionsOf(slot))
        total += logProb(network, buffer, rows.get(i) as number, response[i] as number);
    });
    return mean + probability * total;
  }, 0);
}

/** The mean of a value over all masks of so many slots. */
function expectation(slots: number, f: (draw: MaskDraw) => number): number {
  const known = new Map<string, number>();
  return allOutcomes((rng) => drawMask(slots, rng)).reduce((mean, { value, probability }) => {
    const key = JSON.stringify([value.masked, value.order]);
    const estimated = known.get(key) ?? f(value);
    known.set(key, estimated);
    return mean + probability * estimated;
  }, 0);
}

const cases = [
  { response: [1, 0, 1], slotSize: 1 },
  { response: [0, 1, 1, 0, 0, TOKENS.eos], slotSize: 2 },
  { response: [0, 1, 1, 0, TOKENS.eos], slotSize: 2 }, // EOS cuts the last slot
  { response: [1, TOKENS.eos], slotSize: 2 },
];

/** Computes the bound of a bidirectional model: every token at its position, masks after the end. */
function bidirectionalBound(network: FakeNetwork, response: readonly number[]): number {
  const orders = allOutcomes((rng) => rng.shuffle(response.map((_, i) => i)));
  return orders.reduce((mean, { value: order, probability }) => {
    const ids = Array.from({ length: CANVAS }, () => TOKENS.mask);
    let total = 0;
    for (const position of order) {
      const all = [...PROMPT, ...ids];
      const buffer = { ids: all, positions: all.map((_, n) => n), prefix: all.map(() => all.length) };
      total += logProb(network, buffer, PROMPT.length + position, response[position] as number);
      ids[position] = response[position] as number;
    }
    return mean + probability * total;
  }, 0);
}

describe("the ELBO estimator against enumeration", () => {
  for (const { response, slotSize } of cases) {
    for (const coupled of [false, true]) {
      it(`is unbiased: ${response.length} tokens in slots of ${slotSize}, ${coupled ? "coupled" : "one side"}`, () => {
        const network = new FakeNetwork(response.length);
        const slots = Math.ceil(response.length / slotSize);
        const exact = anyOrderBound(network, response, slotSize);
        const of = (draw: MaskDraw) => network.values(lay(response, slotSize, draw, coupled))[0] as number;
        const mean = expectation(slots, of);
        assert.ok(Math.abs(mean - exact) < 1e-6, `${mean} against ${exact}`);
      });
    }
  }

  it("is unbiased for a bidirectional model, by tokens", () => {
    const response = [0, 1, TOKENS.eos];
    const network = new FakeNetwork(5);
    const model = { ...MODEL, attention: "bidirectional" as const };
    const exact = bidirectionalBound(network, response);
    for (const coupled of [false, true]) {
      const of = (draw: MaskDraw) => network.values(lay(response, 1, draw, coupled, model))[0] as number;
      const mean = expectation(3, of);
      assert.ok(Math.abs(mean - exact) < 1e-6, `${mean} against ${exact}`);
    }
  });
});

test("the coupled pair covers every token exactly once a draw", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.constantFrom(1, 2, 4), fc.nat(1000), (length, slotSize, seed) => {
      const response = Array.from({ length }, (_, i) => i % 2);
      const slots = Math.ceil(length / slotSize);
      const draw = drawMask(slots, Rng.named(seed, "mask"));
      const terms = lay(response, slotSize, draw, true);
      assert.equal(terms.batch, 2);
      const covered: number[] = [];
      terms.coefficient.forEach((c, r) => {
        if (c === 0) return;
        const row = Number(terms.rows[r]);
        const position = Number(terms.positionIds[row]) - PROMPT.length;
        assert.equal(Number(terms.inputIds[row]), TOKENS.mask);
        assert.equal(Number(terms.targets[r]), response[position]);
        covered.push(position);
      });
      const ascending = covered.sort((a, b) => a - b);
      assert.deepEqual(ascending, [...response.keys()]);
      for (let n = 0; n < terms.inputIds.length; n++) {
        // tokens that are not masked appear unchanged in the buffer
        const position = Number(terms.positionIds[n]) - PROMPT.length;
        const id = Number(terms.inputIds[n]);
        if (position >= 0 && id !== TOKENS.mask) assert.equal(id, response[position]);
      }
      assert.equal(terms.length, PROMPT.length + length);
    }),
    { seed: 3 },
  );
});

test("the value of a response is the mean over its draws, whatever else is in the batch", () => {
  const network = new FakeNetwork(9);
  const slotSize = 2;
  // odd lengths, where EOS cuts the last slot
  const responses = [[0, 1, 1, 0], [1]].map((tokens) => [...tokens, TOKENS.eos]);
  const rngs = responses.map((_, b) => Rng.named(4, `draws ${b}`));
  for (const coupled of [true, false]) {
    const draws: MaskDraw[] = [];
    const trajectories = responses.map((response) => ({ ...written(response, slotSize), temperature: 0.5 }));
    const options: UnmaskOptions = { ...SMALL, slotSize, responseLength: CANVAS };
    const layout = { batch: 3, lengthStep: 1, samples: 2, coupled, rngs };
    const batch = boundTerms(trajectories, options, layout, (slots, rng) => {
      draws.push(drawMask(slots, rng));
      return draws.at(-1) as MaskDraw;
    });
    const terms = withTokens(batch);
    const actual = draws.map((draw) => draw.masked.length);
    assert.deepEqual(actual, [3, 3, 1, 1]);
    assert.deepEqual(terms.owner, [0, 1, -1]);
    assert.deepEqual([...terms.units], [5, 2, 0]);
    assert.equal(terms.batch, coupled ? 12 : 6);
    // the bound is the model's; the policy samples at another temperature and forbids EOS
    assert.equal(terms.temperature, 1);
    assert.ok((terms.features.eos_allowed as Float32Array).every((x) => x === 1));
    const values = network.values(batch);
    responses.forEach((response, b) => {
      const own = draws.slice(2 * b, 2 * b + 2);
      const alone = own.map((draw) => network.values(lay(response, slotSize, draw, coupled))[0] as number);
      const mean = ((alone[0] as number) + (alone[1] as number)) / 2;
      assert.ok(Math.abs((values[b] as number) - mean) < 1e-6, `${values[b]} against ${mean}`);
    });
    assert.equal(values[2], 0);
  }
});

test("a response's masks are those of its own stream, whatever else is in the batch", () => {
  const of = (length: number) => written(Array.from({ length }, (_, i) => i % 2));
  const options: UnmaskOptions = { ...SMALL, responseLength: CANVAS };
  const network = new FakeNetwork(2);
  assertOwnStreams([of(12), of(8), of(12)], (some, layout) => network.values(boundTerms(some, options, layout)));
});

test("there is room for every token of every draw", () => {
  const trajectory = written(Array.from({ length: CANVAS }, () => 1));
  const options: UnmaskOptions = { ...SMALL, responseLength: CANVAS };
  const layout = { batch: 2, lengthStep: 1, samples: 3, coupled: true, rngs: [1, 2].map((b) => Rng.named(b, "full")) };
  const terms = boundTerms([trajectory, trajectory], options, layout);
  assert.ok(terms.coefficient.every((c) => c > 0));
  assert.equal(terms.coefficient.length, 2 * 3 * CANVAS);
});

test("an empty side counts nothing and the other one carries its weight", () => {
  const draw: MaskDraw = { masked: [false, false], order: [1, 0] };
  const terms = lay([0, 1, 1, 0], 2, draw, true);
  const actual = [...terms.coefficient].filter((c) => c !== 0);
  assert.deepEqual(actual, [3 / 2 / 2, 3 / 2 / 2, 3 / 2 / 2, 3 / 2 / 2]);
  assert.ok([...terms.rows].slice(0, 4).every((row) => Number(row) >= terms.length));
});

test("every size of mask is equally probable, and every set of its size", () => {
  const counts = new Map<string, number>();
  for (const { value, probability } of allOutcomes((rng) => drawMask(3, rng))) {
    const key = value.masked.map(Number).join("");
    counts.set(key, (counts.get(key) ?? 0) + probability);
  }
  for (const [key, probability] of counts) {
    const size = [...key].filter((c) => c === "1").length;
    assert.ok(Math.abs(probability - 1 / 4 / (size === 0 || size === 3 ? 1 : 3)) < 1e-12, key);
  }
  assert.equal(counts.size, 8);
});
