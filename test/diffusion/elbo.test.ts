import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import fc from "fast-check";
import { allOutcomes, type DiscreteRng } from "../../src/core/outcomes.js";
import { Rng } from "../../src/core/rng.js";
import { BufferBuilder, batchBuffers, type TokenBuffer } from "../../src/diffusion/buffer.js";
import { drawMask, elboViews, type MaskDraw } from "../../src/diffusion/elbo.js";
import { FakeNetwork, TOKENS } from "./fake-model.js";

const PROMPT = [1, 0];

/** log p(target) at one entry of a buffer, temperature 1. */
function logProb(network: FakeNetwork, buffer: TokenBuffer, row: number, target: number): number {
  const batch = batchBuffers([buffer], { batch: 1, length: buffer.ids.length, pad: TOKENS.pad });
  const hidden = network.hidden(batch, 0)[row] as Float64Array;
  return network.logProbs(hidden, 1, true)[target] as number;
}

/** The estimate that one draw gives. */
function estimate(
  network: FakeNetwork,
  response: readonly number[],
  slotSize: number,
  draw: MaskDraw,
  coupled: boolean,
): number {
  let total = 0;
  for (const { buffer, terms } of elboViews({ prompt: PROMPT, response }, slotSize, draw, coupled, 1, TOKENS.mask)) {
    for (const { row, position, weight } of terms)
      total += weight * logProb(network, buffer, row, response[position] as number);
  }
  return total;
}

/**
 * The bound itself, with nothing of the estimator in it: the mean over all orders of the slots of the log-probability of
 * revealing them in that order, one slot a step.
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

function expectation(
  draw: (slots: number, rng: DiscreteRng) => MaskDraw,
  slots: number,
  f: (draw: MaskDraw) => number,
): number {
  const known = new Map<string, number>();
  return allOutcomes((rng) => draw(slots, rng)).reduce((mean, { value, probability }) => {
    const key = JSON.stringify([value.masked, value.order]);
    const estimated = known.get(key) ?? f(value);
    known.set(key, estimated);
    return mean + probability * estimated;
  }, 0);
}

const cases = [
  { response: [1, 0, 1], slotSize: 1 },
  { response: [0, 1, 1, 0, 0, TOKENS.eos], slotSize: 2 },
  { response: [0, 1, 1, 0, TOKENS.eos], slotSize: 2 }, // the last slot is cut by EOS
  { response: [1, TOKENS.eos], slotSize: 2 },
];

describe("the ELBO estimator against enumeration", () => {
  for (const { response, slotSize } of cases) {
    for (const coupled of [false, true]) {
      it(`is unbiased: ${response.length} tokens in slots of ${slotSize}, ${coupled ? "coupled" : "one side"}`, () => {
        const network = new FakeNetwork(response.length);
        const slots = Math.ceil(response.length / slotSize);
        const exact = anyOrderBound(network, response, slotSize);
        const mean = expectation(drawMask, slots, (draw) => estimate(network, response, slotSize, draw, coupled));
        assert.ok(Math.abs(mean - exact) < 1e-10, `${mean} against ${exact}`);
      });
    }
  }

  it("notices sizes drawn from 1..U instead of 0..U", () => {
    const { response, slotSize } = cases[1] as (typeof cases)[number];
    const network = new FakeNetwork(6);
    const fromOne = (slots: number, rng: DiscreteRng): MaskDraw => {
      const order = rng.shuffle(Array.from({ length: slots }, (_, i) => i));
      const masked = order.map(() => false);
      for (const slot of order.slice(0, 1 + rng.int(slots))) masked[slot] = true;
      return { masked, order: rng.shuffle(order) };
    };
    const exact = anyOrderBound(network, response, slotSize);
    for (const coupled of [false, true]) {
      const mean = expectation(fromOne, 3, (draw) => estimate(network, response, slotSize, draw, coupled));
      assert.ok(Math.abs(mean - exact) > 0.05 * Math.abs(exact), `${mean} against ${exact}`);
    }
  });
});

test("the coupled pair covers every token exactly once a draw", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.constantFrom(1, 2, 4), fc.nat(1000), (length, slotSize, seed) => {
      const response = Array.from({ length }, (_, i) => i % 2);
      const slots = Math.ceil(length / slotSize);
      const draw = drawMask(slots, Rng.named(seed, "mask"));
      const views = elboViews({ prompt: PROMPT, response }, slotSize, draw, true, 1, TOKENS.mask);
      assert.equal(views.length, 2);
      const covered = views.flatMap((view) => view.terms.map((t) => t.position)).sort((a, b) => a - b);
      assert.deepEqual(
        covered,
        Array.from({ length }, (_, i) => i),
      );
      for (const { buffer, terms } of views) {
        assert.equal(buffer.ids.length, PROMPT.length + length);
        for (const { row, position } of terms) {
          assert.equal(buffer.ids[row], TOKENS.mask);
          assert.equal(buffer.positions[row], PROMPT.length + position);
        }
        // what is not masked is in the buffer as itself
        const clean = buffer.ids.flatMap((id, n) =>
          n >= PROMPT.length && id !== TOKENS.mask ? [buffer.positions[n] as number] : [],
        );
        assert.equal(clean.length + terms.length, length);
        assert.ok(clean.every((p) => buffer.ids[buffer.positions.indexOf(p)] === response[p - PROMPT.length]));
      }
    }),
    { seed: 3 },
  );
});

test("an empty side counts nothing and the other one carries its weight", () => {
  const draw: MaskDraw = { masked: [false, false], order: [1, 0] };
  const [first, second] = elboViews({ prompt: PROMPT, response: [0, 1, 1, 0] }, 2, draw, true, 0.5, TOKENS.mask);
  assert.deepEqual(first?.terms, []);
  assert.deepEqual(
    second?.terms.map((t) => t.weight),
    [3 / 2 / 4, 3 / 2 / 4, 3 / 2 / 4, 3 / 2 / 4],
  );
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
