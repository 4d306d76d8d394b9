import assert from "node:assert/strict";
import { test } from "node:test";
import { applyOverrides, parseOverrides } from "../../src/config/overrides.js";
import type { UserError } from "../../src/core/errors.js";

test("values are typed as in YAML", () => {
  const texts = ["3", "1e-4", "true", "null", "", "text", "'3'", "[x, 2]", "{b: 1}", "x=y", "http://h:1/p"];
  const values = parseOverrides(texts.map((text) => `a=${text}`)).map((o) => o.value);
  assert.deepEqual(values, [3, 1e-4, true, null, null, "text", "3", ["x", 2], { b: 1 }, "x=y", "http://h:1/p"]);
  assert.deepEqual(parseOverrides(["training.steps=3"])[0]?.path, ["training", "steps"]);
});

test("all wrong arguments are named at once", () => {
  assert.throws(
    () => parseOverrides(["steps", "a..b=1", "=3", "a b=1", "a=[1", "ok=1", "a.__proto__.b=1", "a=!!x y"]),
    ({ message, exitCode }: UserError) => {
      return exitCode === 2 && message.split("\n").length === 8 && !message.includes('"ok=1"');
    },
  );
});

test("later overrides win, sections are made, mappings merge, the source is left alone", () => {
  const raw = { a: { b: 1, c: 2 }, d: 3 };
  const tree = applyOverrides(raw, parseOverrides(["a.b=5", "a.b=6", "n.m=7", "a={c: 8}", "d.e=9"]));
  assert.deepEqual(tree, { a: { b: 6, c: 8 }, n: { m: 7 }, d: { e: 9 } });
  assert.deepEqual(raw, { a: { b: 1, c: 2 }, d: 3 });
});
