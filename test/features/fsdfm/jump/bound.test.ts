import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import fc from "fast-check";
import { Rng } from "../../../../src/core/rng.js";
import type { Batch } from "../../../../src/diffusion/layout/batch.js";
import {
  type Corruption,
  complement,
  corrupt,
  drawCorruption,
  flowBoundTerms,
} from "../../../../src/features/fsdfm/jump/bound.js";
import { type JumpOptions, ordinaryTokens } from "../../../../src/features/fsdfm/jump/options.js";
import { supervisedFlowTerms } from "../../../../src/features/fsdfm/jump/supervised.js";
import type { JumpTrajectory } from "../../../../src/features/fsdfm/jump/trajectory.js";
import { TOKENS } from "../../../diffusion/samplers/unmask/fake-model.js";
import { assertOwnStreams } from "../../../support/own-streams.js";
import { only, withTokens } from "../../../support/token-batch.js";
import { FakeFlow, MODEL, SMALL } from "./reference.js";

const PROMPT = [1, 0];
const OPTIONS: JumpOptions = { ...SMALL, responseLength: 3, exponent: 2 };
const ORDINARY = ordinaryTokens(MODEL);

function trajectoryOf(response: readonly number[]): JumpTrajectory {
  const { responseLength, exponent } = OPTIONS;
  return { prompt: PROMPT, responseLength, exponent, temperature: 1, source: [], steps: [], response, ended: "eos" };
}

function lay(response: readonly number[], draws: readonly Corruption[], coupled: boolean): Batch {
  let next = 0;
  return flowBoundTerms(
    [trajectoryOf(response)],
    OPTIONS,
    { batch: 1, lengthStep: 1, samples: draws.length, coupled, rngs: [Rng.named(0, "unused")] },
    () => draws[next++] as Corruption,
  );
}

/** Computes the mean of a value at one kappa over all corruptions and all noise. */
function meanOver(kappa: number, value: (draw: Corruption) => number): number {
  const [length, tokens] = [OPTIONS.responseLength, ORDINARY.length];
  let mean = 0;
  for (let mask = 0; mask < 2 ** length; mask++) {
    const noisy = Array.from({ length }, (_, i) => Math.floor(mask / 2 ** i) % 2 === 1);
    const probability = noisy.reduce((p, x) => p * (x ? 1 - kappa : kappa), 1);
    for (let code = 0; code < tokens ** length; code++) {
      const noise = noisy.map((_, i) => ORDINARY[Math.floor(code / tokens ** i) % tokens] as number);
      mean += (probability / tokens ** length) * value({ kappa, noisy, noise });
    }
  }
  return mean;
}

/** Computes the bound's integrand at one kappa by definition, without the layout. */
function integrand(flow: FakeFlow, response: readonly number[], kappa: number): number {
  return meanOver(kappa, ({ noisy, noise }) => {
    const state = noise.map((token, i) => (noisy[i] ? token : (response[i] ?? TOKENS.eos)));
    const ids = [...PROMPT, ...state];
    const predictions = flow.predictions({
      ...{ batch: 1, length: ids.length, temperature: 1 },
      inputIds: BigInt64Array.from(ids, BigInt),
      positionIds: BigInt64Array.from(ids.keys(), BigInt),
      attentionBias: new Float32Array(ids.length ** 2),
      conditions: { time: Float32Array.of(kappa ** (1 / OPTIONS.exponent)), step: Float32Array.of(1 / OPTIONS.steps) },
      rows: BigInt64Array.from(response, (_, i) => BigInt(PROMPT.length + i)),
    });
    const terms = response.map((target, i) => {
      const [p, now] = [predictions[i] as number[], state[i] as number];
      const same = now === target;
      return (p[now] as number) - Number(same) + (same ? 0 : Math.log(p[target] as number));
    });
    return terms.reduce((sum, minusGkl) => sum + minusGkl / (1 - kappa), 0);
  });
}

/** Computes the mean of the estimate at one kappa. */
const expectedEstimate = (flow: FakeFlow, response: readonly number[], kappa: number, coupled: boolean): number =>
  meanOver(kappa, (draw) => flow.values(lay(response, [draw], coupled))[0] as number);

