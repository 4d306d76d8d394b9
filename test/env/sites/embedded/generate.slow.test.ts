import assert from "node:assert/strict";
import { test } from "node:test";
import { oracleActions } from "../../../../src/env/forms/oracle.js";
import { renderPlan } from "../../../../src/env/forms/plan.js";
import { site as embedded } from "../../../../src/env/sites/embedded.js";
import { openRunner } from "../../page-site.js";

test("generated forms in a real browser: the oracle has 1.00 on each of 30", async () => {
  const none = { train: 0, val: 0, test: 0, heldout: 0 };
  const site = await embedded.start(embedded.schema.parse({ sizes: none, generated: 30, letters: 3 }));
  const runner = await openRunner(site, { contexts: 2 });
  try {
    assert.equal(site.tasks().length, 30);
    for (const task of site.tasks()) {
      const plan = renderPlan(oracleActions(task.fields, site.fieldKinds?.(task) ?? {}));
      const { fault, reward, success } = await runner.run(task, plan);
      assert.deepEqual([task.id, fault, reward, success], [task.id, undefined, 1, true]);
    }
  } finally {
    await runner.close();
    await site.stop();
  }
});
