import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { loadRegistries } from "../../../src/config/registries.js";
import { type RunConfig, runSchema } from "../../../src/config/schema.js";
import { Rng } from "../../../src/core/rng.js";
import type { RoundModel } from "../../../src/diffusion/sampler.js";
import { openContext } from "../../../src/features/verify/context.js";
import { holds, type VerifyContext } from "../../../src/features/verify/proof.js";
import { measureObjectiveRatio } from "../../../src/features/verify/proofs/objective-ratio.js";
import { measureOnPolicy } from "../../../src/features/verify/proofs/on-policy.js";
import { measureZeroScore } from "../../../src/features/verify/proofs/zero-score.js";
import type { Objective } from "../../../src/rl/objective.js";
import { objective as flowGrpo } from "../../../src/rl/objectives/flow-grpo.js";
import { assertHolds } from "../verify/all-proofs.js";
import { assertMisses } from "../verify/on-trial.js";
import { velocityModel } from "./velocity-model.js";

const STATE = 5;
type Context = VerifyContext & { close(): Promise<void> };

describe("verify on a flow policy over states", async () => {
  const open = async (sampler: object): Promise<Context> => {
    const raw = {
      name: "verify",
      model: dir,
      lora: { rank: 4, alpha: 4, targets: ["in_proj", "up_proj", "down_proj", "out_proj"] },
      runtime: { provider: "cpu", threads: 1 },
      environment: { kind: "control" },
      sampler: { kind: "flow", steps: 3, temperature: 0.4, ...sampler },
    };
    const config = runSchema(await loadRegistries(), undefined, raw).parse(raw) as RunConfig;
    const trials = [{ objective: flowGrpo as Objective, options: flowGrpo.schema.parse({}) }];
    const rng = Rng.named(1, "states");
    const states = Array.from({ length: 16 }, () => Array.from({ length: STATE }, () => rng.normal()));
    return openContext(config, trials, async () => states);
  };
  const { dir } = await velocityModel();
  const context = await open({});
  after(() => context.close());

  it("every proof that is of no tokens holds", async () => {
    const seen = await assertHolds(context);
    for (const name of ["gradients", "objective-ratio", "on-policy", "resume", "signal", "zero-score"])
      assert.ok(seen.includes(name), name);
  });

  it("a policy that moves less than it is scored to: replay and the mean score miss", async () => {
    const slower = (model: RoundModel<unknown>): RoundModel<unknown> => ({
      forwardRound: async (input) => ((await model.forwardRound(input)) as Float32Array).map((v) => 0.2 * v),
    });
    const rollout: typeof context.policy.sampler.rollout = (model, ...rest) =>
      context.policy.sampler.rollout(slower(model), ...rest);
    await assertMisses(measureOnPolicy(context, rollout));
    await assertMisses(measureZeroScore(context, rollout));
  });

  it("the surrogate of the flow-matching loss has a ratio of 1 and, being no likelihood, a mean score that is not 0", async () => {
    const surrogate = await open({ ratio: "cfm" });
    after(() => surrogate.close());
    for (const m of await measureObjectiveRatio(surrogate)) assert.ok(holds(m), `${m.name}: ${m.measured}`);
    const [score] = await measureZeroScore(surrogate);
    assert.ok(score !== undefined && !holds(score), `${score?.measured}`);
  });
});
