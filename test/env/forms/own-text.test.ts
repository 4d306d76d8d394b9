import assert from "node:assert/strict";
import { test } from "node:test";
import { holdsOwn, writtenIn } from "../../../src/env/forms/own-text.js";

test("what a plan wrote is no evidence, in whole, in parts, cut or in markup", () => {
  const says = (text: string, ...written: string[]): boolean => holdsOwn(text, "All done", writtenIn(written, []));
  for (const [text, ...written] of [
    ["You wrote: all  DONE.", "All done"],
    ["Name: All done", "All", "done"],
    ["All done", "<b>All</b> done"],
    ["Nothing of it", "x"],
    ["(All done and more)", "All done and more"],
  ] as const)
    assert.ok(!says(text, ...written), text);
  for (const [text, ...written] of [
    ["All done", "x"],
    ["All done. You wrote: All done", "You wrote: All done"],
    ["All done", "a", "l", "e"],
    ["All done", "done"],
    ["All done. Dear All done and more", "All done and more"],
  ] as const)
    assert.ok(says(text, ...written), text);
  assert.deepEqual(writtenIn(["All done and more"], [["note", "All done"]]).includes("All done"), true);
});
