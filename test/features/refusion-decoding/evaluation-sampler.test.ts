import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { loadConfig } from "../../../src/config/config.js";
import { optimizerOptions } from "../../../src/config/optimizer.js";
import type { Observation } from "../../../src/core/interaction.js";
import { Rng } from "../../../src/core/rng.js";
import { initialAdapter } from "../../../src/engine/adapter.js";
import { openPolicy } from "../../../src/engine/policy.js";
import { openEnvironment } from "../../../src/env/open.js";
import type { RefusionTrajectory } from "../../../src/features/refusion-decoding/trajectory.js";
import { objective } from "../../../src/rl/objectives/flow-grpo.js";
import { userError } from "../../support/user-error.js";

const CONFIG = "configs/tiny/quickstart.yaml";
const quick = ["runtime.provider=cpu", "runtime.threads=1"];

describe("evaluation.sampler=refusion beside a policy that unmasks (shipped model)", async () => {
  const config = await loadConfig(CONFIG, {
    command: "flow-grpo",
    overrides: ["evaluation.sampler.kind=refusion", "evaluation.sampler.token_threshold=0.5", ...quick],
  });
  const training = { objective, options: config.objective, optimizer: optimizerOptions(config) };
  const policy = await openPolicy(config, training);
  await policy.engine.setParameters("policy", initialAdapter(config, policy));
  const environment = await openEnvironment(config);
  const shown = Rng.named(1, "tasks")
    .shuffle([...environment.tasks])
    .slice(0, 6)
    .map((task) => environment.firstObservation?.(task) as Observation);
  await environment.close();
  after(() => policy.close());

  const search = (some: readonly Observation[], batch: number): Promise<RefusionTrajectory[]> => {
    const { sampler, options, rounds } = policy.evaluation;
    const rngs = some.map((_, i) => Rng.named(0, `${i}`));
    const asked = some.map((observation) => policy.startOf(observation) as number[]);
    return sampler.rollout(rounds, asked, options, rngs, batch) as Promise<RefusionTrajectory[]>;
  };

  it("decodes forms in fewer forwards than tokens, the same in a batch as alone", async () => {
    const together = await search(shown, shown.length);
    for (const [i, trajectory] of together.entries()) {
      assert.equal(trajectory.ended, "eos");
      assert.ok(trajectory.forwards < trajectory.response.length);
      assert.match(policy.actionOf(trajectory).text ?? "", /^(fill|select|check)/);
      // every slot size and threshold as the config says: the canvas is the policy's own
      assert.equal(trajectory.responseLength, policy.options.responseLength);
      assert.deepEqual((await search([shown[i] as Observation], 1))[0], trajectory);
    }
  });

  it("leaves the policy's own rollouts as they are", async () => {
    const { sampler, options, rounds } = policy;
    const asked = shown.map((observation) => policy.startOf(observation) as number[]);
    const rngs = (): Rng[] => asked.map((_, i) => Rng.named(0, `${i}`));
    const rollout = (): Promise<unknown> => sampler.rollout(rounds, asked, options, rngs());
    const first = await rollout();
    await search(shown.slice(0, 1), 1);
    assert.deepEqual(await rollout(), first);
  });
});

it("training with the sampler refusion is refused with the reason", async () => {
  const config = await loadConfig(CONFIG, { command: "flow-grpo", overrides: ["sampler.kind=refusion", ...quick] });
  const training = { objective, options: config.objective, optimizer: optimizerOptions(config) };
  await assert.rejects(
    openPolicy(config, training),
    userError(/^flow-grpo does not work here: its sampler has no log-probabilities of its steps\.$/, { exitCode: 2 }),
  );
});
