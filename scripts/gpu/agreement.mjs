import { load } from "../bench/support.mjs";

/** Largest relative error allowed on a GPU: CUDA multiplies float32 as TF32, which has 10 bits of mantissa. */
export const TOLERANCE = 1e-2;

const CONFIG = "configs/tiny/quickstart.yaml";

/**
 * Computes the logits, log-probabilities and gradients of a model on a provider, and the log-probabilities of rounds
 * with kept keys and values beside those that scoring gives the same rounds.
 */
async function results(provider, dir) {
  const { loadConfig } = await load("config/config.js");
  const { openPolicy } = await load("engine/policy.js");
  const { optimizerOptions } = await load("config/optimizer.js");
  const { prepareBatches, LENGTH_STEP } = await load("train/update.js");
  const { bindModel } = await load("nn/bind.js");
  const { freshAdapter } = await load("nn/lora.js");
  const { encodeModel } = await load("onnx/format/proto.js");
  const { Rng } = await load("core/rng.js");
  const { objective } = await load("rl/objectives/flow-grpo.js");
  const config = await loadConfig(CONFIG, {
    command: "flow-grpo",
    overrides: [`runtime.provider=${provider}`, `model=${dir}`],
  });
  const policy = await openPolicy(config, {
    objective,
    options: config.objective,
    optimizer: optimizerOptions(config),
  });
  try {
    const { engine, model, runtime } = policy;
    const rng = Rng.named(0, "agreement");
    const random = (sites) =>
      new Map(
        [...freshAdapter(sites, policy.lora, rng)].map(([name, t]) => [
          name,
          { ...t, data: Float32Array.from(t.data, () => 0.02 * rng.normal()) },
        ]),
      );
    await engine.setParameters("policy", random(policy.sites));
    await engine.setParameters("reference", random(policy.sites));
    await engine.setOptimizer(undefined);

    // a graph without adapters returns the model's own logits
    const [batch, length] = [2, 48];
    const bound = bindModel(model.graph, "logits", { dims: { B: batch, N: length } });
    bound.g.output("result", bound.outputs.logits);
    await runtime.load("logits", { bytes: encodeModel(bound.g.build()), weightsDir: model.dir });
    const ids = BigInt64Array.from({ length: batch * length }, () => BigInt(rng.int(1000)));
    const positions = BigInt64Array.from({ length: batch * length }, (_, i) => BigInt(i % length));
    const bias = Float32Array.from({ length: batch * length * length }, (_, i) =>
      i % length <= Math.floor(i / length) % length ? 0 : -1e9,
    );
    const { result } = await runtime.run("logits", {
      feeds: {
        input_ids: { dtype: "int64", shape: [batch, length], data: ids },
        position_ids: { dtype: "int64", shape: [batch, length], data: positions },
        attention_bias: { dtype: "float32", shape: [batch, 1, length, length], data: bias },
      },
    });

    // tokens are drawn at random instead of sampled from the model, so that every provider gets the same trajectories
    const trajectories = drawnTrajectories(policy, rng);
    const samples = trajectories.map((trajectory, i) => ({
      trajectory,
      credit: i % 2 === 0 ? 1 : -1,
      stream: (name) => Rng.named(0, `${name}/${i}`),
    }));
    const [micro] = await prepareBatches({ policy, objective, options: config.objective, size: samples.length }, [
      samples,
    ]);
    const { logProbs } = await engine.score(micro.batch, "policy");
    await engine.accumulate(micro.batch, { ...micro.values, old: (await engine.score(micro.batch, "policy")).logProb });
    const gradients = await engine.getGradients();
    const { sampler, options } = policy;
    const rngs = trajectories.map((_, i) => Rng.named(0, `rollout ${i}`));
    const prompts = trajectories.map(({ prompt }) => prompt);
    const rollouts = await sampler.rollout(engine, prompts, { ...options, kvCache: true }, rngs);
    const layout = { batch: rollouts.length, lengthStep: LENGTH_STEP, level: "step", share: false };
    const steps = sampler.stepTerms(rollouts, options, layout);
    const scored = await engine.score(steps, "policy");
    return {
      provider: runtime.provider,
      logits: result.data,
      logProbs: logProbs.filter((_, r) => micro.batch.coefficient[r] !== 0),
      rounds: { recorded: steps.logProb, scored: scored.logProb },
      gradients: Float32Array.from([...gradients.values()].flatMap((t) => [...t.data])),
    };
  } finally {
    await policy.close();
  }
}

/** Draws trajectories of random ordinary tokens, one slot per round from left to right. */
function drawnTrajectories({ options }, rng) {
  const { slotSize, rounds, temperature } = options;
  const responseLength = slotSize * rounds;
  return Array.from({ length: 4 }, () => {
    const response = Array.from({ length: responseLength }, () => rng.int(1000));
    return {
      prompt: Array.from({ length: 8 }, () => rng.int(1000)),
      slotSize,
      responseLength,
      temperature,
      rounds: Array.from({ length: rounds }, (_, t) => {
        const positions = Array.from({ length: slotSize }, (_, i) => t * slotSize + i);
        return {
          positions,
          tokens: positions.map((p) => response[p]),
          logProbs: positions.map(() => 0),
          eosAllowed: positions.map(() => true),
        };
      }),
      response,
      ended: "length",
    };
  });
}

/** Computes the largest difference as a share of the largest value; NaN counts as 1. */
function relativeError(got, expected) {
  let [difference, scale] = [0, 0];
  if (got.length !== expected.length) return 1;
  got.forEach((x, i) => {
    const d = Math.abs(x - expected[i]);
    difference = Math.max(difference, Number.isNaN(d) ? Number.POSITIVE_INFINITY : d);
    scale = Math.max(scale, Math.abs(expected[i]));
  });
  return scale === 0 ? Number(difference > 0) : Math.min(1, difference / scale);
}

/**
 * Measures the errors of a provider against the CPU on the model in a directory, and that of its rounds against its own
 * scores.
 */
export async function agreement(provider, dir) {
  const [expected, got] = [await results("cpu", dir), await results(provider, dir)];
  const errors = Object.fromEntries(
    ["logits", "logProbs", "gradients"].map((what) => [what, relativeError(got[what], expected[what])]),
  );
  const rounds = relativeError(got.rounds.scored, got.rounds.recorded);
  return {
    provider: got.provider,
    ...errors,
    rounds,
    agrees: Object.values(errors).every((error) => error <= TOLERANCE),
  };
}
