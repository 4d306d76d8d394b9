import assert from "node:assert/strict";
import { test } from "node:test";
import { recordDraws, replayDraws } from "../../src/core/draw-tape.js";
import type { DiscreteRng } from "../../src/core/outcomes.js";
import { Rng } from "../../src/core/rng.js";

const draws = (rng: DiscreteRng): unknown[] => [rng.int(1000), rng.shuffle([..."abcdefgh"]), rng.int(3)];

test("a recording draws as the stream itself does, and its tape gives the same again", () => {
  const recorded: unknown[] = [];
  const tape = recordDraws(Rng.named(1, "tape"), (rng) => recorded.push(...draws(rng)));
  assert.deepEqual(recorded, draws(Rng.named(1, "tape")));
  assert.deepEqual(replayDraws(tape, draws), recorded);
});

test("a replay refuses what is not on the tape, and what is left on it", () => {
  const tape = recordDraws(Rng.named(1, "tape"), (rng) => rng.int(5));
  assert.throws(() => replayDraws(tape, (rng) => rng.int(6)), /draw 1 is one of 6 outcomes; the tape has one of 5/);
  assert.throws(() => replayDraws(tape, (rng) => [rng.int(5), rng.int(5)]), /the tape has one of none/);
  assert.throws(() => replayDraws(tape, () => 0), /0 draws were made, 1 are on the tape/);
});
