import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import { environment, FormsEnvironment } from "../../../src/env/environments/forms.js";
import type { Task } from "../../../src/env/site.js";
import { readContract } from "../../../src/features/learned-pages/contract.js";
import { wrongLabels } from "../../env/components/judge.js";
import type { ComponentPage } from "../../env/components/page.js";
import { PAGES } from "../../env/components/pages.js";
import { startSuite, tasksFile } from "../../env/components/suite.js";
import { temporaryFolder } from "../../support/temporary.js";

const folder = temporaryFolder("components");
const site = await startSuite();
after(() => site.close());

/** Labels that no plain way has to enter, by form: those that are not proved are named, and can be recorded. */
const RECORDED: Readonly<Record<string, readonly string[]>> = {
  "react/ariakit-member": ["Sports"],
  "plain/tomselect-course": ["Rooms"],
  "plain/airdate-shift": ["My shift"],
  "vue/multiselect-workshop": ["Tools"],
};
/** A form that is not sent without a field that no plain way enters. */
const UNSENT = "plain/choices-menu";
/** A field of text whose server takes a day as it is typed, where its calendar would write another notation. */
const TYPED: Readonly<Record<string, string>> = { "plain/select2-hire": "Pick-up day" };

/** Plays a policy for one person. @param left labels that are not proved. @returns what is wrong with the reward, or with what the server received. */
async function played(
  env: FormsEnvironment,
  form: ComponentPage,
  policy: string,
  person: number,
  left: readonly string[],
): Promise<string[]> {
  const task = env.tasks[person] as Task;
  site.forget(form.id);
  const act = await env.fixedPolicies[policy]?.(task, Rng.named(0, policy));
  assert.ok(act !== undefined);
  const { reward, fault } = await env.play(task, act, new Map());
  if (policy !== "oracle") return reward !== null && reward <= 0.05 ? [] : [`${policy}: ${reward} ${fault ?? ""}`];
  if (left.length === 0 && (reward ?? 0) < 0.99) return [`${policy} ${person}: ${reward} ${fault ?? ""}`];
  const receipt = site.received(form.id).at(-1);
  const lost = wrongLabels(form, receipt?.body, form.people[person] as never);
  return lost
    .filter((label) => !left.includes(label) && TYPED[form.id] !== label)
    .map((label) => `rewarded without ${label}`);
}

/** Learns a page's form, then plays two people, and a submit alone. @returns what is wrong. */
async function learned(form: ComponentPage): Promise<string[]> {
  const tasks = join(folder, `${form.id.replace("/", "_")}.jsonl`);
  writeFileSync(tasks, tasksFile(form));
  const env = await environment.open({
    site: { kind: "url", tasks, base_url: site.baseUrl },
    browser: { contexts: 1, action_timeout_s: 20, rollout_timeout_s: 120 },
    prompt: {},
  });
  assert.ok(env instanceof FormsEnvironment);
  try {
    await env.form(env.tasks[0] as Task);
    const file = join(`${tasks}.contracts`, `${form.id.replace(/[^\w.-]+/g, "_")}.yaml`);
    if (!existsSync(file)) return ["no contract"];
    const missing = readContract(readFileSync(file, "utf8"), file).not_proved;
    const left = Object.keys(missing);
    const wrong = left.filter((label) => !(RECORDED[form.id] ?? []).includes(label));
    for (const person of [1, 2]) wrong.push(...(await played(env, form, "oracle", person, left)));
    wrong.push(...(await played(env, form, "submit-only", 1, left)));
    return wrong;
  } finally {
    await env.close();
  }
}

describe("forms built with component libraries", { concurrency: 2 }, () => {
  for (const form of PAGES)
    test(`${form.id} is learned, and played for other people`, async () => {
      if (form.id !== UNSENT) assert.deepEqual(await learned(form), []);
      else await assert.rejects(learned(form), /could not be learned: nothing was sent, without Serving day and time/);
    });
});
