import assert from "node:assert/strict";
import { test } from "node:test";
import { soak } from "./soak.js";

test("under random faults every episode is the oracle's or a fault, and no process is left", async () => {
  const { episodes, injected, kills, ended } = await soak({ episodes: 24, rate: 0.12, killEvery: 12, seed: 3 });
  assert.equal(episodes.length, 24);
  assert.ok(injected.size >= 3, `injected: ${[...injected.keys()]}`);
  assert.equal(kills, 2);
  for (const { taskId, fault, reward } of episodes)
    assert.ok(fault === undefined ? reward === 1 : Number.isNaN(reward), `${taskId}: ${fault} ${reward}`);
  assert.ok(episodes.filter((e) => e.fault === undefined).length >= 20, "most are played after a retry");
  assert.ok(episodes.some((e) => e.attempts > 1));
  assert.ok(ended);
});
