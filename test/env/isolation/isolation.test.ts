import assert from "node:assert/strict";
import { test } from "node:test";
import { closing } from "../../../src/core/closing.js";
import type { RunningSite } from "../../../src/env/site.js";
import { openRunner, servePages, taskFor, using } from "../page-site.js";
import { answer, pageOf, WAYS } from "./ways.js";

const keyOf = (name: string): string => name.replaceAll(/\W+/g, "").toLowerCase();
const FIELDS = { Name: "Ann" };

/** Plays ways' pages twice, one after the other, with nothing but a submit; gives what the second one posted. */
async function playTwice(
  names: readonly string[],
  stateless: boolean,
): Promise<Record<string, { posted: unknown; reward: number }>> {
  const pages = Object.fromEntries(
    Object.entries(WAYS).map(([name, way]) => [`/${keyOf(name)}`, pageOf(way, keyOf(name))]),
  );
  await using site = await servePages(pages, answer);
  await using runner = closing(await openRunner({ ...site, stateless } as RunningSite));
  const found: Record<string, { posted: unknown; reward: number }> = {};
  for (const name of names) {
    const task = taskFor(`/${keyOf(name)}`, FIELDS);
    const first = await runner.run(task, "submit");
    assert.deepEqual([name, first.fault, first.posted], [name, undefined, [["n", ""]]]);
    const second = await runner.run(task, "submit");
    assert.equal(second.fault, undefined, name);
    found[name] = { posted: second.posted, reward: second.reward };
  }
  return found;
}

test("nothing that a page leaves reaches the next episode, and nothing is earned by it", async () => {
  const names = Object.keys(WAYS);
  assert.ok(names.length >= 25);
  for (const [name, { posted, reward }] of Object.entries(await playTwice(names, false))) {
    assert.deepEqual([name, posted], [name, [["n", ""]]]);
    assert.ok(reward <= 0.2, `${name}: ${reward}`);
  }
});

test("in one context for all, as for pages of our own, the same pages do reach the next", async () => {
  const names = Object.keys(WAYS).filter((name) => WAYS[name]?.works);
  assert.ok(names.length >= 15);
  for (const [name, { posted, reward }] of Object.entries(await playTwice(names, true)))
    assert.deepEqual([name, posted, reward], [name, [["n", "Ann"]], 1]);
});

test("a page that goes back while it loads is the same, whatever was played before", async () => {
  const form = `<form method=post><label>Name <input name=n></label><button>Submit</button></form>`;
  const many = `${form}<script>for (let i = 0; i < 9; i++) history.pushState(i, "")</script>`;
  await using({ "/back": `${form}<script>history.back()</script>`, "/many": many }, {}, async (runner) => {
    const outcomes: unknown[] = [];
    for (const path of ["/back", "/many", "/back", "/back"]) {
      const { fault, reward } = await runner.run(taskFor(path, FIELDS), "fill Name | Ann\nsubmit");
      if (path === "/back") outcomes.push({ fault, reward });
    }
    assert.deepEqual(outcomes, Array(3).fill(outcomes[0]));
  });
});
