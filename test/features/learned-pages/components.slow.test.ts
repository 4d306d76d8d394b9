import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import { environment, FormsEnvironment } from "../../../src/env/environments/forms.js";
import type { Task } from "../../../src/env/site.js";
import { readContract } from "../../../src/features/learned-pages/contract.js";
import { wrongLabels } from "../../env/components/judge.js";
import type { ComponentPage } from "../../env/components/page.js";
import { PAGES } from "../../env/components/pages.js";
import { startSuite, tasksFile } from "../../env/components/suite.js";

let site: Awaited<ReturnType<typeof startSuite>>;
let folder: string;
before(async () => {
  site = await startSuite();
  folder = mkdtempSync(join(tmpdir(), "components-"));
});
after(async () => {
  await site?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Plays a policy for one person. @returns what is wrong with the reward, or with what the server received. */
async function played(env: FormsEnvironment, form: ComponentPage, policy: string, person: number): Promise<string[]> {
  const task = env.tasks[person] as Task;
  site.forget(form.id);
  const act = await env.fixedPolicies[policy]?.(task, Rng.named(0, policy));
  assert.ok(act !== undefined);
  const { reward, fault } = await env.play(task, act, new Map());
  if (policy !== "oracle") return reward !== null && reward <= 0.05 ? [] : [`${policy}: ${reward} ${fault ?? ""}`];
  if ((reward ?? 0) < 0.99) return [`${policy} ${person}: ${reward} ${fault ?? ""}`];
  const receipt = site.received(form.id).at(-1);
  const lost = wrongLabels(form, receipt?.body, form.people[person] as never);
  return lost.map((label) => `rewarded without ${label}`);
}

/** Learns a page's form, then plays two people and the policies without knowledge. @returns what is wrong. */
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
    const wrong = Object.entries(missing).map(([label, tried]) => `${label}: ${tried}`);
    for (const person of [1, 2]) wrong.push(...(await played(env, form, "oracle", person)));
    for (const policy of ["empty", "submit-only"]) wrong.push(...(await played(env, form, policy, 1)));
    return wrong;
  } finally {
    await env.close();
  }
}

describe("forms built with component libraries", { concurrency: 2 }, () => {
  for (const form of PAGES)
    test(`${form.id} is learned, and played for other people`, async () => {
      assert.deepEqual(await learned(form), []);
    });
});
