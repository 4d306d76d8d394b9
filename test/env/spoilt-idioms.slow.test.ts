import assert from "node:assert/strict";
import { test } from "node:test";
import { FAULTS, serveWithFaults } from "./fault-site.js";
import type { Idioms } from "./idioms/idiom.js";
import { oraclePlan } from "./idioms/play.js";
import { SUBMISSIONS } from "./idioms/submissions.js";
import { WINNABLE } from "./idioms/winnable.js";
import { openRunner } from "./page-site.js";

/** SPOILT=all plays every page with every fault (an hour), SPOILT=PATTERN those whose names match. */
const { SPOILT = "" } = process.env;
const whole = SPOILT !== "";
const PAGES: Idioms = Object.fromEntries(
  Object.entries(whole ? WINNABLE : SUBMISSIONS).filter(
    ([name, { accepted }]) => accepted !== false && (!whole || SPOILT === "all" || new RegExp(SPOILT).test(name)),
  ),
);

/** Plays the oracle on every page, one request of each episode failed; what it scored besides 1. */
async function playSpoilt(kinds: readonly string[], isPage: boolean): Promise<string[]> {
  const due = new Map<string, string>();
  const site = await serveWithFaults((request) => {
    const [base] = /^\/[^/]*\//.exec(request.url) ?? [""];
    const kind = request.isPage === isPage ? due.get(base) : undefined;
    due.delete(kind === undefined ? "" : base);
    return kind;
  }, PAGES);
  const runner = await openRunner(site, { contexts: 4, actionTimeoutMs: 3000, episodeTimeoutMs: 10_000 });
  try {
    const wrong: string[] = [];
    const tasks = site.tasks().filter((task) => task.id.startsWith("pages"));
    const plans = await Promise.all(tasks.map((task) => oraclePlan(runner, task)));
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
  assert.deepEqual(await playSpoilt(whole ? FAULTS.server : ["broken", "half"], false), []);
});

test("a page fails, or bothers: the episode is played again, or goes on", async () => {
  assert.deepEqual(
    await playSpoilt(
      whole ? [...FAULTS.server, ...FAULTS.page, ...FAULTS.nuisance] : ["broken", "gone", "nodes"],
      true,
    ),
    [],
  );
});
