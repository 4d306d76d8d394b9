import assert from "node:assert/strict";
import { test } from "node:test";
import { closing } from "../../src/core/closing.js";
import { Rng } from "../../src/core/rng.js";
import { FormsEnvironment } from "../../src/env/environments/forms.js";
import type { Idioms } from "./idioms/idiom.js";
import { idiomTask, serveIdioms } from "./idioms/play.js";
import { SHOWN_AGAIN, STILL_THERE } from "./idioms/wordings.js";
import { FORMS_OPTIONS } from "./page-site.js";

/** Plays the oracle on pages without learning them. @returns the names of the accepted pages. */
async function accepted(pages: Idioms): Promise<string[]> {
  const site = await serveIdioms(pages);
  const tasks = Object.entries(pages).map(([name, idiom]) => idiomTask(name, idiom));
  await using environment = closing(new FormsEnvironment({ ...site, tasks: () => tasks }, FORMS_OPTIONS));
  const played = Object.keys(pages).map(async (name, i) => {
    const task = tasks[i] as (typeof tasks)[0];
    const act = await environment.fixedPolicies.oracle?.(task, Rng.named(1, task.id));
    const { fault, detail } = await environment.play(task, act as NonNullable<typeof act>, new Map());
    assert.equal(fault, undefined, `${name}: ${fault}`);
    return detail.accepted === true ? [name] : [];
  });
  return (await Promise.all(played)).flat();
}

test("a form that is shown again was refused, whatever the page says and in which language", async () => {
  assert.equal(Object.keys(SHOWN_AGAIN).length, 17);
  assert.deepEqual(await accepted(SHOWN_AGAIN), []);
});

test("without a marker a form that is gone, emptied or left as it was is accepted, and no other", async () => {
  assert.deepEqual(await accepted(STILL_THERE), [
    "German thanks, by the task's marker",
    "a script that empties its form",
    "a script that says nothing",
    "German thanks on a page of its own",
  ]);
});
