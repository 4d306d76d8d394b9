import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../../../src/core/errors.js";
import {
  parseTrajectory,
  reveals,
  type UnmaskTrajectory,
} from "../../../../src/diffusion/samplers/unmask/trajectory.js";

const EOS = 2;

/** Makes a trajectory of three slots of two tokens: the first slot, then the other two, of which EOS cuts the last. */
function example(): UnmaskTrajectory {
  return {
    prompt: [1, 0],
    slotSize: 2,
    responseLength: 6,
    temperature: 0.7,
    rounds: [
      { positions: [0, 1], tokens: [1, 0], logProbs: [-0.5, -0.25], eosAllowed: [true, true] },
      { positions: [2, 3, 4], tokens: [0, 1, 2], logProbs: [-1, -0.125, -2], eosAllowed: [true, true, true] },
    ],
    response: [1, 0, 0, 1, 2],
    ended: "eos",
  };
}

/** Copies the example as a JSON reader would return it, mutable and untyped, and changes it. */
function edited(change: (t: { -readonly [K in keyof UnmaskTrajectory]: UnmaskTrajectory[K] }) => void): unknown {
  const copy = structuredClone(example());
  change(copy);
  return copy;
}

test("a trajectory survives JSON", () => {
  assert.deepEqual(parseTrajectory(JSON.parse(JSON.stringify(example())), "here", EOS), example());
});

test("reveals are read in the order of their positions", () => {
  const trajectory = example();
  const actual = reveals(trajectory).map(({ position, step }) => [position, step]);
  assert.deepEqual(actual, [
    [0, 0],
    [1, 0],
    [2, 1],
    [3, 1],
    [4, 1],
  ]);
});

test("what cannot have been sampled is refused, with its reason", () => {
  const round = (t: number, part: object): unknown =>
    edited((trajectory) => {
      trajectory.rounds = trajectory.rounds.map((r, i) => (i === t ? { ...r, ...part } : r));
    });
  const cases: [unknown, RegExp][] = [
    [
      edited((t) => {
        t.responseLength = 5;
      }),
      /multiple of the slot size/,
    ],
    [
      edited((t) => {
        t.ended = "length";
      }),
      /it ended by length, and 1 of 1 blanks end in EOS/,
    ],
    [
      edited((t) => {
        t.response = [1, 0, 0, 0, 2];
      }),
      /token 0 at position 3, the rounds 1/,
    ],
    [
      edited((t) => {
        t.response = [1, 0, 0, 1];
      }),
      /reveal 5 tokens, the response has 4/,
    ],
    [
      edited((t) => {
        t.rounds = t.rounds.slice(0, 1);
      }),
      /reveal 2 tokens/,
    ],
    [round(0, { positions: [0, 2] }), /slot 0 is revealed without its position 1/],
    [round(0, { positions: [1, 0] }), /do not ascend/],
    [round(0, { positions: [0, 9] }), /outside the canvas/],
    [round(1, { positions: [1, 3, 4] }), /position 1 was revealed before/],
    [round(0, { eosAllowed: [true, false] }), /eosAllowed at position 1 is false, the policy gives true/],
    [round(0, { tokens: [1] }), /differ in length/],
    [round(0, { logProbs: [-0.5, null] }), /logProbs/],
    [round(0, { tokens: [2, 0] }), /is behind an end/],
    [{ ...example(), extra: 1 }, /extra/],
    [{ ...example(), rounds: [] }, /rounds/],
  ];
  for (const [data, message] of cases) {
    assert.throws(
      () => parseTrajectory(data, "log line 3", EOS),
      (error) => error instanceof UserError && error.message.startsWith("log line 3: ") && message.test(error.message),
      String(message),
    );
  }
  assert.throws(() => parseTrajectory(example(), "x", 9), /slot 2 is revealed without its position 5/);
});

test("EOS left of a committed token is refused", () => {
  const wrong = {
    ...example(),
    rounds: [
      { positions: [2, 3], tokens: [0, 1], logProbs: [-1, -1], eosAllowed: [false, false] },
      { positions: [0], tokens: [2], logProbs: [-1], eosAllowed: [true] },
    ],
    response: [2],
  };
  assert.throws(() => parseTrajectory(wrong, "x", EOS), /eosAllowed at position 0 is true, the policy gives false/);
});
