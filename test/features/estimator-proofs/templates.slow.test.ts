import { test } from "node:test";
import { closing } from "../../../src/core/closing.js";
import { openOnTemplates } from "../verify/on-trial.js";
import { assertHolds, briefProofs } from "./all-proofs.js";

const brief = await briefProofs();
for (const [changes, proofs] of [
  [{ slot_size: 1 }, brief],
  [{ slot_size: 2 }],
  [{ slot_fill: "autoregressive" }, brief],
  [{ constrained_decoding: true }, brief],
] as const) {
  const which = proofs === undefined ? "every proof" : "every proof but those over hundreds of rollouts";
  test(`${which} holds on templates: ${JSON.stringify(changes)}`, async () => {
    await using context = closing(await openOnTemplates(changes));
    await assertHolds(context, proofs);
  });
}
