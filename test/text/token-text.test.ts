import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { packageRoot } from "../../src/core/files.js";
import { spell } from "../../src/text/token-text.js";
import { Tokenizer } from "../../src/text/tokenizer.js";

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
