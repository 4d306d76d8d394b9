import assert from "node:assert/strict";
import { test } from "node:test";
import { type Memory, SAMPLE_EVERY, soak } from "./soak.js";

const mean = (samples: readonly Memory[], key: keyof Memory): number =>
  samples.reduce((sum, sample) => sum + sample[key], 0) / samples.length;

/** Number of episodes; SOAK_EPISODES=5000 is the long form, which reports its memory on the way. */
const EPISODES = Number(process.env.SOAK_EPISODES ?? 250);
const REPORT_EVERY = 1000;

test(`${EPISODES} episodes under random faults: flat memory, no process left, never a wrong reward`, async (t) => {
  const { episodes, injected, memory, kills, ended } = await soak({
    episodes: EPISODES,
    rate: 0.06,
    killEvery: 125,
    seed: 1,
    onSample: (done, { heap, rss, browser }) => {
      if (done % REPORT_EVERY !== 0) return;
      const [ours, all, theirs] = [heap, rss, browser].map((bytes) => Math.round(bytes / 1e6));
      process.stderr.write(`${done} episodes: heap ${ours} MB, resident ${all} MB, browser ${theirs} MB\n`);
    },
  });
  const faults = episodes.filter((e) => e.fault !== undefined);
  t.diagnostic(
    `injected ${JSON.stringify(Object.fromEntries(injected))}, ${kills} kills, ${faults.length} faults left`,
  );
  // the first fifth is warm-up: code is compiled and cached at the first visit to each page
  const [warm, hundred] = [Math.round(EPISODES / 5 / SAMPLE_EVERY), 100 / SAMPLE_EVERY];
  const [first, last] = [memory.slice(warm, warm + hundred), memory.slice(-hundred)];
  // the heap is measured after a collection, so growth is a leak: 15 % leaves room for code caches (10 % was measured);
  // resident memory includes free memory of allocators, and the browser's depends on the number of open pages
  const bounds = [
    ["heap", 1.15],
    ["rss", 1.4],
    ["browser", 1.5],
  ] as const;
  for (const [key] of bounds)
    t.diagnostic(
      `${key}: ${Math.round(mean(first, key) / 1e6)} MB in 100 episodes after the warm-up, ${Math.round(mean(last, key) / 1e6)} MB in the last 100`,
    );
  const wrong = episodes.filter(({ fault, reward }) => (fault === undefined ? reward !== 1 : !Number.isNaN(reward)));
  assert.deepEqual(wrong, []);
  assert.ok(faults.length <= 0.05 * EPISODES, `${faults.length} of ${EPISODES} left out`);
  assert.ok(episodes.some((e) => e.attempts > 1));
  assert.ok(ended, "every process of every browser has ended");
  for (const [key, bound] of bounds)
    assert.ok(mean(last, key) <= bound * mean(first, key), `${key}: ${mean(first, key)} to ${mean(last, key)} bytes`);
});
