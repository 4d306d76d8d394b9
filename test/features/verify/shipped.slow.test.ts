import assert from "node:assert/strict";
import { test } from "node:test";
import { formatProofs, verify } from "../../../src/features/verify/verify.js";
import { FAMILIES, shipped } from "./shipped.js";

/** How a model samples and is scored: the rest is proved of micro models of its architecture (blocks, verify-flow). */
const LIKELIHOOD = ["on-policy"];

// as free text: templates.slow.test.ts proves what blanks change
for (const [name, config] of await shipped()) {
  if (config.plan === "template") continue;
  const only = name.includes(FAMILIES[0]) ? [] : LIKELIHOOD;
  test(`every proof holds: ${name}`, async () => {
    const lines = await verify({ config, objective: undefined, only, signal: new AbortController().signal });
    assert.ok(
      lines.every((line) => line.pass),
      formatProofs(lines),
    );
  });
}
