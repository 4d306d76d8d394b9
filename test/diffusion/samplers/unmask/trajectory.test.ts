import assert from "node:assert/strict";
import { test } from "node:test";
import {
  parseTrajectory,
  reveals,
  type UnmaskTrajectory,
} from "../../../../src/diffusion/samplers/unmask/trajectory.js";
import { userError } from "../../../support/user-error.js";

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

test("a trajectory survives JSON", () => {
  assert.deepEqual(parseTrajectory(JSON.parse(JSON.stringify(example())), "here", EOS), example());
});

test("reveals are read in the order of their positions", () => {
  const trajectory = example();
  const read = reveals(trajectory).map(({ position, step }) => `${position}: ${step}`);
  assert.deepEqual(read, ["0: 0", "1: 0", "2: 1", "3: 1", "4: 1"]);
});

test("what cannot have been sampled is refused, with its reason", () => {
  const { rounds } = example();
  const round = (t: number, part: object) => ({ rounds: rounds.map((r, i) => (i === t ? { ...r, ...part } : r)) });
  const changes: [object, RegExp][] = [
    [{ responseLength: 5 }, /multiple of the slot size/],
    [{ ended: "length" }, /it ended by length, and 1 of 1 blanks end in EOS/],
    [{ response: [1, 0, 0, 0, 2] }, /token 0 at position 3, the rounds 1/],
    [{ response: [1, 0, 0, 1] }, /reveal 5 tokens, the response has 4/],
    [{ rounds: rounds.slice(0, 1) }, /reveal 2 tokens/],
    [round(0, { positions: [0, 2] }), /slot 0 is revealed without its position 1/],
    [round(0, { positions: [1, 0] }), /do not ascend/],
    [round(0, { positions: [0, 9] }), /outside the canvas/],
    [round(1, { positions: [1, 3, 4] }), /position 1 was revealed before/],
    [round(0, { eosAllowed: [true, false] }), /eosAllowed at position 1 is false, the policy gives true/],
    [round(0, { tokens: [1] }), /differ in length/],
    [round(0, { logProbs: [-0.5, null] }), /logProbs/],
    [round(0, { tokens: [2, 0] }), /is behind an end/],
    [{ extra: 1 }, /extra/],
    [{ rounds: [] }, /rounds/],
  ];
  for (const [change, message] of changes) {
    const parse = () => parseTrajectory({ ...example(), ...change }, "log line 3", EOS);
    assert.throws(parse, userError(/^log line 3: /), String(message));
    assert.throws(parse, message);
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
