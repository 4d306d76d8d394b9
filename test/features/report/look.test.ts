import assert from "node:assert/strict";
import { test } from "node:test";
import { revealReader } from "../../../src/features/report/look.js";

const unmasked = {
  response: [7, 8, 9],
  rounds: [
    { positions: [1], logProbs: [-0.5], tokens: [8], eosAllowed: [false] },
    { positions: [0, 2], logProbs: [-0.1, -0.2], tokens: [7, 9], eosAllowed: [true, true] },
  ],
};
const jumped = {
  response: [7, 8],
  source: [3, 8, 5],
  steps: [
    { tokens: [7, 4, 5], logProbs: [-0.1, -0.2, -0.3] },
    { tokens: [7, 8, 6], logProbs: [-0.4, -0.5, -0.6] },
  ],
};

test("each sampler's record says when its tokens came to stay, from left to right", async () => {
  assert.deepEqual((await revealReader("unmask"))(unmasked), [
    { position: 0, token: 7, step: 1, logProb: -0.1 },
    { position: 1, token: 8, step: 0, logProb: -0.5 },
    { position: 2, token: 9, step: 1, logProb: -0.2 },
  ]);
  const expected = [
    { position: 0, token: 7, step: 0, logProb: -0.1 },
    { position: 1, token: 8, step: 1, logProb: -0.5 },
  ];
  assert.deepEqual((await revealReader("jump"))(jumped), expected);
  // a config that does not name its sampler
  assert.deepEqual((await revealReader(undefined))(jumped), expected);
});

test("what no sampler recorded has no order, and is no error", async () => {
  for (const kind of ["unmask", "jump", undefined]) {
    const reveals = await revealReader(kind);
    for (const odd of [undefined, null, 1, {}, [], { response: [1] }, { response: ["x"], rounds: [], steps: [] }])
      assert.equal(reveals(odd), undefined);
  }
  assert.equal((await revealReader("jump"))(unmasked), undefined);
});
