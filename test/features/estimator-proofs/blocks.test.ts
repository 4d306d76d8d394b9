import assert from "node:assert/strict";
import { it } from "node:test";
import { holds } from "../../../src/verify/proof.js";
import { loadProofs } from "../../../src/verify/verify.js";
import { microConfig } from "../../support/micro-config.js";
import { MICRO, microModel } from "../../support/micro-model.js";
import { openOnTrial } from "../../support/on-trial.js";

it("every proof holds of a model that is bidirectional inside blocks and causal between them", async () => {
  const model = { ...MICRO, architecture: "masked_lm", attention: "bidirectional" as const, attention_block: 3 };
  const { dir, remove } = await microModel(model);
  const context = await openOnTrial({ ...(await microConfig()), model: dir });
  try {
    assert.equal(context.policy.options.model.block, 3);
    let measured = 0;
    for (const [name, proof] of await loadProofs()) {
      if (proof.sampler === "jump") continue;
      for (const m of await proof.run(context)) {
        measured++;
        assert.ok(holds(m), `${name}: ${m.name} ${m.measured} > ${m.limit} (${m.detail})`);
      }
    }
    assert.ok(measured > 20, String(measured));
  } finally {
    await context.close();
    remove();
  }
});
