import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { printable, withoutPasswords } from "../../src/core/shown.js";

describe("text of others", () => {
  it("steers no terminal, and has an end", () => {
    assert.equal(printable("a\n  b\u001b[2J\u202ec\u0000"), "a b·[2J·c·");
    assert.equal(printable("x".repeat(30), 10), `${"x".repeat(10)}…`);
  });

  it("shows no password of a URL, whatever it holds", () => {
    for (const [text, shown] of [
      ["http://user:geheim@host:5000/x", "http://***@host:5000/x"],
      ["tracking.mlflow.uri=https://u:ge@heim@h", "tracking.mlflow.uri=https://***@h"],
      ["http://u:geh/eim@h", "http://***@h"],
      ["htp://token-geheim@h and redis://:geheim@h:1", "htp://***@h and redis://***@h:1"],
      ['got "http://u:geheim@h"', 'got "http://***@h"'],
      ["http://127.0.0.1/a?mail=x@y http://h/@b nobody@example.org", undefined],
    ] as const)
      assert.equal(withoutPasswords(text), shown ?? text);
  });
});
