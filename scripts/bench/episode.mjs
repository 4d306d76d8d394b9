/**
 * Measures the CPU time of an episode on the embedded site by process, in one context by step too, and in four: oracle
 * plans of 64 tasks. On Linux only.
 */
import { STEPS, watchSteps } from "./episode-steps.mjs";
import { cpuByKind, findProcesses } from "./processes.mjs";
import { load, median } from "./support.mjs";

const CONFIG = "configs/tiny/quickstart.yaml";
const EPISODES = 64;
/** The columns: the kinds of processes. */
const COLUMNS = {
  ...{ node: ["node"], browser: ["browser"], renderer: ["renderer"], others: ["gpu-process", "network"] },
  all: ["node", "browser", "renderer", "gpu-process", "network"],
};

/** Returns a table of an episode: a row a step in one context, and one for all steps in one context and in four. */
export async function benchEpisode({ runs }) {
  const { loadConfig } = await load("config/config.js");
  const config = await loadConfig(CONFIG, { command: "flow-grpo" });
  const rounds = [];
  for (let run = 0; run < runs; run++) {
    const one = await playEpisodes(config, 1, watchSteps);
    rounds.push({ one, four: await playEpisodes(config, 4) });
  }
  const faults = rounds.reduce((all, { one, four }) => all + one.faults + four.faults, 0);
  if (faults > 0) throw new Error(`${faults} of ${2 * runs * EPISODES} episodes failed by the environment`);
  const sum = (numbers) => numbers.reduce((all, ms) => all + ms, 0);
  const row = (name, spentOf) => {
    const cell = (kinds) =>
      median(rounds.map((round) => sum(spentOf(round).flatMap((spent) => kinds.map((kind) => spent[kind] ?? 0)))));
    return [name, ...Object.values(COLUMNS).map((kinds) => cell(kinds).toFixed(1))];
  };
  return {
    columns: ["CPU ms", ...Object.keys(COLUMNS)],
    rows: [
      ...STEPS.map((step) => row(step, ({ one }) => [one.steps[step] ?? {}])),
      row("**an episode**", ({ one }) => Object.values(one.steps)),
      row("in four contexts", ({ four }) => [four.cpu_ms]),
    ],
  };
}

/**
 * Plays oracle plans in the browser, `contexts` at a time.
 * @param watch starts to follow the steps of episodes; not at all by default.
 * @returns rates, and CPU milliseconds an episode by process, and by step and process.
 */
export async function playEpisodes(config, contexts, watch = undefined) {
  const { openEnvironment, evaluationTasks, tasksOf } = await load("env/open.js");
  const environment = await openEnvironment({ ...config, browser: { ...config.browser, contexts } });
  const runner = await environment.runner();
  const play = (tasks) => {
    const plans = environment.demonstrations(tasks).map(({ action }) => action.text);
    return Promise.all(tasks.map((task, i) => runner.run(task, plans[i])));
  };
  await play(evaluationTasks(tasksOf(environment, "val"), contexts * 4, 0, "warm-up"));
  const tasks = evaluationTasks(tasksOf(environment, "val"), EPISODES, 1, "val");
  const processes = findProcesses();
  const before = cpuByKind(processes);
  const end = await watch?.();
  const began = performance.now();
  const played = await play(tasks);
  const seconds = (performance.now() - began) / 1000;
  const steps = end?.();
  const after = cpuByKind(new Map([...findProcesses(), ...processes]));
  await environment.close();
  const ms = played.map((e) => e.ms);
  const each = (spent) => Object.fromEntries(Object.entries(spent).map(([kind, ms]) => [kind, ms / EPISODES]));
  const spent = Object.fromEntries(Object.entries(after).map(([kind, all]) => [kind, all - (before[kind] ?? 0)]));
  return {
    episodes_per_s: Number((tasks.length / seconds).toFixed(2)),
    p50_ms: Math.round(median(ms)),
    p95_ms: Math.round(median(ms, 0.95)),
    cpu_ms: each(spent),
    ...(steps === undefined
      ? {}
      : { steps: Object.fromEntries(Object.entries(steps).map(([step, ms]) => [step, each(ms)])) }),
    faults: played.filter((e) => e.fault !== undefined).length,
  };
}
