import assert from "node:assert/strict";
import { it } from "node:test";
import { closing } from "../../../src/core/closing.js";
import { microConfig } from "../../support/micro-config.js";
import { MICRO, microModel } from "../../support/micro-model.js";
import { assertHolds, briefProofs } from "./all-proofs.js";
import { openOnTrial } from "./on-trial.js";

it("every proof but those over hundreds of rollouts holds of a model that is bidirectional inside blocks and causal between them", async () => {
  const model = { ...MICRO, architecture: "masked_lm", attention: "bidirectional" as const, attention_block: 3 };
  await using context = closing(await openOnTrial({ ...(await microConfig()), model: await microModel(model) }));
  assert.equal(context.policy.options.model.block, 3);
  assert.ok((await assertHolds(context, await briefProofs())).length > 12);
});
