// A run as one script: a diffusion language model learns to fill in forms by reinforcement, from top to bottom.
//
//   node examples/one-run.mjs [FOLDER] [KEY=VALUE ...]
//
// `refusion-train` takes the same steps, and adds what a long run needs: checkpoints and resume, a schedule of the
// learning rate, workers, several turns an episode, metrics, a report. Sizes below: G tasks a step, E episodes of each,
// N = G E responses, of which B share a micro-batch, with S segments (here rounds of unmasking: a ratio each).
import {
  adapterConfig,
  evaluate,
  initialParameters,
  objectiveOf,
  openEnvironment,
  openTrainedPolicy,
  parameterParts,
  Rng,
  resolveConfig,
  tasksOf,
  writeCheckpoint,
} from "refusion-train";

// 1. The config: a model of 1.8 M parameters, forms without a browser, Flow-GRPO on the rounds of unmasking
const [folder = "runs/one-run", ...overrides] = process.argv.slice(2);
const config = await resolveConfig(
  {
    name: "one-run",
    model: "models/tiny-refusion",
    environment: { kind: "paper" },
    plan: "free", // the model writes the whole plan: a line for each field
    objective: { kind: "flow-grpo", kl_coeff: 0.01 },
    sampler: { kind: "unmask", rounds: 4, slot_size: 4, prompt_length: 56, response_length: 56 },
    training: { steps: 12, prompts_per_step: 4, group_size: 8, rollout_batch: 32, micro_batch: 8, learning_rate: 1e-3 },
    evaluation: { episodes: 64 },
  },
  overrides,
);
const { seed, training } = config;
const objective = await objectiveOf(config.objective.kind);

// 2. Open the policy: its base weights are frozen, and an adapter (LoRA) is trained, which has no effect yet
const policy = await openTrainedPolicy({ config, objective });
const { engine, sampler, options: sampling } = policy;
const start = initialParameters(config, policy);
await engine.setParameters("policy", start);
await engine.setParameters("reference", start);
await engine.setOptimizer(undefined); // AdamW, whose moments begin at 0

// 3. Open the environment: it shows a form as a text, carries out a plan, and computes the reward
const environment = await openEnvironment(config);
await environment.start();
const tasks = tasksOf(environment, "train");

for (let step = 1; step <= training.steps; step++) {
  // 4. Roll out: N responses, each from a random stream of its own, so that no number depends on the batches
  const drawn = Rng.named(seed, `tasks/${step}`).shuffle(tasks).slice(0, training.prompts_per_step);
  const each = drawn.flatMap((task) => Array.from({ length: training.group_size }, () => task));
  const prompts = each.map((task) => policy.startOf(environment.firstObservation(task)));
  const streams = each.map((_, i) => Rng.named(seed, `rollout/${step}/${i}`));
  const trajectories = await sampler.rollout(policy.rounds, prompts, sampling, streams, training.rollout_batch);

  // 5. Play each response as a plan; a reward is from 0 to 1, and null where the environment failed
  const played = each.map((task, i) => environment.play(task, async () => policy.actionOf(trajectories[i]), new Map()));
  const rewards = (await Promise.all(played)).map(({ reward }) => reward);

  // 6. Credit: the advantage of an episode in its group, A = (R - mean) / std; null in a group without differences
  const samples = drawn.flatMap((_, g) => {
    const group = each.map((_, i) => i).filter((i) => Math.floor(i / training.group_size) === g);
    const episodes = group.map((i) => ({ reward: rewards[i], turns: [{ steps: sampler.steps(trajectories[i]) }] }));
    return objective
      .credit(episodes, config.objective)
      .flatMap((credit, e) =>
        credit === null ? [] : [{ trajectory: trajectories[group[e]], credit: credit[0], stream: streams[group[e]] }],
      );
  });

  // 7. Lay out: micro-batches of B trajectories; a segment's weight in the loss is its share of all segments
  const batches = [];
  for (let from = 0; from < samples.length; from += training.micro_batch) {
    const some = samples.slice(from, from + training.micro_batch);
    const sizes = { batch: training.micro_batch, lengthStep: 16 };
    const batch = objective.layout(
      some.map(({ trajectory }) => trajectory),
      config.objective,
      {
        rngs: some.map(({ stream }) => stream),
        steps: (trajectory) => sampler.steps(trajectory),
        stepTerms: (rows, layout) => sampler.stepTerms(rows, sampling, { ...sizes, ...layout }),
      },
    );
    batches.push({ batch, some });
  }
  const segments = batches.flatMap(({ batch }) => batch.owner).filter((owner) => owner >= 0).length;

  // 8. Update: the gradient of max(-A rho, -A clip(rho, 1 - eps, 1 + eps)) + beta k3 over all micro-batches, one step
  let loss = 0;
  for (const { batch, some } of batches) {
    // log-probabilities [S]: those that the rollout recorded, and those of the reference, which penalises distance
    const old = batch.logProb;
    const { reference: compares } = objective.needs(config.objective);
    const reference = compares ? (await engine.score(batch, "reference")).logProb : old;
    const advantage = Float32Array.from(batch.owner, (owner) => (owner < 0 ? 0 : some[owner].credit));
    const weight = Float32Array.from(batch.owner, (owner) => (owner < 0 ? 0 : 1 / segments));
    loss += (await engine.accumulate(batch, { old, reference, advantage, weight })).loss;
  }
  const norm = batches.length === 0 ? 0 : await engine.step(step, training.learning_rate);

  // 9. Log: one line a step
  const known = rewards.filter((reward) => reward !== null);
  const reward = known.reduce((sum, x) => sum + x, 0) / known.length;
  console.log(
    `step ${step}: reward ${reward.toFixed(3)}, ${samples.length} samples, loss ${loss.toFixed(4)}, gradient ${norm.toFixed(2)}`,
  );
}

// 10. Save: the adapter in PEFT's layout, with the optimizer's state
await writeCheckpoint(folder, {
  step: training.steps,
  ...parameterParts(engine.groups, await engine.getParameters("policy"), adapterConfig(config, policy)),
  optimizer: await engine.getOptimizer(),
  state: {},
});
await environment.close();
await policy.close();

// 11. Load what was saved, and evaluate it beside the model itself on records that were never trained on
for (const init_adapter of [null, folder]) {
  const [val] = await evaluate({ config: { ...config, init_adapter } }, { split: "val" });
  console.log(`${init_adapter ?? config.model}: val reward ${val.reward.mean.toFixed(3)}`);
}
