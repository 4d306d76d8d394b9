import assert from "node:assert/strict";
import { test } from "node:test";
import type { SupervisedExample } from "../../../src/diffusion/supervised.js";
import { openExamples } from "../../../src/train/supervised/supervision.js";

test("a curriculum opens the shortest tasks first, and all of them at its end", () => {
  const examples = [5, 1, 9, 3, 7, 2, 8, 4, 10, 6].map(
    (length): SupervisedExample => ({ prompt: [], response: new Array<number>(length).fill(0) }),
  );
  const open = (step: number, steps: number): number[] =>
    openExamples(examples, step, steps).map(({ response }) => response.length);
  assert.deepEqual(open(1, 10), [1]);
  assert.deepEqual(open(6, 10), [1, 2, 3, 4, 5, 6]);
  assert.deepEqual(open(11, 10), [5, 1, 9, 3, 7, 2, 8, 4, 10, 6]);
  assert.deepEqual(open(1, 0), [5, 1, 9, 3, 7, 2, 8, 4, 10, 6]);
});
