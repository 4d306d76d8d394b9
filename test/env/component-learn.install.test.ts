import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Rng } from "../../src/core/rng.js";
import { environment, FormsEnvironment } from "../../src/env/environments/forms.js";
import { readContract } from "../../src/env/pages/contract.js";
import type { Task } from "../../src/env/site.js";
import { wrongLabels } from "./components/judge.js";
import type { ComponentPage } from "./components/page.js";
import { PAGES, startSuite, tasksFile } from "./components/suite.js";

/** Parts of page ids that select the pages, such as `COMPONENT_PAGES=mui,vue/`; all pages by default. */
const ASKED = (process.env.COMPONENT_PAGES ?? "").split(",");
const CHOSEN = PAGES.filter((page) => ASKED.some((part) => page.id.includes(part)));

let site: Awaited<ReturnType<typeof startSuite>>;
let folder: string;
before(async () => {
  site = await startSuite(CHOSEN.map((page) => page.id));
  folder = mkdtempSync(join(tmpdir(), "component-learn-"));
});
after(async () => {
  await site?.close();
  if (process.env.COMPONENT_PAGES === undefined) rmSync(folder, { recursive: true, force: true });
});

/** Learns a page's form, then plays two persons' tasks and the policies without knowledge. @returns the failures. */
async function learned(form: ComponentPage): Promise<{ wrong: string[]; text: string }> {
  const name = form.id.replace("/", "_");
  const tasks = join(folder, `${name}.jsonl`);
  writeFileSync(tasks, tasksFile([form]));
  const env = await environment.open({
    site: {
      kind: "url",
      tasks,
      base_url: site.baseUrl,
      learn: { minutes: Number(process.env.COMPONENT_MINUTES ?? 10) },
    },
    browser: { contexts: 1, action_timeout_s: 20, rollout_timeout_s: 120 },
    prompt: {},
  });
  assert.ok(env instanceof FormsEnvironment);
  const wrong: string[] = [];
  const begun = performance.now();
  let text = "";
  try {
    const first = env.tasks[0] as Task;
    await env.form(first)?.catch((error: Error) => wrong.push(error.message));
    text = `${Math.round((performance.now() - begun) / 1000)} s, ${site.received(form.id).length} sent`;
    const file = join(`${tasks}.contracts`, `${form.id.replace(/[^\w.-]+/g, "_")}.yaml`);
    if (!existsSync(file)) return { wrong: [...wrong, "no contract"], text };
    const missing = readContract(readFileSync(file, "utf8"), file).not_learned;
    wrong.push(...Object.entries(missing).map(([label, tried]) => `${label}: ${tried}`));
    const policies: [string, number][] = [
      ["oracle", 1],
      ["oracle", 2],
      ["empty", 1],
      ["submit-only", 1],
    ];
    for (const [policy, i] of policies) {
      const task = env.tasks[i] as Task;
      site.forget(form.id);
      const act = await env.fixedPolicies[policy]?.(task, Rng.named(0, policy));
      assert.ok(act !== undefined);
      const outcome = await env.play(task, act, new Map());
      const { reward, fault, detail } = outcome;
      const isRight = policy === "oracle" ? (reward ?? 0) >= 0.99 : reward !== null && reward <= 0.05;
      const scores = Object.entries((detail.field_scores ?? {}) as Record<string, number>);
      const bad = scores
        .filter(([, score]) => score < 1)
        .map(([label]) => `${label}: ${JSON.stringify((detail.received as Record<string, unknown>)[label])}`);
      if (!isRight)
        wrong.push(`${policy} ${i}: ${reward} ${fault ?? ""} accepted=${detail.accepted} ${bad.join(", ")}`);
      const receipt = site.received(form.id).at(-1);
      const lost = receipt === undefined ? ["all"] : wrongLabels(form, receipt.body, form.people[i] as never);
      if (policy === "oracle" && isRight && lost.length > 0) wrong.push(`rewarded without ${lost.join(", ")}`);
    }
  } finally {
    await env.close();
  }
  return { wrong, text };
}

describe("forms built with component libraries", { concurrency: Number(process.env.COMPONENT_AT_ONCE ?? 2) }, () => {
  for (const form of CHOSEN)
    test(`${form.id} is learned, and played for other persons`, async () => {
      const { wrong, text } = await learned(form);
      console.log(`PAGE ${wrong.length === 0 ? "right" : "NOT  "} ${form.id} (${text}) ${wrong.join(" | ")}`);
      assert.deepEqual(wrong, []);
    });
});
