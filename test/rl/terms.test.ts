import assert from "node:assert/strict";
import { test } from "node:test";
import { BLOCKED, BufferBuilder } from "../../src/diffusion/buffer.js";
import { packTrajectories } from "../../src/diffusion/replay.js";
import type { Trajectory } from "../../src/diffusion/trajectory.js";
import { bufferTerms, packedTerms } from "../../src/rl/terms.js";

const tokens = { eos: 2, mask: 3, pad: 4 };

/** Two responses on a canvas of 6: three rounds cut by EOS, and two rounds. */
const trajectories: readonly Trajectory[] = [
  {
    prompt: [1, 0],
    slotSize: 2,
    responseLength: 6,
    temperature: 0.5,
    rounds: [
      { positions: [2, 3], tokens: [0, 1], logProbs: [-1, -2], eosAllowed: [false, false] },
      { positions: [0, 1], tokens: [1, 1], logProbs: [-3, -4], eosAllowed: [false, false] },
      { positions: [4], tokens: [2], logProbs: [-5], eosAllowed: [true] },
    ],
    response: [1, 1, 0, 1, 2],
    ended: "eos",
  },
  {
    prompt: [0],
    slotSize: 2,
    responseLength: 6,
    temperature: 0.5,
    rounds: [
      { positions: [0, 1], tokens: [1, 0], logProbs: [-6, -7], eosAllowed: [false, false] },
      {
        positions: [2, 3, 4, 5],
        tokens: [0, 0, 1, 1],
        logProbs: [-8, -9, -10, -11],
        eosAllowed: [true, true, true, true],
      },
    ],
    response: [1, 0, 0, 0, 1, 1],
    ended: "length",
  },
];
const context = { batch: 3, canvas: 6, rounds: 3 };
const pack = (subset?: readonly (readonly number[])[]) =>
  packTrajectories(trajectories, {
    tokens,
    batch: 3,
    rounds: 3,
    reveals: 4,
    ...(subset === undefined ? {} : { subset }),
  });

test("a round, a token or a response is a segment", () => {
  const packed = pack();
  const step = packedTerms(packed, context, "step");
  assert.deepEqual([...step.segment].slice(0, 11).map(Number), [0, 0, 1, 1, 2, 3, 3, 4, 4, 4, 4]);
  assert.deepEqual(step.owner, [0, 0, 0, 1, 1, -1, -1, -1, -1]);
  assert.deepEqual([...(step.recorded as Float32Array)], [-3, -7, -5, -13, -38, 0, 0, 0, 0]);
  assert.deepEqual([...step.tokens], [2, 2, 1, 2, 4, 0, 0, 0, 0]);
  assert.equal(step.temperature, 0.5);
  assert.equal(step.sampled, undefined);

  const token = packedTerms(packed, context, "token");
  assert.equal(token.segments, 18);
  assert.deepEqual([...token.segment].slice(0, 11).map(Number), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  assert.deepEqual(token.owner, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, ...new Array<number>(7).fill(-1)]);
  assert.deepEqual([...(token.recorded as Float32Array)].slice(0, 5), [-1, -2, -3, -4, -5]);

  const sequence = packedTerms(packed, context, "sequence");
  assert.deepEqual([...(sequence.recorded as Float32Array)], [-15, -51, 0]);
  assert.deepEqual([...sequence.tokens], [5, 6, 0]);
});

test("terms keep their row, target and EOS rule; padding counts nothing", () => {
  const packed = pack();
  const terms = packedTerms(packed, context, "step");
  const real = [...packed.mask].flatMap((m, i) => (m === 1 ? [i] : []));
  real.forEach((term, r) => {
    assert.equal(terms.rows[r], packed.rows[term]);
    assert.equal(terms.targets[r], packed.targets[term]);
    assert.equal(terms.eosAllowed[r], packed.eosAllowed[term]);
    assert.equal(terms.coefficient[r], 1);
  });
  assert.ok(terms.coefficient.subarray(real.length).every((c) => c === 0));
  assert.ok(terms.eosAllowed.subarray(real.length).every((c) => c === 1));
});

test("a random subset says how many segments each stands for", () => {
  const rounds = [[1], [0, 1]];
  const step = packedTerms(pack(rounds), context, "step", { trajectories, rounds });
  assert.deepEqual([...(step.recorded as Float32Array)].slice(0, 5), [-7, 0, 0, -13, -38]);
  assert.deepEqual(step.sampled?.of, 5);
  assert.deepEqual([...(step.sampled?.share ?? [])].slice(0, 5), [3, 0, 0, 1, 1]);
  const token = packedTerms(pack(rounds), context, "token", { trajectories, rounds });
  assert.equal(token.sampled?.of, 11);
  assert.deepEqual([...(token.sampled?.share ?? [])].slice(0, 4), [3, 3, 1, 1]);
});

test("plain buffers become terms at flat rows", () => {
  const a = new BufferBuilder([1, 0]);
  a.push(1, 0);
  const b = new BufferBuilder([1]);
  const terms = bufferTerms(
    [
      { buffer: a, terms: [{ row: 1, target: 1, coefficient: 0.5, segment: 0 }] },
      { buffer: b, terms: [{ row: 0, target: 0, coefficient: 2, segment: 1 }] },
    ],
    { batch: 3, length: 4, terms: 4, segments: 3 },
    [0, 1],
    Float32Array.of(1, 1, 0),
    tokens.pad,
  );
  assert.deepEqual([...terms.rows].map(Number), [1, 4, 0, 0]);
  assert.deepEqual([...terms.targets].map(Number), [1, 0, 0, 0]);
  assert.deepEqual([...terms.coefficient], [0.5, 2, 0, 0]);
  assert.deepEqual(terms.owner, [0, 1, -1]);
  assert.equal(terms.recorded, undefined);
  assert.deepEqual([...terms.attentionBias.subarray(4, 8)], [0, 0, BLOCKED, BLOCKED].map(Math.fround));
});
