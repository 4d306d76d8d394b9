import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { loadRegistries } from "../../../src/config/registries.js";
import { type RunConfig, runSchema } from "../../../src/config/schema.js";
import type { RoundModel } from "../../../src/diffusion/sampler.js";
import { holds } from "../../../src/features/verify/proof.js";
import { measureOnPolicy } from "../../../src/features/verify/proofs/on-policy.js";
import { measureZeroScore } from "../../../src/features/verify/proofs/zero-score.js";
import { goldenModel, readGolden } from "../../support/golden.js";
import { assertHolds } from "./all-proofs.js";
import { scaled } from "./broken-estimators.js";
import { assertMisses, openOnTrial } from "./on-trial.js";

describe("verify on a micro FS-DFM", async () => {
  const golden = readGolden("fsdfm");
  const { dir } = await goldenModel(golden, { architecture: "fsdfm", attention: "bidirectional" });
  const raw = {
    name: "verify",
    model: dir,
    lora: { rank: golden.meta.rank, alpha: golden.meta.alpha, targets: ["qw", "kw", "vw", "attn_out"] },
    runtime: { provider: "cpu", threads: 1 },
    sampler: { kind: "jump", steps: 3, response_length: 8, prompt_length: 8, temperature: 0.8 },
  };
  const context = await openOnTrial(runSchema(await loadRegistries(), undefined, raw).parse(raw) as RunConfig);
  after(() => context.close());

  it("every proof holds, and grpo is not on trial: it has no probabilities to read from left to right", async () => {
    const onTrial = context.objectives.map(({ objective }) => objective.name);
    for (const name of ["espo", "flow-grpo"]) assert.ok(onTrial.includes(name), name);
    assert.ok(!onTrial.includes("grpo"));
    await assertHolds(context);
  });

  /** Rolls out with an input of the head that is not the one that is scored. */
  const off =
    (name: string, factor: number): typeof context.policy.sampler.rollout =>
    (model, ...rest) => {
      const other: RoundModel<unknown> = { forwardRound: (input) => model.forwardRound(scaled(input, name, factor)) };
      return context.policy.sampler.rollout(other, ...rest);
    };

  it("a policy that jumps less than it says: the replay misses", async () => {
    await assertMisses(measureOnPolicy(context, off("hazard", 0.5)));
  });

  it("a policy that samples at half the temperature that it is scored at: the mean score misses", async () => {
    const sharper = (await measureZeroScore(context, off("inverse_temperature", 2))).at(-1);
    assert.ok(sharper !== undefined && !holds(sharper), `${sharper?.measured}`);
  });
});
