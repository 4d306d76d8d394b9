import { test } from "node:test";
import { closing } from "../../../src/core/closing.js";
import { assertHolds, briefProofs, openOnTemplates } from "../../support/on-trial.js";

for (const [changes, only] of [
  [{ slot_size: 1 }, await briefProofs()],
  [{ slot_size: 2 }],
  [{ slot_fill: "autoregressive" }, await briefProofs()],
  [{ constrained_decoding: true }, await briefProofs()],
] as const)
  test(`every proof holds on templates: ${JSON.stringify(changes)}`, async () => {
    await using context = closing(await openOnTemplates(changes));
    await assertHolds(context, only);
  });
