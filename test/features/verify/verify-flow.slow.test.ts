import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { loadRegistries } from "../../../src/config/registries.js";
import { type RunConfig, runSchema } from "../../../src/config/schema.js";
import type { RoundModel } from "../../../src/diffusion/sampler.js";
import { holds, type VerifyContext } from "../../../src/features/verify/proof.js";
import { measureOnPolicy } from "../../../src/features/verify/proofs/on-policy.js";
import { measureZeroScore } from "../../../src/features/verify/proofs/zero-score.js";
import { goldenModel, readGolden } from "../../support/golden.js";
import { assertHolds } from "./all-proofs.js";
import { scaled } from "./broken-estimators.js";
import { openOnTrial } from "./on-trial.js";

/** Rolls out at half of the hazard that is scored: a policy that jumps less than it says. */
function lazy(model: RoundModel<unknown>): RoundModel<unknown> {
  return {
    forwardRound: (input) => model.forwardRound(scaled(input, "hazard", 0.5)),
  };
}

describe("verify on a micro FS-DFM", () => {
  let context: VerifyContext & { close(): Promise<void> };
  before(async () => {
    const golden = readGolden("fsdfm");
    const { dir } = await goldenModel(golden, { architecture: "fsdfm", attention: "bidirectional" });
    const raw = {
      name: "verify",
      model: dir,
      lora: { rank: golden.meta.rank, alpha: golden.meta.alpha, targets: ["qw", "kw", "vw", "attn_out"] },
      runtime: { provider: "cpu", threads: 1 },
      sampler: { kind: "jump", steps: 3, response_length: 8, prompt_length: 8, temperature: 0.8 },
    };
    context = await openOnTrial(runSchema(await loadRegistries(), undefined, raw).parse(raw) as RunConfig);
  });
  after(() => context.close());

  it("every proof holds, and grpo is not on trial: it has no probabilities to read from left to right", async () => {
    const onTrial = context.objectives.map(({ objective }) => objective.name);
    for (const name of ["espo", "flow-grpo"]) assert.ok(onTrial.includes(name), name);
    assert.ok(!onTrial.includes("grpo"));
    await assertHolds(context);
  });

  it("a policy that jumps less than it says: the replay misses", async () => {
    const rollout: typeof context.policy.sampler.rollout = (model, ...rest) =>
      context.policy.sampler.rollout(lazy(model), ...rest);
    for (const m of await measureOnPolicy(context, rollout)) assert.ok(!holds(m), `${m.name}: ${m.measured}`);
  });

  it("a policy that samples at half the temperature that it is scored at: the mean score misses", async () => {
    const cold = (model: RoundModel<unknown>): RoundModel<unknown> => ({
      forwardRound: (input) => model.forwardRound(scaled(input, "inverse_temperature", 2)),
    });
    const scores = await measureZeroScore(context, (model, ...rest) =>
      context.policy.sampler.rollout(cold(model), ...rest),
    );
    const sharper = scores.at(-1);
    assert.ok(sharper !== undefined && !holds(sharper), `${sharper?.measured}`);
  });
});
