import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Exchange } from "../../../../src/env/browser/network/exchange.js";
import { featuresOf } from "../../../../src/env/forms/answer.js";
import { refusalOf } from "../../../../src/env/forms/judge.js";
import type { Attempt } from "../../../../src/features/learned-pages/learn/attempt.js";
import type { Person } from "../../../../src/features/learned-pages/learn/fill-in.js";
import { learnVerdict } from "../../../../src/features/learned-pages/learn/verdict.js";

const LABELS = ["Name", "Lot", "Note", "Site", "Date"];
const OK = "<p>It has arrived</p>";
const REFUSED = "<p>Something is needed</p>";

/** A server that answers in texts alone, on a page that shows other texts late or not at all. */
const answered = (person: Person, required: readonly string[], late: readonly string[]): Attempt => {
  const isOk = required.every((label) => label in person);
  const [url, text] = ["http://site/send", isOk ? OK : REFUSED];
  const answer = { status: 200, contentType: "text/html", text, url };
  const exchange: Exchange = {
    ...{ method: "POST", url, how: "navigation", owner: "page", posted: [], routine: false, phase: "submit", answer },
  };
  const after = [...featuresOf(exchange).map((one) => one.replace(/^says/, "shows")), ...late];
  return { exchange, exchanges: [exchange], before: [], after } as unknown as Attempt;
};

type Sought = Parameters<typeof learnVerdict>[0];
const PERSONS = [0, 1, 2].map((i): Person => Object.fromEntries(LABELS.map((label) => [label, `${label} ${i}`])));

/** Learns the verdict of a server. @param missing labels that earlier attempts lack. @param late texts by attempt. */
async function learned(required: readonly string[], missing: readonly string[][], late: readonly string[][]) {
  let turn = 0;
  const attempt = (person: Person): Attempt => answered(person, required, late[turn++ % late.length] ?? []);
  const sent = (person: Person) => ({ person, attempt: attempt(person) });
  const fields = LABELS.map((label) => ({ label, kind: "text" }));
  const progress = { request: { method: "POST", path: "/send" }, fields };
  const lacks = (labels: readonly string[]): Person =>
    Object.fromEntries(Object.entries(PERSONS[0] ?? {}).filter(([label]) => !labels.includes(label)));
  const earlier = missing.map((labels) => sent(lacks(labels)));
  const sought = { progress, persons: PERSONS, play: async (person: Person) => attempt(person), earlier };
  const verdict = await learnVerdict(sought as unknown as Sought, PERSONS.map(sent));
  const refusal = (person: Person, needed: readonly string[], texts: string[]): string | undefined => {
    const { exchange, after } = answered(person, needed, texts);
    return refusalOf({ status: 200, features: [...featuresOf(exchange as Exchange), ...after] }, verdict, {});
  };
  return { verdict, refusal };
}

test("texts that a page shows by chance, and forms that are accepted without a value, are no sign of acceptance", async () => {
  const noise = fc.subarray(["shows Choose a lot", "shows Where?", "shows Add one"]);
  const some = fc.subarray(LABELS, { minLength: 1 });
  const given = [some, fc.array(some, { maxLength: 4 }), fc.array(noise, { minLength: 20, maxLength: 20 })] as const;
  await fc.assert(
    fc.asyncProperty(...given, async (required, missing, late) => {
      const { refusal } = await learned(required, missing, late);
      assert.equal(refusal(PERSONS[0] ?? {}, required, []), undefined);
      assert.notEqual(refusal({}, required, ["shows Choose a lot"]), undefined);
    }),
    { seed: 7, numRuns: 60 },
  );
});

test("where no refusal was seen, an answer that was never seen does not accept", async () => {
  const { verdict, refusal } = await learned([], [["Note"]], [[]]);
  assert.equal(verdict.no_refusal, true);
  assert.equal(refusal({}, [], []), undefined);
  assert.notEqual(refusal({}, ["Lot"], []), undefined);
});
