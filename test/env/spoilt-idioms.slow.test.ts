import assert from "node:assert/strict";
import { test } from "node:test";
import { oracleActions } from "../../src/env/forms/oracle.js";
import { renderPlan } from "../../src/env/forms/plan.js";
import { FAULTS, serveWithFaults } from "./fault-site.js";
import { WINNABLE } from "./idioms/winnable.js";
import { openRunner } from "./page-site.js";

/** Plays the oracle on every page, one request of each episode failed; what it scored besides 1. */
async function playSpoilt(kinds: readonly string[], isPage: boolean): Promise<string[]> {
  const due = new Map<string, string>();
  const site = await serveWithFaults((request) => {
    const [base] = /^\/[^/]*\//.exec(request.url) ?? [""];
    const kind = request.isPage === isPage ? due.get(base) : undefined;
    due.delete(kind === undefined ? "" : base);
    return kind;
  }, WINNABLE);
  const runner = await openRunner(site, { contexts: 4, actionTimeoutMs: 3000, episodeTimeoutMs: 10_000 });
  try {
    const wrong: string[] = [];
    const only = process.env.SPOILT_ONLY;
    const tasks = site
      .tasks()
      .filter((task) => task.id.startsWith("pages") && (!only || new RegExp(only).test(task.id)));
    const plans = await Promise.all(
      tasks.map(async (task) => renderPlan(oracleActions(task.fields, await runner.snapshot(task)), "compact")),
    );
    site.start();
    for (const kind of kinds) {
      await Promise.all(
        tasks.map(async (task, i) => {
          due.set(task.url, kind);
          const { reward, fault, attempts, refusal, actions } = await runner.run(task, plans[i] as string);
          due.delete(task.url);
          if (fault === undefined && reward < 0.999)
            wrong.push(`${kind} ${task.url}: ${reward} at attempt ${attempts}, ${refusal} ${JSON.stringify(actions)}`);
          else if (fault !== undefined) wrong.push(`${kind} ${task.url}: fault ${fault}`);
        }),
      );
    }
    return wrong;
  } finally {
    await runner.close();
    await site.stop();
  }
}

test("what a page sends fails: the episode is played again", async () => {
  assert.deepEqual(await playSpoilt(FAULTS.server, false), []);
});

test("a page fails, or bothers: the episode is played again, or goes on", async () => {
  assert.deepEqual(await playSpoilt([...FAULTS.server, ...FAULTS.page, ...FAULTS.nuisance], true), []);
});
