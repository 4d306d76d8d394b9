// node scripts/bench/cluster.mjs [--only cpu,latency,memory]: measures workers, as JSON lines (docs/cluster.md).
// Uses the set-up of the tests: an environment without a browser, the tiny model and a Redis that it starts itself.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { flagsOf } from "../lib/flags.mjs";
import { ROOT } from "../lib/setup.mjs";

const { values } = flagsOf(import.meta.url, {
  options: {
    only: { type: "string", default: "cpu,latency,memory" },
    steps: { type: "string", default: "200" },
  },
});
const support = (name) => import(pathToFileURL(join(ROOT, "dist", "test", "support", `${name}.js`)).href);
const { ClusterFolder } = await support("cluster-run");
const { TestRedis } = await support("redis");

/** Folder into which every process of the benchmark writes its CPU time when it ends. */
const ended = mkdtempSync(join(tmpdir(), "cpu-"));
const hook = `process.on("exit",()=>require("fs").writeFileSync(${JSON.stringify(ended)}+"/"+process.pid,JSON.stringify(process.cpuUsage())))`;
process.env.NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(`import {createRequire} from "node:module";const require=createRequire("/");${hook}`)}`;

const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

/** CPU seconds of a process that has ended. */
function cpuSeconds({ pid }) {
  const { user, system } = JSON.parse(readFileSync(join(ended, String(pid)), "utf8"));
  return (user + system) / 1e6;
}

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
const round = (value) => Math.round(value * 100) / 100;

function rows(folder, run) {
  const path = folder.path(join(run, "metrics.jsonl"));
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

async function ending(children) {
  for (const child of children) child.signal("SIGTERM");
  for (const child of children) {
    const { code, err } = await child.ended;
    if (code !== 0) throw new Error(err);
  }
}

/** Measures the CPU seconds of one run in a single process and with workers; in a short run starting them dominates. */
async function cpu(folder, redis) {
  for (const steps of [2, 20]) {
    const settings = [`training.steps=${steps}`, "evaluation.splits=[]", "evaluation.every=0", "checkpoint.every=0"];
    const local = folder.local(`cpu-local-${steps}`, { settings });
    await folder.done(local);
    print({ cpu: "local", steps, seconds: round(cpuSeconds(local)) });
    for (const workers of steps === 2 ? [1] : [1, 2, 4]) {
      const crew = Array.from({ length: workers }, () => folder.worker(redis));
      for (const worker of crew) await worker.says(/waiting for runs/);
      const run = folder.coordinator(redis, `cpu-${steps}-${workers}`, { settings });
      await folder.done(run);
      await ending(crew);
      const parts = { coordinator: round(cpuSeconds(run)), workers: crew.map((worker) => round(cpuSeconds(worker))) };
      print({ cpu: workers, steps, seconds: round(parts.coordinator + sum(parts.workers)), ...parts });
    }
  }
}

/** Measures the seconds of steps whose episodes take 1 to 3 s each, with one worker and with eight. */
async function latency(folder, redis) {
  const settings = [
    ...[
      "environment.least_ms=1000",
      "environment.most_ms=3000",
      "training.prompts_per_step=64",
      "training.num_iterations=1",
    ],
    ...[
      "training.steps=2",
      "evaluation.splits=[]",
      "evaluation.every=0",
      "checkpoint.every=0",
      "training.gradient_slots=1",
    ],
  ];
  let alone;
  for (const workers of [1, 8]) {
    const crew = Array.from({ length: workers }, () => folder.worker(redis));
    for (const worker of crew) await worker.says(/waiting for runs/);
    const name = `latency-${workers}`;
    await folder.done(folder.coordinator(redis, name, { settings, distributed: ["distributed.slow=0"] }));
    await ending(crew);
    // leaves out the first step, in which the workers start
    const steps = rows(folder, name).slice(1);
    const of = (time) => sum(steps.map((row) => row.time[time])) / steps.length;
    const found = { rollout: round(of("rollout")), total: round(of("total")) };
    alone ??= found;
    const share = (key) => round(alone[key] / found[key] / workers);
    print({ latency: workers, ...found, linear: { rollout: share("rollout"), total: share("total") } });
  }
}

/** Measures the memory of coordinator, workers and Redis during a run, in MiB. */
async function memory(folder, redis) {
  const steps = Number(values.steps);
  const settings = [
    ...[`training.steps=${steps + 2}`, "evaluation.splits=[]", "evaluation.every=0", "checkpoint.every=0"],
    ...[
      "training.prompts_per_step=2",
      "training.group_size=2",
      "training.gradient_slots=2",
      "training.num_iterations=1",
    ],
  ];
  const crew = [folder.worker(redis), folder.worker(redis)];
  for (const worker of crew) await worker.says(/waiting for runs/);
  const run = folder.coordinator(redis, "memory", { settings });
  const resident = ({ pid }) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
  const used = () => Number(/used_memory:(\d+)/.exec(redis.cli("info", "memory"))?.[1]) / 2 ** 20;
  for (let at = steps / 4; at <= steps; at += steps / 4) {
    while (rows(folder, "memory").length < at) {
      if (!run.running) throw new Error(run.err);
      await sleep(100);
    }
    const keys = redis.cli("dbsize").trim();
    print({
      step: at,
      coordinator: round(resident(run)),
      workers: crew.map((w) => round(resident(w))),
      redis: round(used()),
      keys: Number(keys),
    });
  }
  await folder.done(run);
  await ending(crew);
}

const all = { cpu, latency, memory };
const redis = await TestRedis.start();
const folder = new ClusterFolder();
try {
  for (const name of values.only.split(",")) await all[name](folder, redis);
} finally {
  await folder.remove();
  await redis.stop();
  rmSync(ended, { recursive: true });
}
