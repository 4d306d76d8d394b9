import { load } from "../bench/support.mjs";
import { withPeak } from "./memory.mjs";
import { MC_SAMPLES } from "./shape.mjs";

/** So small that the updates leave the weights almost unchanged between the measurements. */
const LEARNING_RATE = 1e-9;

/**
 * Measures one rollout group, one Flow-GRPO update and one ESPO update by `meter`: seconds and peak memory by default.
 * Each objective has its own runtime, as in a run. The first repeat also builds the graphs; the last one is reported.
 * @param more `flowUpdate` false leaves Flow-GRPO's update out, which builds many graphs.
 */
export async function measurePhases(dir, s, { provider, rank, microBatch, repeats, log, ...more }) {
  const { meter = withPeak, openRuntime, cached = false, checkpoint = false, flowUpdate = true, memory } = more;
  const { loadModel } = await load("nn/model.js");
  const { sampledModel } = await load("engine/policy.js");
  const { sampler } = await load("diffusion/samplers/unmask.js");
  const { Rng } = await load("core/rng.js");
  const model = await loadModel(dir);
  const config = {
    rounds: s.rounds,
    slot_size: s["slot-size"],
    response_length: s.response,
    prompt_length: s.prompt,
    // off by default, as the arithmetic limits in shape.mjs assume
    kv_cache: cached,
  };
  const options = sampler.options(sampler.schema.parse(config), sampledModel(model.config));
  const rng = Rng.named(0, "prompts");
  const ordinary = model.config.vocab_size - 3;
  const prompt = Array.from({ length: s.prompt }, () => rng.int(ordinary));
  const about = {
    model,
    sampler,
    options,
    provider,
    rank,
    microBatch,
    repeats,
    log,
    meter,
    openRuntime,
    checkpoint,
    memory,
  };

  const { objective: flowGrpo } = await load("rl/objectives/flow-grpo.js");
  const steps = { steps_per_update: Math.min(s["rounds-per-update"], s.rounds) };
  let trajectories;
  const flow = await onEngine(about, flowGrpo, steps, async (engine, measure, update) => {
    const rollout = await measure("rollout group", async (run) => {
      const rngs = Array.from({ length: s.group }, (_, i) => Rng.named(run, `rollout ${i}`));
      const prompts = rngs.map(() => prompt);
      trajectories = await sampler.rollout(engine, prompts, options, rngs, s.group);
    });
    return flowUpdate ? { rollout, ...(await update("Flow-GRPO", trajectories)) } : { rollout };
  });
  const { objective: espoObjective } = await load("rl/objectives/espo.js");
  const espo = await onEngine(
    about,
    espoObjective,
    { mc_samples: MC_SAMPLES, coupled: true },
    (_engine, _measure, update) => update("ESPO", trajectories),
  );
  return {
    rollout: { ...flow.rollout, tokens: trajectories.reduce((n, t) => n + t.response.length, 0) },
    flowGrpo: { values: flow.values, update: flow.update },
    espo: { values: espo.values, update: espo.update },
  };
}

async function onEngine(about, objective, chosen, work) {
  const { Engine } = await load("engine/engine.js");
  const { sampledModel } = await load("engine/policy.js");
  const { Runtime } = await load("onnx/session.js");
  const { loraSites } = await load("nn/bind.js");
  const { freshAdapter } = await load("nn/lora.js");
  const { prepareUpdate, takeStep } = await load("train/update.js");
  const { Rng } = await load("core/rng.js");
  const { model, sampler, options, provider, rank, microBatch, repeats, log, meter, checkpoint, memory } = about;
  const lora = {
    rank,
    alpha: 2 * rank,
    targets: ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
  };
  const optimizer = {
    kind: "adamw",
    beta1: 0.9,
    beta2: 0.999,
    epsilon: 1e-8,
    weightDecay: 0,
    gradClip: 1,
    muonLrScale: 1,
  };
  const objectiveOptions = objective.schema.parse(chosen);
  const runtime = await (about.openRuntime ?? Runtime.open)({ provider });
  try {
    const engine = new Engine(runtime, model, {
      sampler,
      about: sampledModel(model.config),
      lora,
      checkpoint,
      memory,
      training: { objective, options: objectiveOptions, optimizer },
    });
    const adapter = freshAdapter(loraSites(model.graph, lora), lora, Rng.named(0, "adapter"));
    await engine.setParameters("policy", adapter);
    await engine.setParameters("reference", adapter);
    await engine.setOptimizer(undefined);
    const measure = async (what, once) => {
      let last;
      for (let run = 0; run <= repeats; run++) {
        const { result: seconds, ...memory } = await meter(what, async () => {
          const began = performance.now();
          await once(run);
          return (performance.now() - began) / 1000;
        });
        log(`${what}: ${seconds.toFixed(3)} s${run === 0 ? " with building and loading the graphs" : ""}`);
        last = { seconds, ...memory };
      }
      return last;
    };
    const update = async (name, trajectories) => {
      const samples = trajectories.map((trajectory, i) => ({
        trajectory,
        credit: i % 2 === 0 ? 1 : -1,
        stream: (draws) => Rng.named(0, `${draws}/${i}`),
      }));
      let batches;
      const values = await measure(`${name}, values to compare with`, async () => {
        const policy = { engine, sampler, options };
        const context = { policy, objective, options: objectiveOptions, size: microBatch };
        batches = await prepareUpdate(context, [samples], undefined, true);
      });
      const step = await measure(`${name}, update`, async (run) => {
        const metrics = await takeStep(engine, batches, run + 1, LEARNING_RATE);
        if (!Number.isFinite(metrics.grad_norm)) throw new Error(`${name}: the gradient norm is ${metrics.grad_norm}`);
      });
      return { values, update: step };
    };
    return await work(engine, measure, update);
  } finally {
    await runtime.close();
  }
}
