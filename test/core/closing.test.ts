import assert from "node:assert/strict";
import { test } from "node:test";
import { closing, firstFailure } from "../../src/core/closing.js";

test("resources close in the reverse order, and the failure of the block comes before those of closing", async () => {
  const closed: string[] = [];
  const resource = (name: string) =>
    closing({
      close: () => {
        closed.push(name);
        throw new Error(`closing ${name}`);
      },
    });
  const failing = async (): Promise<void> => {
    await using _first = resource("first");
    await using _second = resource("second");
    throw new Error("the block");
  };
  const error = await failing().then(() => assert.fail("it did not fail"), firstFailure);
  assert.equal((error as Error).message, "the block");
  assert.deepEqual(closed, ["second", "first"]);
});