describe("the flow's bound against enumeration", () => {
  const response = [1, TOKENS.eos];

  it("is what its definition says, at every kappa", () => {
    const flow = new FakeFlow(4);
    for (const kappa of [0.25, 0.6, 0.75]) {
      const [estimate, exact] = [expectedEstimate(flow, response, kappa, false), integrand(flow, response, kappa)];
      assert.ok(Math.abs(estimate / exact - 1) < 1e-6, `${kappa}: ${estimate} against ${exact}`);
    }
  });

  it("with its complement it is the mean of kappa and 1 - kappa", () => {
    const flow = new FakeFlow(4);
    const exact = (integrand(flow, response, 0.3) + integrand(flow, response, 0.7)) / 2;
    const coupled = expectedEstimate(flow, response, 0.3, true);
    assert.ok(Math.abs(coupled / exact - 1) < 1e-6, `${coupled} against ${exact}`);
  });
});

test("the bound of a response is the mean over its draws, whatever else is in the batch", () => {
  const flow = new FakeFlow(6);
  const responses = [
    [1, 0, TOKENS.eos],
    [1, TOKENS.eos],
  ];
  const rngs = responses.map((_, b) => Rng.named(5, `draws ${b}`));
  for (const coupled of [true, false]) {
    const draws: Corruption[] = [];
    const layout = { batch: 3, lengthStep: 1, samples: 2, coupled, rngs };
    const batch = flowBoundTerms(responses.map(trajectoryOf), OPTIONS, layout, (length, ordinary, rng) => {
      draws.push(drawCorruption(length, ordinary, rng));
      return draws.at(-1) as Corruption;
    });
    const terms = withTokens(batch);
    assert.deepEqual([draws.length, terms.owner, [...terms.units]], [4, [0, 1, -1], [3, 2, 0]]);
    assert.deepEqual([terms.batch, terms.temperature], [coupled ? 12 : 6, 1]);
    // every view has a term for every token of the response
    assert.equal(terms.rows.length, 5 * layout.samples * (coupled ? 2 : 1));
    const values = flow.values(batch);
    responses.forEach((response, b) => {
      const alone = draws
        .slice(2 * b, 2 * b + 2)
        .map((draw) => flow.values(lay(response, [draw], coupled))[0] as number);
      const mean = ((alone[0] as number) + (alone[1] as number)) / 2;
      assert.ok(Math.abs((values[b] as number) - mean) < 1e-5 * Math.abs(mean), `${values[b]} against ${mean}`);
    });
    assert.equal(values[2], 0);
  }
});

test("a response is corrupted by its own stream, whatever else is in the batch", () => {
  const flow = new FakeFlow(8);
  const [a, b] = [
    [1, 0, TOKENS.eos],
    [1, TOKENS.eos],
  ].map(trajectoryOf) as [JumpTrajectory, JumpTrajectory];
  assertOwnStreams([a, b, a], (some, layout) => flow.values(flowBoundTerms(some, OPTIONS, layout)));
});

test("a draw and its complement make every token noise exactly once, and keep the prompt", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30 }), fc.nat(1000), (length, seed) => {
      const draw = drawCorruption(length, ORDINARY, Rng.named(seed, "draw"));
      const other = complement(draw);
      assert.ok(draw.kappa > 0 && draw.kappa < 1 && Math.abs(draw.kappa + other.kappa - 1) < 1e-12);
      assert.ok(1 / (1 - draw.kappa) <= length + 1 + 1e-9);
      draw.noisy.forEach((x, i) => {
        assert.notEqual(x, other.noisy[i]);
      });
      const canvas = Array.from({ length }, () => 9);
      assert.deepEqual(
        corrupt(canvas, draw),
        draw.noisy.map((x, i) => (x ? draw.noise[i] : 9)),
      );
      assert.ok(draw.noise.every((token) => ORDINARY.includes(token)));
    }),
    { seed: 3 },
  );
});

