import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Rng } from "../../../src/core/rng.js";
import type { Episode } from "../../../src/env/forms/episode.js";
import { oracleActions } from "../../../src/env/forms/oracle.js";
import { renderPlan } from "../../../src/env/forms/plan.js";
import type { Task } from "../../../src/env/site.js";
import { openRunner } from "../../env/page-site.js";
import { allEnded, type Process, processTree } from "../../env/processes.js";
import { serveWithFaults } from "./fault-site.js";

/** Memory in bytes after an episode. */
interface Memory {
  readonly heap: number;
  readonly rss: number;
  readonly browser: number;
}

/** The data kept of an episode: little, so that growing memory means a leak. */
type Outcome = Pick<Episode, "taskId" | "reward" | "attempts"> & {
  readonly fault: string | undefined;
  /** Details of the episode where the reward is below 1. */
  readonly why?: readonly unknown[];
};

/** Episodes from one sample of the memory to the next. */
const SAMPLE_EVERY = 10;

/**
 * Plays the oracle's plans with random faults, and kills the browser every `killEvery` episodes.
 * @param onSample is called with every sample. @returns the samples too, and whether all processes of all browsers ended.
 */
async function soak(
  options: { episodes: number; rate: number; killEvery: number; seed: number },
  onSample: (episodes: number, memory: Memory) => void,
) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const site = await serveWithFaults(Rng.named(options.seed, "faults"), options.rate);
  const runner = await openRunner(site, { contexts: 4, actionTimeoutMs: 5000, episodeTimeoutMs: 10_000 });
  const order = Rng.named(options.seed, "tasks").shuffle(site.tasks()).slice(0, options.episodes);
  // reads the controls of the pages before the faults start
  const plans = new Map<Task, string>();
  await Promise.all(
    order.map(async (task) => {
      plans.set(task, renderPlan(oracleActions(task.fields, await runner.snapshot(task))));
    }),
  );
  site.start();
  const episodes: Outcome[] = [];
  const memory: Memory[] = [];
  const seen = new Map<string, Process>();
  let kills = 0;
  const measure = async (): Promise<void> => {
    const tree = processTree(await runner.browserPid());
    for (const process of tree) seen.set(`${process.pid}/${process.started}`, process);
    collect();
    const { heapUsed: heap, rss } = process.memoryUsage();
    memory.push({ heap, rss, browser: tree.reduce((sum, process) => sum + process.rss, 0) });
    onSample(episodes.length, memory.at(-1) as Memory);
  };
  try {
    let next = 0;
    const player = async (): Promise<void> => {
      while (next < options.episodes) {
        const task = order[next++ % order.length] as (typeof order)[number];
        const { taskId, fault, reward, attempts, ...rest } = await runner.run(task, plans.get(task) ?? "");
        const why = reward < 0.999 ? { why: [rest.received, rest.refusal, rest.posted, rest.actions] } : {};
        episodes.push({ taskId, fault, reward, attempts, ...why });
        if (episodes.length % SAMPLE_EVERY === 0) await measure();
        if (episodes.length % options.killEvery === 0) {
          const pid = await runner.browserPid();
          if (pid !== undefined) process.kill(pid, "SIGKILL");
          kills++;
        }
      }
    };
    await Promise.all(Array.from({ length: 4 }, player));
  } finally {
    await runner.close();
    await site.stop();
  }
  return { episodes, injected: site.injected(), memory, kills, ended: await allEnded([...seen.values()]) };
}

const mean = (samples: readonly Memory[], key: keyof Memory): number =>
  samples.reduce((sum, sample) => sum + sample[key], 0) / samples.length;

/** Number of episodes; SOAK_EPISODES=5000 is the long form, which reports its memory on the way. */
const EPISODES = Number(process.env.SOAK_EPISODES ?? 160);
const REPORT_EVERY = 1000;

test(`${EPISODES} episodes under random faults: flat memory, no process left, never a wrong reward`, async (t) => {
  const options = { episodes: EPISODES, rate: 0.06, killEvery: 80, seed: 1 };
  const { episodes, injected, memory, kills, ended } = await soak(options, (done, { heap, rss, browser }) => {
    if (done % REPORT_EVERY !== 0) return;
    const [ours, all, theirs] = [heap, rss, browser].map((bytes) => Math.round(bytes / 1e6));
    process.stderr.write(`${done} episodes: heap ${ours} MB, resident ${all} MB, browser ${theirs} MB\n`);
  });
  const faults = episodes.filter((e) => e.fault !== undefined);
  t.diagnostic(
    `injected ${JSON.stringify(Object.fromEntries(injected))}, ${kills} kills, ${faults.length} faults left`,
  );
  // the first fifth is warm-up: code is compiled and cached at the first visit to each page
  const [warm, some] = [0.2 * EPISODES, Math.min(100, 0.4 * EPISODES)].map((n) => Math.round(n / SAMPLE_EVERY));
  const [first, last] = [memory.slice(warm, Number(warm) + Number(some)), memory.slice(-Number(some))];
  // the heap is measured after a collection, so growth is a leak: 15 % leaves room for code caches (10 % was measured);
  // resident memory includes free memory of allocators, and the browser's depends on the number of open pages
  const bounds = [
    ["heap", 1.15],
    ["rss", 1.4],
    ["browser", 1.5],
  ] as const;
  for (const [key] of bounds)
    t.diagnostic(
      `${key}: ${Math.round(mean(first, key) / 1e6)} MB in the episodes after the warm-up, ${Math.round(mean(last, key) / 1e6)} MB in the last ones`,
    );
  const wrong = episodes.filter(({ fault, reward }) => (fault === undefined ? reward !== 1 : !Number.isNaN(reward)));
  assert.deepEqual(wrong, []);
  assert.ok(faults.length <= 0.05 * EPISODES, `${faults.length} of ${EPISODES} left out`);
  assert.ok(
    injected.size >= 3 && kills >= 2 && episodes.some((e) => e.attempts > 1),
    `${[...injected.keys()]}, ${kills}`,
  );
  assert.ok(ended, "every process of every browser has ended");
  for (const [key, bound] of bounds)
    assert.ok(mean(last, key) <= bound * mean(first, key), `${key}: ${mean(first, key)} to ${mean(last, key)} bytes`);
});
