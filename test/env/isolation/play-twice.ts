import assert from "node:assert/strict";
import { closing } from "../../../src/core/closing.js";
import type { RunningSite } from "../../../src/env/site.js";
import { openRunner, servePages, taskFor } from "../page-site.js";
import { answer, pageOf, WAYS } from "./ways.js";

const keyOf = (name: string): string => name.replaceAll(/\W+/g, "").toLowerCase();
type Second = Record<string, { posted: unknown; reward: number }>;

/** Plays ways' pages twice, one after the other, with nothing but a submit; gives what the second one posted. */
export async function playTwice(names: readonly string[], stateless: boolean): Promise<Second> {
  const pages = Object.entries(WAYS).map(([name, way]) => [`/${keyOf(name)}`, pageOf(way, keyOf(name))] as const);
  await using site = await servePages(Object.fromEntries(pages), answer);
  await using runner = closing(await openRunner({ ...site, stateless } as RunningSite));
  const found: Second = {};
  for (const name of names) {
    const task = taskFor(`/${keyOf(name)}`, { Name: "Ann" });
    const first = await runner.run(task, "submit");
    assert.deepEqual([name, first.fault, first.posted], [name, undefined, [["n", ""]]]);
    const { fault, posted, reward } = await runner.run(task, "submit");
    assert.equal(fault, undefined, name);
    found[name] = { posted, reward };
  }
  return found;
}

/** Plays ways in contexts of their own: nothing may reach the next episode, nor earn anything. */
export async function checkWalls(names: readonly string[]): Promise<void> {
  for (const [name, { posted, reward }] of Object.entries(await playTwice(names, false))) {
    assert.deepEqual([name, posted], [name, [["n", ""]]]);
    assert.ok(reward <= 0.2, `${name}: ${reward}`);
  }
}
