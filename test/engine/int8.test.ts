import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { loadConfig } from "../../src/config/config.js";
import { optimizerOptions } from "../../src/config/optimizer.js";
import { closing } from "../../src/core/closing.js";
import { Rng } from "../../src/core/rng.js";
import { mean } from "../../src/core/statistics.js";
import { int8Rollouts } from "../../src/engine/int8.js";
import { openPolicy, type Policy } from "../../src/engine/policy.js";
import { openEnvironment } from "../../src/env/open.js";
import { freshAdapter } from "../../src/nn/lora.js";
import { objective } from "../../src/rl/objectives/flow-grpo.js";
import { checkReplay } from "../../src/train/replay-check.js";
import { prepareBatches, scoreHere, takeStep } from "../../src/train/update.js";

const CONFIG = "configs/tiny/template-flow-grpo.yaml";
const CAP = 1.2;

const configOf = (...overrides: string[]): ReturnType<typeof loadConfig> =>
  loadConfig(CONFIG, { command: "flow-grpo", overrides: ["runtime.threads=1", ...overrides] });

describe("rollouts in int8 (shipped model)", async () => {
  let options: Awaited<ReturnType<typeof configOf>>["objective"];

  const open = async (...overrides: string[]): Promise<Policy> => {
    const config = await configOf(`objective.importance_cap=${CAP}`, ...overrides);
    options = config.objective;
    const policy = await openPolicy(config, { objective, options, optimizer: optimizerOptions(config) });
    const adapter = freshAdapter(policy.sites, policy.lora, Rng.named(1, "adapter"));
    await policy.engine.setParameters("policy", adapter);
    await policy.engine.setParameters("reference", adapter);
    await policy.engine.setOptimizer(undefined);
    return policy;
  };

  const exact = await open();
  const coarse = await open("runtime.rollout_precision=int8");
  const environment = await openEnvironment(await configOf());
  const tasks = Rng.named(2, "tasks").shuffle(environment.tasks).slice(0, 8);
  const starts = tasks.map((task) => exact.startOf(environment.firstObservation?.(task) ?? {}));
  await environment.close();
  after(() => exact.close());
  after(() => coarse.close());

  /** Samples laid out as a step does, with their old values and importance weights. */
  async function prepared(policy: Policy): ReturnType<typeof prepareBatches<unknown>> {
    const rngs = starts.map((_, i) => Rng.named(3, `rollout/${i}`));
    const trajectories = await policy.sampler.rollout(policy.rounds, starts as never, policy.options, rngs);
    await checkReplay(policy, trajectories, scoreHere(policy.engine));
    const samples = trajectories.map((trajectory, i) => {
      return { trajectory, credit: i % 2 === 0 ? 1 : -1, stream: (name: string) => Rng.named(0, `${name} ${i}`) };
    });
    return prepareBatches<unknown>({ policy, objective, options, size: 4 }, [samples]);
  }

  const distances = (batches: Awaited<ReturnType<typeof prepared>>, from: "old" | "reference" = "old"): number[] =>
    batches.flatMap(({ batch: { owner, logProb: recorded }, values }) =>
      [...owner].flatMap((b, s) => (b < 0 ? [] : [Math.abs((values[from][s] as number) - (recorded?.[s] as number))])),
    );

  it("are near to what scoring says, and not equal", async () => {
    const near = mean(distances(await prepared(exact)));
    const far = mean(distances(await prepared(coarse)));
    assert.ok(near < 1e-4, `float32: ${near}`);
    assert.ok(far > 10 * near && far < 0.3, `int8: ${far}`);
  });

  it("have an adapter that stays in their weights, which then cannot change", async () => {
    const adapter = freshAdapter(exact.sites, exact.lora, Rng.named(1, "adapter"));
    const rng = Rng.named(4, "B");
    for (const [name, { data }] of adapter)
      for (let i = 0; i < data.length && name.includes("lora_B"); i++) data[i] = 0.1 * rng.normal();
    await using final = closing(await open("runtime.rollout_precision=int8"));
    const { rank, alpha } = final.lora;
    const unscaled = [...adapter].map(([name, tensor]) => {
      const data = (tensor.data as Float32Array).map((x) => (name.includes("lora_B") ? (x * rank) / alpha : x));
      return [name, { ...tensor, data }] as const;
    });
    await final.engine.setParameters("reference", new Map(unscaled));
    await final.engine.setFinal(adapter);
    const batches = await prepared(final);
    const [far, from] = [mean(distances(batches)), mean(distances(batches, "reference"))];
    assert.ok(far > 1e-4 && far < from / 2, `int8 with the adapter: ${far}, from one of another scale: ${from}`);
    await assert.rejects(final.engine.setParameters("policy", adapter), /final/);
  });

  it("are int8 by `auto` where nothing is trained, and the processor's sums of int8 products are right", async () => {
    const chosen = async (setting: "auto" | "int8", trains: boolean, runtime = exact.runtime) =>
      (await int8Rollouts(setting, runtime, trains)) !== undefined;
    assert.deepEqual([await chosen("auto", true), await chosen("auto", false)], [false, true]);
    const halved = async (...call: Parameters<typeof exact.runtime.run>): ReturnType<typeof exact.runtime.run> => {
      const sums = await exact.runtime.run(...call);
      for (const { data } of Object.values(sums)) for (let i = 0; i < data.length; i++) data[i] = Number(data[i]) / 2;
      return sums;
    };
    const overflowing = Object.assign(Object.create(exact.runtime), { run: halved });
    assert.equal(await chosen("auto", false, overflowing), false);
    await assert.rejects(chosen("int8", false, overflowing), /overflow/);
  });

  it("count by truncated importance weights of the exact probabilities, from which ratios begin at 1", async () => {
    const batches = await prepared(coarse);
    for (const { batch, values, trust } of batches)
      batch.owner.forEach((b, s) => {
        if (b < 0) return;
        const weight = Math.exp((values.old[s] as number) - (batch.logProb?.[s] as number));
        assert.ok(Math.abs((trust?.[s] as number) - Math.min(weight, CAP)) < 1e-5);
      });
    const { ratio_error } = await takeStep(coarse.engine, batches, 1, 1e-3);
    assert.ok((ratio_error as number) < 1e-5, `ratio error ${ratio_error}`);
  });

  it("of a model whose weights are all trained are refused: nothing of it would be in int8", async () => {
    const config = await configOf("runtime.rollout_precision=int8");
    await using whole = closing(await openPolicy(config, undefined, true));
    const rngs = starts.map((_, i) => Rng.named(3, `rollout/${i}`));
    await whole.engine.setParameters("policy", whole.engine.weights());
    const rollout = whole.sampler.rollout(whole.rounds, starts as never, whole.options, rngs);
    await assert.rejects(rollout, /int8 changes nothing/);
  });
});
