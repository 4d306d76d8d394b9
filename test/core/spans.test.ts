import assert from "node:assert/strict";
import { it } from "node:test";
import { inSpan, openSpans, type Spans, spansAreOn } from "../../src/core/spans.js";

it("spans are those of the first kind that the environment turns on, until they are closed", async () => {
  const seen: string[] = [];
  const spans: Spans = {
    run: (name, _, work) => {
      seen.push(name);
      return work();
    },
    close: async () => void seen.push("closed"),
  };
  const kinds = [{ open: async () => undefined }, { open: async () => spans }];
  const close = await openSpans({}, kinds);
  assert.equal(spansAreOn(), true);
  assert.equal(await inSpan("step", { step: 1 }, async () => 3), 3);
  await close?.();
  assert.equal(spansAreOn(), false);
  assert.equal(await inSpan("step", { step: 2 }, async () => 4), 4);
  assert.deepEqual(seen, ["step", "closed"]);
  assert.equal(await openSpans({}, []), undefined);
});
