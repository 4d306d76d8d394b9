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

test("texts that a page shows by chance, and forms that are accepted without a value, are no sign of acceptance", async () => {
  const noise = fc.subarray(["shows Choose a lot", "shows Where?", "shows Add one"]);
  const some = fc.subarray(LABELS, { minLength: 1 });
  const given = fc.record({
    required: some,
    missing: fc.array(some, { maxLength: 4 }),
    late: fc.array(noise, { minLength: 20, maxLength: 20 }),
  });
  await fc.assert(
    fc.asyncProperty(given, async ({ required, missing, late }) => {
      let turn = 0;
      const sent = (person: Person) => ({ person, attempt: answered(person, required, late[turn++ % 20] ?? []) });
      const whole = (i: number): Person => Object.fromEntries(LABELS.map((label) => [label, `${label} ${i}`]));
      const found = [0, 1, 2].map((i) => sent(whole(i)));
      const earlier = missing.map((labels) =>
        sent(Object.fromEntries(Object.entries(whole(0)).filter(([label]) => !labels.includes(label)))),
      );
      const fields = LABELS.map((label) => ({ label, kind: "text" }));
      const sought = {
        progress: { request: { method: "POST", path: "/send" }, fields },
        persons: found.map(({ person }) => person),
        play: async (person: Person) => sent(person).attempt,
        earlier,
      } as unknown as Parameters<typeof learnVerdict>[0];
      const verdict = await learnVerdict(sought, found);
      const judged = ({ exchange, after }: Attempt): string | undefined =>
        refusalOf({ status: 200, features: [...featuresOf(exchange as Exchange), ...after] }, verdict, {});
      assert.equal(judged(answered(whole(3), required, [])), undefined);
      assert.notEqual(judged(answered({}, required, ["shows Choose a lot"])), undefined);
    }),
    { seed: 7, numRuns: 60 },
  );
});
