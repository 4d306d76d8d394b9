import { test } from "node:test";
import { closing } from "../../../src/core/closing.js";
import { assertHolds, briefProofs } from "./all-proofs.js";
import { openOnTemplates } from "./on-trial.js";

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
