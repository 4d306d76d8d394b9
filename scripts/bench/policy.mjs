/**
 * Measures rollout tokens/s, update milliseconds and episodes/s of the shipped model on the embedded site, and the
 * share of the machine's peak rate in matrix products that sampling, scoring by the reference, and the update reach.
 */
import { playEpisodes } from "./episode.mjs";
import { load, median } from "./support.mjs";
import { countOperations, cpuMs, openPeak } from "./work.mjs";

const CONFIG = "configs/tiny/quickstart.yaml";
const ROLLOUTS = 32;

export async function benchPolicy({ runs, contexts }) {
  const { loadConfig } = await load("config/config.js");
  const { openPolicy } = await load("engine/policy.js");
  const { initialAdapter } = await load("engine/adapter.js");
  const { openEnvironment, evaluationTasks, tasksOf } = await load("env/open.js");
  const { optimizerOptions } = await load("config/optimizer.js");
  const { prepareBatches, takeStep } = await load("train/update.js");
  const { Rng } = await load("core/rng.js");
  const { objective } = await load("rl/objectives/flow-grpo.js");
  const config = await loadConfig(CONFIG, { command: "flow-grpo" });
  const policy = await openPolicy(config, {
    objective,
    options: config.objective,
    optimizer: optimizerOptions(config),
  });
  const environment = await openEnvironment(config);
  const start = initialAdapter(config, policy);
  await policy.engine.setParameters("policy", start);
  await policy.engine.setParameters("reference", start);
  await policy.engine.setOptimizer(undefined);
  const tasks = evaluationTasks(tasksOf(environment, "train"), ROLLOUTS, 0, "train");
  const operations = countOperations(policy.engine.runtime);
  const peak = await openPeak();

  const tokensPerSecond = [];
  const updateMs = [];
  const updateCpuMs = [];
  const rates = [];
  const speeds = { rollout: [], score: [], update: [] };
  // the first round also builds and loads the graphs
  for (let run = -1; run < runs; run++) {
    const rngs = tasks.map((_, i) => Rng.named(run + 1, `bench/${i}`));
    rates.push(await peak.rate());
    /** Runs a phase and records its CPU time. @returns the phase's result. */
    const phase = async (name, work) => {
      const before = operations();
      let result;
      const cpu = await cpuMs(async () => {
        result = await work();
      });
      if (run >= 0) speeds[name].push((operations() - before) / cpu);
      return { result, cpu };
    };
    const began = performance.now();
    const { result: trajectories } = await phase("rollout", () =>
      policy.sampler.rollout(
        policy.engine,
        tasks.map((t) => policy.startOf(environment.firstObservation(t))),
        policy.options,
        rngs,
        config.training.rollout_batch,
      ),
    );
    const generated = performance.now();
    const samples = trajectories.map((trajectory, i) => ({
      trajectory,
      credit: i % 2 === 0 ? 1 : -1,
      stream: (name) => Rng.named(0, `bench/${name}/${i}`),
    }));
    const { result: batches } = await phase("score", () =>
      prepareBatches({ policy, objective, options: config.objective, size: config.training.micro_batch }, [samples]),
    );
    const prepared = performance.now();
    const { cpu } = await phase("update", () => takeStep(policy.engine, batches, run + 2, 1e-6));
    if (run < 0) continue;
    tokensPerSecond.push(trajectories.reduce((n, t) => n + t.response.length, 0) / ((generated - began) / 1000));
    updateMs.push(performance.now() - prepared);
    updateCpuMs.push(cpu);
  }
  await peak.close();
  await policy.close();
  await environment.close();
  const episodes = {};
  for (const n of contexts) episodes[n] = await playEpisodes(config, n);
  return {
    rollout_tokens_per_s: Math.round(median(tokensPerSecond)),
    update_ms: Math.round(median(updateMs)),
    update_cpu_ms: Math.round(median(updateCpuMs)),
    rollouts_per_update: ROLLOUTS,
    gemm_share: Object.fromEntries(
      Object.entries(speeds).map(([name, values]) => [name, median(values) / Math.max(...rates)]),
    ),
    episodes,
  };
}
