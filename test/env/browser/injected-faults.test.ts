import assert from "node:assert/strict";
import { test } from "node:test";
import { drawFault, FAULT_KINDS, injectedFaults } from "../../../src/env/browser/injected-faults.js";

test("faults come at the rate that was asked for, of every kind, the same for an episode and attempt again", () => {
  const options = injectedFaults.parse({ rate: 0.2 });
  const drawn = Array.from({ length: 4000 }, (_, i) => drawFault(options, i >> 1, i % 2));
  const met = drawn.flatMap((fault) => fault ?? []);
  // the count is binomial with mean 800 and a standard deviation of 25
  assert.ok(Math.abs(met.length - 800) < 100, `${met.length}`);
  for (const kind of FAULT_KINDS) assert.ok(met.filter((fault) => fault.kind === kind).length > 200);
  for (const at of [1, 2, 3, 4]) assert.ok(met.some((fault) => fault.at === at));
  const again = drawFault(options, drawn.indexOf(met[0]) >> 1, drawn.indexOf(met[0]) % 2);
  assert.deepEqual([again?.kind, again?.at], [met[0]?.kind, met[0]?.at]);
  assert.equal(drawFault(injectedFaults.parse({}), 0, 0), undefined);
});
