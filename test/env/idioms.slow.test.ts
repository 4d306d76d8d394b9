import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Rng } from "../../src/core/rng.js";
import { FormsEnvironment } from "../../src/env/environments/forms.js";
import { loadKnownForms } from "../../src/env/known-forms.js";
import { PAGES } from "./idioms/pages.js";
import { idiomTask, serveIdioms } from "./idioms/play.js";
import { FORMS_OPTIONS } from "./page-site.js";

/** Required share of pages that are played right: one task does not reveal all codes. */
const LEAST = 0.5;

test("pages of many idioms are learned, and then played right; a bare submit earns next to nothing", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "idioms-"));
  const site = await serveIdioms(PAGES);
  const tasks = Object.entries(PAGES).map(([name, idiom]) => idiomTask(name, idiom));
  await loadKnownForms();
  const environment = new FormsEnvironment(
    { ...site, tasks: () => tasks, learn: { submissions: 40, modules: {}, folder, minutes: 1 } },
    { ...FORMS_OPTIONS, browser: { ...FORMS_OPTIONS.browser, contexts: 2 } },
  );
  const right: string[] = [];
  const wrong: string[] = [];
  try {
    const rest = tasks.values();
    const worker = async (): Promise<void> => {
      for (const task of rest) {
        const played = async (policy: "oracle" | "submit-only") => {
          const act = await environment.fixedPolicies[policy]?.(task, Rng.named(1, task.id));
          return environment.play(task, act as NonNullable<typeof act>, new Map());
        };
        const reward = await played("oracle").then(
          ({ reward }) => reward ?? 0,
          () => undefined,
        );
        (reward !== undefined && reward > 0.99 ? right : wrong).push(task.form);
        if (reward === undefined) continue;
        const nothing = await played("submit-only");
        assert.ok(!((nothing.reward ?? 0) > 0.05), `${task.form}: a bare submit earns ${nothing.reward}`);
      }
    };
    await Promise.all([worker(), worker()]);
  } finally {
    await environment.close();
    rmSync(folder, { recursive: true });
  }
  t.diagnostic(`right: ${right.length} of ${tasks.length}; not: ${wrong.join(", ")}`);
  assert.ok(right.length >= LEAST * tasks.length, `not right: ${wrong.join(", ")}`);
});
