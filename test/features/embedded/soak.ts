import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Rng } from "../../../src/core/rng.js";
import type { Episode } from "../../../src/env/forms/episode.js";
import { oracleActions } from "../../../src/env/forms/oracle.js";
import { renderPlan } from "../../../src/env/forms/plan.js";
import type { Task } from "../../../src/env/site.js";
import { openRunner } from "../../env/page-site.js";
import { allEnded, type Process, processTree } from "../../env/processes.js";
import { faultsAtRandom, serveWithFaults } from "./fault-site.js";

/** Memory in bytes after an episode. */
export interface Memory {
  readonly heap: number;
  readonly rss: number;
  readonly browser: number;
}

/** The data kept of an episode: little, so that growing memory means a leak. */
export type Outcome = Pick<Episode, "taskId" | "reward" | "attempts"> & {
  readonly fault: string | undefined;
  /** Details of the episode where the reward is below 1. */
  readonly why?: readonly unknown[];
};

export interface SoakResult {
  readonly episodes: readonly Outcome[];
  readonly injected: ReadonlyMap<string, number>;
  /** One sample every `SAMPLE_EVERY` episodes. */
  readonly memory: readonly Memory[];
  readonly kills: number;
  /** Whether all processes of all browsers ended. */
  readonly ended: boolean;
}

export const SAMPLE_EVERY = 10;

/** Plays the oracle's plans with random faults, and kills the browser every `killEvery` episodes. */
export async function soak(options: {
  episodes: number;
  rate: number;
  killEvery: number;
  seed: number;
  /** Called with every sample. */
  onSample?: (episodes: number, memory: Memory) => void;
}): Promise<SoakResult> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const site = await serveWithFaults(faultsAtRandom(Rng.named(options.seed, "faults"), options.rate));
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
    options.onSample?.(episodes.length, memory.at(-1) as Memory);
  };
  try {
    let next = 0;
    const player = async (): Promise<void> => {
      while (next < options.episodes) {
        const task = order[next++ % order.length] as (typeof order)[number];
        const { taskId, fault, reward, attempts, received, refusal, posted, actions } = await runner.run(
          task,
          plans.get(task) ?? "",
        );
        const why = reward < 0.999 ? { why: [received, refusal, posted, actions] } : {};
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
