import assert from "node:assert/strict";
import { test } from "node:test";
import { Semaphore } from "../../src/core/semaphore.js";

test("no more works run at once than there are slots, in the order in which they came", async () => {
  const semaphore = new Semaphore(2);
  const started: number[] = [];
  const ends: (() => void)[] = [];
  let running = 0;
  let most = 0;
  const works = [0, 1, 2, 3, 4].map((i) =>
    semaphore.run(async () => {
      started.push(i);
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => ends.push(resolve));
      running--;
      return i;
    }),
  );
  for (let i = 0; i < works.length; i++) {
    ends[i]?.();
    assert.equal(await works[i], i);
  }
  assert.equal(most, 2);
  assert.deepEqual(started, [0, 1, 2, 3, 4]);
});

test("a work that fails gives its slot on", async () => {
  const semaphore = new Semaphore(1);
  const failed = semaphore.run(() => Promise.reject(new Error("no")));
  const next = semaphore.run(async () => "yes");
  await assert.rejects(failed, /no/);
  assert.equal(await next, "yes");
});
