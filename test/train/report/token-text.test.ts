import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { packageRoot } from "../../../src/core/files.js";
import { Tokenizer } from "../../../src/text/tokenizer.js";
import { revealOrder } from "../../../src/train/report/reveal-order.js";
import { spell } from "../../../src/train/report/token-text.js";

const tokenizer = Tokenizer.load(join(packageRoot(), "models", "tiny-refusion"));

test("the pieces of a text make the text; a character of several tokens belongs to the first", () => {
  const ids = tokenizer.encode("fill Name | 漢字 😀é\nsubmit");
  const pieces = spell(ids, tokenizer);
  assert.equal(pieces.length, ids.length);
  assert.equal(pieces.join(""), "fill Name | 漢字 😀é\nsubmit");
  assert.ok(pieces.includes(""));
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const tokens = tokenizer.encode(text);
      return spell(tokens, tokenizer).join("") === tokenizer.decode(tokens);
    }),
    { seed: 1, numRuns: 200 },
  );
});

test("the order of an unmask record: each token's round and log-probability", () => {
  const trajectory = {
    response: [7, 8, 9],
    rounds: [
      { positions: [1], logProbs: [-0.5], tokens: [8], eosAllowed: [false] },
      { positions: [0, 2], logProbs: [-0.1, -0.2], tokens: [7, 9], eosAllowed: [true, true] },
    ],
  };
  assert.deepEqual(revealOrder(trajectory), [
    { token: 7, step: 1, logProb: -0.1 },
    { token: 8, step: 0, logProb: -0.5 },
    { token: 9, step: 1, logProb: -0.2 },
  ]);
  for (const other of [undefined, null, {}, { response: [1] }, { response: ["x"], rounds: [] }]) {
    assert.equal(revealOrder(other), undefined);
  }
});