test("noise comes with probability 1 - kappa", () => {
  const rng = Rng.named(7, "share");
  let [sum, share] = [0, 0];
  const count = 4000;
  for (let i = 0; i < count; i++) {
    const { kappa, noisy } = drawCorruption(8, ORDINARY, rng);
    sum += kappa / count;
    share += (noisy.filter(Boolean).length / 8 - (1 - kappa)) / count;
  }
  assert.ok(Math.abs(sum - 0.5) < 0.02 && Math.abs(share) < 0.01, `${sum}, ${share}`);
});

test("the supervised loss weighs a token by its share, and reads the time that it was corrupted at", () => {
  const examples = [
    { prompt: PROMPT, response: [1] },
    { prompt: [0], response: [0, 1] },
  ];
  const layout = { arWeight: null, eosFillWeight: 0.1, rng: Rng.named(2, "sft") };
  const terms = withTokens(only(supervisedFlowTerms(examples, OPTIONS, layout)));
  assert.equal(terms.head.name, "gkl");
  assert.deepEqual([...terms.targets].map(Number), [1, TOKENS.eos, TOKENS.eos, 0, 1, TOKENS.eos]);
  const time = terms.conditions.time as Float32Array;
  [2.1, 3].forEach((total, b) => {
    const factor = 1 / (1 - (time[b] as number) ** 2) / total / 2;
    const weights = [...terms.coefficient.subarray(b * 3, b * 3 + 3)];
    const shares = b === 0 ? [1, 1, 0.1] : [1, 1, 1];
    weights.forEach((w, i) => {
      assert.ok(Math.abs(w / (factor * (shares[i] as number)) - 1) < 1e-5);
    });
  });
  // the prompt is not corrupted
  assert.deepEqual([...terms.inputIds.subarray(0, 2)].map(Number), PROMPT);
  const current = terms.features.current as BigInt64Array;
  terms.rows.forEach((row, r) => {
    assert.equal(terms.inputIds[Number(row)], current[r]);
  });
  assert.throws(() => supervisedFlowTerms(examples, OPTIONS, { ...layout, arWeight: 0.5 }), /no autoregressive loss/);
  // a blank without a label has no loss
  const template = [{ name: "a", room: 2 }, [0], { name: "b", room: 2 }];
  const example = { prompt: [0], template, response: [1, TOKENS.eos, 1, TOKENS.eos], unlabelled: new Set([0]) };
  const [batch] = supervisedFlowTerms([example], { ...OPTIONS, responseLength: 5 }, layout) as [Batch];
  const actual = [...batch.coefficient].map((c) => c > 0);
  assert.deepEqual(actual, [false, false, true, true]);
});

test("a supervised token is noise with probability 1 - kappa, kappa stratified up to where one would weigh L + 1", () => {
  const examples = [
    { prompt: PROMPT, response: [1] },
    { prompt: [0], response: [0, 1] },
  ];
  const rng = Rng.named(3, "corruption");
  const batches = 1500;
  let [excess, largest] = [0, 0];
  for (let i = 0; i < batches; i++) {
    const terms = withTokens(only(supervisedFlowTerms(examples, OPTIONS, { arWeight: null, eosFillWeight: 1, rng })));
    const kappas = Array.from(terms.conditions.time as Float32Array, (t) => t ** OPTIONS.exponent);
    // with L = 3 the kappas are below 3/4, one in each half of the range
    assert.deepEqual(kappas.map((kappa) => Math.floor((kappa / 0.75) * 2)).sort(), [0, 1]);
    largest = Math.max(largest, ...kappas);
    const current = terms.features.current as BigInt64Array;
    terms.targets.forEach((target, r) => {
      // random noise equals the original token with probability 1 / (number of ordinary tokens)
      const other = (1 - (kappas[Math.floor(r / 3)] as number)) * (1 - 1 / ORDINARY.length);
      excess += (Number(current[r] !== target) - other) / (batches * 6);
    });
  }
  assert.ok(Math.abs(excess) < 0.02, `${excess}`);
  assert.ok(largest > 0.7, `${largest}`);
});
