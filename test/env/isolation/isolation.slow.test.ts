import assert from "node:assert/strict";
import { test } from "node:test";
import { checkWalls, playTwice } from "./play-twice.js";
import { WAYS } from "./ways.js";

test("nothing that a page leaves reaches the next episode, and nothing is earned by it: all ways", async () => {
  const names = Object.keys(WAYS);
  assert.ok(names.length >= 25);
  await checkWalls(names);
});

test("in one context for all, as for pages of our own, the same pages do reach the next", async () => {
  const names = Object.keys(WAYS).filter((name) => WAYS[name]?.works);
  assert.ok(names.length >= 15);
  for (const [name, { posted, reward }] of Object.entries(await playTwice(names, true)))
    assert.deepEqual([name, posted, reward], [name, [["n", "Ann"]], 1]);
});
