import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Control } from "../../../src/env/browser/controls.js";
import { NULL_PLANS, oracleActions } from "../../../src/env/forms/oracle.js";
import { renderPlan } from "../../../src/env/forms/plan.js";
import type { RunningSite, Task } from "../../../src/env/site.js";
import { cdnAssets, site as formfactory } from "../../../src/features/formfactory/sites/formfactory.js";
import { renderPrompt } from "../../../src/text/prompt.js";
import { openRunner } from "../../env/page-site.js";
import { userError } from "../../support/user-error.js";
import { MADE_FORMS, madeCheckout } from "./made-checkout.js";

const made = madeCheckout();
const start = (options: object): Promise<RunningSite> =>
  formfactory.start(formfactory.schema.parse({ path: made, forms: MADE_FORMS, ...options }));

const clean = await start({});
const whole = await start({ clean: false });
const runner = await openRunner(whole, { contexts: 2 });
after(async () => {
  await runner.close();
  await Promise.all([clean?.stop(), whole?.stop()]);
});

test("a page's script that is not installed is named with the command that installs it", async () => {
  const absent = cdnAssets(() => assert.fail("Cannot find module"));
  const message = /^FormFactory's pages need the package cleave\.js, which is not installed/;
  await assert.rejects(absent, userError(message, { hint: /^npm install cleave\.js@1\.6\.0$/ }));
  assert.equal((await cdnAssets()).size, 3);
});

test("cleaning drops phantom keys and what no control can hold, and says so", () => {
  assert.equal(whole.tasks().length, 48);
  assert.deepEqual(whole.notes, []);
  assert.equal(clean.tasks().length, 46);
  const [note = ""] = clean.notes ?? [];
  assert.match(note, /^FormFactory: 46 of 48 instances kept/);
  assert.match(note, /support-request: no control is called In short/);
  assert.match(note, /course-registration: 1 instance \(Select Courses: not an option\)/);
  assert.match(note, /membership-application: 1 instance \(Highest Education Level: not an option\)/);
  assert.equal(whole.tasks().filter((task) => task.clean).length, 46);
});

test("splits are by record and by form, and cleaning moves nothing", () => {
  const splits = new Map(whole.tasks().map((task) => [task.id, task.split]));
  assert.equal(splits.size, 48);
  for (const task of clean.tasks()) assert.equal(splits.get(task.id), task.split);
  for (const task of whole.tasks())
    assert.equal(task.split === "heldout", task.form === "legal-compliance/contractor-onboarding", task.id);
  assert.deepEqual([...new Set(splits.values())].sort(), ["heldout", "test", "train", "val"]);
  assert.notEqual(clean.splitHash(), whole.splitHash());
});

test("each task has its source text and the options of its choices", () => {
  const task = clean.tasks().find((t) => t.form === "tech-software/support-request" && t.id.endsWith("0002"));
  assert.match(task?.document ?? "", /^Letter 3\n[\s\S]*Lamp 2 is out[\s\S]*an answer$/);
  assert.deepEqual(task?.choices?.["Affected Users"], ["1 - 10", "11 - 100", "101+"]);
  assert.ok(task !== undefined && !renderPrompt(task, "document").includes("Affected Users | 100"));
});

test("a box that no gold row names is a required consent; one that rows name is as its page says", () => {
  const kindsOf = (form: string) => clean.fieldKinds?.(clean.tasks().find((t) => t.form.endsWith(form)) as Task) ?? {};
  assert.equal(kindsOf("membership-application")["I agree to the code"]?.required, true);
  assert.equal(kindsOf("contractor-onboarding")["I want letters"]?.required, false);
});

test("the oracle is accepted everywhere and perfect on every clean task; to know nothing is worth nothing", async () => {
  const pages = new Map<string, Promise<readonly Control[]>>();
  const cleanIds = new Map(clean.tasks().map((task) => [task.id, task]));
  // two records of each form, and every one that its controls cannot hold
  const some = whole.tasks().filter((task) => /[01]$/.test(task.id) || !cleanIds.has(task.id));
  const play = async (task: Task): Promise<void> => {
    const page = pages.get(task.url) ?? runner.snapshot(task);
    pages.set(task.url, page);
    const tidy = cleanIds.get(task.id);
    const actions = oracleActions((tidy ?? task).fields, await page);
    if (tidy !== undefined)
      assert.deepEqual(actions, oracleActions(tidy.fields, clean.fieldKinds?.(tidy) ?? {}), task.id);
    const oracle = await runner.run(tidy ?? task, renderPlan(actions));
    assert.deepEqual([task.id, oracle.fault, oracle.accepted], [task.id, undefined, true]);
    assert.equal(oracle.reward === 1 && oracle.success, tidy !== undefined, task.id);
    if (tidy === undefined || !task.id.endsWith("0")) return;
    for (const policy of ["empty", "submit-only"] as const) {
      const { reward } = await runner.run(tidy, renderPlan(NULL_PLANS[policy]()));
      assert.deepEqual([task.id, policy, reward], [task.id, policy, 0]);
    }
  };
  await Promise.all(some.map(play));
});
