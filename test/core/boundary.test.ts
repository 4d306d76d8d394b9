import assert from "node:assert/strict";
import { test } from "node:test";
import { fromOutside } from "../../src/core/boundary.js";
import { UserError } from "../../src/core/errors.js";

test("whatever reading makes throw is an error with a next step, sooner or later", async () => {
  const thrown = (error: unknown) => () => {
    throw error;
  };
  for (const error of [
    new TypeError("x is not iterable"),
    new RangeError("stack"),
    "text",
    null,
    Object.create(null),
  ]) {
    const sync = (): unknown => fromOutside("a.json", "restore it", thrown(error));
    const late = fromOutside("a.json", "restore it", async () => thrown(error)());
    for (const refused of [async () => sync(), () => late])
      await assert.rejects(
        refused,
        (e) => e instanceof UserError && e.hint === "restore it" && /^a\.json cannot be read: /.test(e.message),
      );
  }
  const actual = fromOutside("a", "b", () => 3);
  assert.equal(actual, 3);
});

test("an error's own next step and exit code stay, and an interrupt stays one", () => {
  const own = new UserError("no", { hint: "do this", exitCode: 2 });
  const read = (error: Error) => (): unknown =>
    fromOutside("a", "b", () => {
      throw error;
    });
  assert.throws(read(own), own);
  assert.throws(read(new UserError("no", { exitCode: 2 })), { message: "no", hint: "b", exitCode: 2 });
  const abort = new DOMException("stop", "AbortError");
  assert.throws(read(abort), abort);
});
