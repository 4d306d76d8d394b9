import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { splitDocuments } from "../../../src/features/formfactory/checkout.js";

test("texts are told apart by the next number, marked as the first one", () => {
  assert.deepEqual(
    splitDocuments("1. One\n\n1) a\n2) b\n3. out of turn\n2. Two\n 10 things\n2.5 times\n\n3.Three 4. not here\n"),
    ["One\n\n1) a\n2) b\n3. out of turn", "Two\n 10 things\n2.5 times", "Three 4. not here"],
  );
  assert.deepEqual(splitDocuments("1)A\n1. x\n2. y\n2) B"), ["A\n1. x\n2. y", "B"]);
  assert.deepEqual(splitDocuments("no numbers"), []);
  assert.deepEqual(splitDocuments(""), []);
});

test("any texts come back, lists of the other mark inside included", () => {
  const body = fc.array(fc.constantFrom("Dear club", "1) tea", "2) cake", "", "it was 3. then"), { minLength: 1 });
  fc.assert(
    fc.property(fc.array(body, { minLength: 1, maxLength: 12 }), (bodies) => {
      const texts = bodies.map((lines) => lines.join("\n").trim());
      assert.deepEqual(splitDocuments(texts.map((text, i) => `${i + 1}. ${text}\n`).join("\n")), texts);
    }),
    { seed: 1 },
  );
});
