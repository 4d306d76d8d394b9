import { test } from "node:test";
import { closing } from "../../../src/core/closing.js";
import { assertHolds, openOnTemplates } from "../../support/on-trial.js";

for (const changes of [
  { slot_size: 1 },
  { slot_size: 2 },
  { slot_fill: "autoregressive" },
  { constrained_decoding: true },
])
  test(`every proof holds on templates: ${JSON.stringify(changes)}`, async () => {
    await using context = closing(await openOnTemplates(changes));
    await assertHolds(context);
  });
