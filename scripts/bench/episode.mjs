/**
 * Measures the CPU time of an episode on the embedded site by process: oracle plans of 64 tasks, in one context and in
 * four. The processes of the browser are read from /proc, so that this part runs on Linux only.
 */
import { readdirSync, readFileSync } from "node:fs";
import { load, median } from "./support.mjs";

const CONFIG = "configs/tiny/quickstart.yaml";
const EPISODES = 64;
/** Milliseconds of a tick of /proc (`getconf CLK_TCK` is 100 on Linux). */
const TICK_MS = 10;

export async function benchEpisode({ runs }) {
  const { loadConfig } = await load("config/config.js");
  const config = await loadConfig(CONFIG, { command: "flow-grpo" });
  const result = {};
  for (const contexts of [1, 4]) {
    const rounds = [];
    for (let run = 0; run < runs; run++) rounds.push(await playEpisodes(config, contexts));
    const kinds = [...new Set(rounds.flatMap(({ cpu_ms }) => Object.keys(cpu_ms)))];
    const middle = (of) => Number(median(rounds.map(of)).toFixed(1));
    result[`contexts_${contexts}`] = {
      ...Object.fromEntries(kinds.map((kind) => [kind, middle(({ cpu_ms }) => cpu_ms[kind] ?? 0)])),
      all: middle(({ cpu_ms }) => Object.values(cpu_ms).reduce((sum, ms) => sum + ms, 0)),
      p50_ms: middle(({ p50_ms }) => p50_ms),
      faults: rounds.reduce((sum, { faults }) => sum + faults, 0),
    };
  }
  return result;
}

/** Plays oracle plans in the browser, `contexts` at a time. @returns rates, and CPU milliseconds an episode by process. */
export async function playEpisodes(config, contexts) {
  const { openEnvironment, evaluationTasks, tasksOf } = await load("env/open.js");
  const environment = await openEnvironment({ ...config, browser: { ...config.browser, contexts } });
  const runner = await environment.runner();
  const play = (tasks) => {
    const plans = environment.demonstrations(tasks).map(({ action }) => action.text);
    return Promise.all(tasks.map((task, i) => runner.run(task, plans[i])));
  };
  await play(evaluationTasks(tasksOf(environment, "val"), contexts * 4, 0, "warm-up"));
  const tasks = evaluationTasks(tasksOf(environment, "val"), EPISODES, 1, "val");
  const before = cpuByProcess();
  const began = performance.now();
  const played = await play(tasks);
  const seconds = (performance.now() - began) / 1000;
  const after = cpuByProcess();
  await environment.close();
  const ms = played.map((e) => e.ms);
  const spent = Object.entries(after).map(([kind, all]) => [kind, (all - (before[kind] ?? 0)) / EPISODES]);
  return {
    episodes_per_s: Number((tasks.length / seconds).toFixed(2)),
    p50_ms: Math.round(median(ms)),
    p95_ms: Math.round(median(ms, 0.95)),
    cpu_ms: Object.fromEntries(spent),
    faults: played.filter((e) => e.fault !== undefined).length,
  };
}

/** Sums the CPU milliseconds of this process and of its descendants, by kind; {} where there is no /proc. */
function cpuByProcess() {
  const all = new Map();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const [, parent, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      const kind = / --type=([\w-]+)/.exec(command)?.[1] ?? "browser";
      const part = kind === "utility" ? (/ --utility-sub-type=(\w+)/.exec(command)?.[1] ?? kind) : kind;
      all.set(pid, { parent, kind: part, ms: TICK_MS * (Number(rest[9]) + Number(rest[10])) });
    } catch {
      // the process has ended
    }
  }
  const isOurs = (pid) => pid === String(process.pid) || (all.has(pid) && isOurs(all.get(pid).parent));
  const sums = {};
  for (const [pid, { kind, ms }] of all) {
    if (!isOurs(pid)) continue;
    const name = pid === String(process.pid) ? "node" : kind;
    sums[name] = (sums[name] ?? 0) + ms;
  }
  return sums;
}
