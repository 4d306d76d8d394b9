import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import type { Control } from "../../../src/env/browser/controls.js";
import { NULL_PLANS, oracleActions } from "../../../src/env/forms/oracle.js";
import { renderPlan } from "../../../src/env/forms/plan.js";
import { TIERS } from "../../../src/env/site.js";
import { site as embedded } from "../../../src/features/embedded/sites/embedded.js";
import { documentsPlan } from "../../env/documents-plan.js";
import { openRunner } from "../../env/page-site.js";

/** Tests the anchors of the reward's scale on every form of the embedded site. */
for (const tier of TIERS) {
  test(`${tier}: the oracle scores exactly 1 on every form, null policies at most .05 on average`, async () => {
    const sizes = { train: 1, val: 0, test: 0, heldout: 1 };
    const site = await embedded.start(embedded.schema.parse({ tier, sizes }));
    const runner = await openRunner(site, { contexts: 3 });
    after(() => runner.close());
    after(() => site.stop());
    const snapshots = new Map<string, Promise<readonly Control[]>>();
    const rewards = new Map(Object.keys(NULL_PLANS).map((name): [string, number[]] => [name, []]));
    await Promise.all(
      site.tasks().map(async (task, i) => {
        const snapshot = snapshots.get(task.url) ?? runner.snapshot(task);
        snapshots.set(task.url, snapshot);
        const controls = await snapshot;
        const actions = oracleActions(task.fields, site.fieldKinds?.(task) ?? {});
        const disagreement = `${task.id}: the site and its page disagree about a control`;
        assert.deepEqual(actions, oracleActions(task.fields, controls), disagreement);
        const write = tier === "full" ? renderPlan : documentsPlan;
        const oracle = await runner.run(task, write(actions));
        assert.equal(oracle.fault, undefined);
        assert.deepEqual([task.id, oracle.reward, oracle.success], [task.id, 1, true]);
        // every form is played by these on paper, which gives their plans the browser's rewards (paper)
        if (i % 3 > 0) return;
        for (const [policy, planOf] of Object.entries(NULL_PLANS)) {
          const plan = planOf(controls, Rng.named(1, `${policy}/${task.id}`));
          const { reward } = await runner.run(task, renderPlan(plan));
          rewards.get(policy)?.push(reward);
        }
      }),
    );
    assert.equal(snapshots.size, 25);
    for (const [policy, values] of rewards) {
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      assert.ok(mean <= 0.05, `${policy} scores ${mean.toFixed(3)} on average`);
    }
  });
}
