import assert from "node:assert/strict";
import { test } from "node:test";
import { FORM, playForm, using } from "../page-site.js";
import { checkWalls } from "./play-twice.js";
import { WAYS } from "./ways.js";

// every sixth way; isolation.slow.test.ts plays all
test("nothing that a page leaves reaches the next episode, and nothing is earned by it", () =>
  checkWalls(Object.keys(WAYS).filter((_, i) => i % 6 === 0)));

test("a page that goes back while it loads is the same, whatever was played before", async () => {
  const many = `${FORM}<script>for (let i = 0; i < 9; i++) history.pushState(i, "")</script>`;
  await using({ "/back": `${FORM}<script>history.back()</script>`, "/many": many }, {}, async (runner) => {
    const outcomes: unknown[] = [];
    for (const path of ["/back", "/many", "/back", "/back"]) {
      const { fault, reward } = await playForm(runner, path);
      if (path === "/back") outcomes.push({ fault, reward });
    }
    assert.deepEqual(outcomes, Array(3).fill(outcomes[0]));
  });
});
