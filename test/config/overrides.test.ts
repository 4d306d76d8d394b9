import assert from "node:assert/strict";
import { test } from "node:test";
import { applyOverrides, parseOverrides } from "../../src/config/overrides.js";
import { UserError } from "../../src/core/errors.js";

test("values are typed as in YAML", () => {
  const values = parseOverrides([
    "a=3",
    "a=1e-4",
    "a=true",
    "a=null",
    "a=",
    "a=text",
    "a='3'",
    "a=[x, 2]",
    "a={b: 1}",
    "a=x=y",
    "a=http://h:1/p",
  ]);
  assert.deepEqual(
    values.map((o) => o.value),
    [3, 1e-4, true, null, null, "text", "3", ["x", 2], { b: 1 }, "x=y", "http://h:1/p"],
  );
  assert.deepEqual(parseOverrides(["training.steps=3"])[0]?.path, ["training", "steps"]);
});

test("all wrong arguments are named at once", () => {
  assert.throws(
    () => parseOverrides(["steps", "a..b=1", "=3", "a b=1", "a=[1", "ok=1", "a.__proto__.b=1", "a=!!x y"]),
    (error) => {
      assert.ok(error instanceof UserError);
      assert.equal(error.exitCode, 2);
      assert.equal(error.message.split("\n").length, 8);
      assert.ok(!error.message.includes('"ok=1"'));
      return true;
    },
  );
});

test("later overrides win, sections are made, mappings merge, the source is left alone", () => {
  const raw = { a: { b: 1, c: 2 }, d: 3 };
  const tree = applyOverrides(raw, parseOverrides(["a.b=5", "a.b=6", "n.m=7", "a={c: 8}", "d.e=9"]));
  assert.deepEqual(tree, { a: { b: 6, c: 8 }, n: { m: 7 }, d: { e: 9 } });
  assert.deepEqual(raw, { a: { b: 1, c: 2 }, d: 3 });
});
