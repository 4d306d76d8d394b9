import assert from "node:assert/strict";
import { test } from "node:test";
import { closing } from "../../../../src/core/closing.js";
import { Rng } from "../../../../src/core/rng.js";
import { drawFault, injectedFaults } from "../../../../src/env/browser/injected-faults.js";
import type { EpisodeOutcome } from "../../../../src/env/environment.js";
import { PagesEnvironment } from "../../../../src/features/wizards/environments/pages.js";
import { site as wizard } from "../../../../src/features/wizards/sites/wizard.js";
import { FORMS_OPTIONS } from "../../../env/page-site.js";

async function playAll(faults: object): Promise<EpisodeOutcome[]> {
  const site = await wizard.start(wizard.schema.parse({ sizes: { train: 1, val: 0, test: 0, heldout: 0 } }));
  const browser = { ...FORMS_OPTIONS.browser, contexts: 2, inject_faults: injectedFaults.parse(faults) };
  const environment = { kind: "pages", turns: 8, page_characters: 2000 };
  await using pages = closing(new PagesEnvironment(site, { ...FORMS_OPTIONS, browser, environment }));
  return await Promise.all(
    pages.tasks.slice(0, 4).map(async (task) => {
      const act = await pages.fixedPolicies.oracle?.(task, Rng.named(1, task.id));
      return pages.play(task, act as NonNullable<typeof act>);
    }),
  );
}

test("an answer that is late costs nothing; a fault that passes is played over with the same answers", async () => {
  for (const { reward } of await playAll({ rate: 1, kinds: ["delay"] })) assert.equal(reward, 1);
  // seed 3: of the first four episodes some meet a fault in their first attempt, none in all three
  const first = [0, 1, 2, 3].filter((i) => drawFault(injectedFaults.parse(MIXED), i, 0) !== undefined);
  assert.ok(first.length > 0);
  for (const { reward, fault } of await playAll(MIXED)) assert.deepEqual([reward, fault], [1, undefined]);
});

const MIXED = { rate: 0.5, kinds: ["kill", "drop"], seed: 3 };
