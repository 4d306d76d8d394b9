import assert from "node:assert/strict";
import { test } from "node:test";
import { closing } from "../../../src/core/closing.js";
import { microConfig } from "../../support/micro-config.js";
import { MICRO, microModel } from "../../support/micro-model.js";
import { assertHolds, briefProofs } from "./all-proofs.js";
import { openOnTemplates, openOnTrial } from "./on-trial.js";

const brief = await briefProofs();
for (const [changes, proofs] of [
  [{ slot_size: 2 }],
  [{ slot_fill: "autoregressive" }, brief],
  [{ slot_fill: "next-token", order: "blanks" }],
] as const) {
  const which = proofs === undefined ? "every proof" : "every proof but those over hundreds of rollouts";
  test(`${which} holds on templates: ${JSON.stringify(changes)}`, async () => {
    await using context = closing(await openOnTemplates(changes));
    await assertHolds(context, proofs);
  });
}

test("without masks every proof holds too for a bidirectional model with shifted logits", async () => {
  const changes = { slot_fill: "next-token", order: "blanks", constrained_decoding: true };
  const model = { architecture: "masked_lm", attention: "bidirectional", qk_norm: true, shifted_logits: true };
  await using context = closing(await openOnTemplates(changes, model));
  await assertHolds(context, brief);
});

test("every proof but those over hundreds of rollouts holds of a model that is bidirectional inside blocks and causal between them", async () => {
  const model = { ...MICRO, architecture: "masked_lm", attention: "bidirectional" as const, attention_block: 3 };
  await using context = closing(await openOnTrial({ ...(await microConfig()), model: await microModel(model) }));
  assert.equal(context.policy.options.model.block, 3);
  assert.ok((await assertHolds(context, brief)).length > 12);
});
