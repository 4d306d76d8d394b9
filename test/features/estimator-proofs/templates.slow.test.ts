import assert from "node:assert/strict";
import { test } from "node:test";
import { holds } from "../../../src/verify/proof.js";
import { loadProofs } from "../../../src/verify/verify.js";
import { openOnTemplates } from "../../support/on-trial.js";

for (const changes of [
  { slot_size: 1 },
  { slot_size: 2 },
  { slot_fill: "autoregressive" },
  { constrained_decoding: true },
])
  test(`every proof holds on templates: ${JSON.stringify(changes)}`, async () => {
    const context = await openOnTemplates(changes);
    try {
      for (const [name, proof] of await loadProofs()) {
        if (proof.sampler === "jump") continue;
        for (const m of await proof.run(context))
          assert.ok(holds(m), `${name}: ${m.name} ${m.measured} > ${m.limit} (${m.detail})`);
      }
    } finally {
      await context.close();
    }
  });
