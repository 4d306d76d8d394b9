import { test } from "node:test";
import { closing } from "../../../src/core/closing.js";
import { assertHolds } from "./all-proofs.js";
import { openOnTemplates } from "./on-trial.js";

// the other proofs take a minute, on the same templates (templates.slow.test.ts)
for (const changes of [
  {},
  { constrained_decoding: true },
  { slot_fill: "next-token", order: "blanks", constrained_decoding: true },
])
  test(`the likelihood's proofs hold on templates: ${JSON.stringify(changes)}`, async () => {
    await using context = closing(await openOnTemplates(changes));
    await assertHolds(context, ["on-policy", "zero-score"]);
  });
