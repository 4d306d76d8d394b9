import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { combinedMeter, type Measurement, type Meter } from "../../src/train/meter.js";
import type { Sample } from "../../src/train/rollouts/groups.js";
import { only } from "../support/typed.js";

/** Makes a meter that notes its calls. */
function meter(name: string, calls: string[], measurement: Partial<Measurement> = {}): Meter {
  return {
    state: () => ({ [name]: calls.length }),
    measure: () => ({
      begin: () => void calls.push(`${name} begins`),
      accumulated: async (index) => void calls.push(`${name} ${index}`),
      metrics: async () => ({ [`${name}_metric`]: null }),
      ...measurement,
    }),
  };
}

describe("meters of a run, combined", () => {
  const parts = [[only<Sample>({ credit: 1 })], [only<Sample>({ credit: 2 })]];

  it("are all called, in order, and their states and metrics are joined", async () => {
    const calls: string[] = [];
    const both = combinedMeter([meter("a", calls, { parts }), meter("b", calls, { readsOld: true })]);
    const measurement = both.measure(1, [], []);
    assert.deepEqual([measurement.parts, measurement.readsOld], [parts, true]);
    await measurement.begin?.({ parts, batches: [], boundary: 1 });
    await measurement.accumulated?.(0, async () => new Map());
    assert.deepEqual(await measurement.metrics(), { a_metric: null, b_metric: null });
    assert.deepEqual(calls, ["a begins", "b begins", "a 0", "b 0"]);
    assert.deepEqual(both.state?.(), { a: 4, b: 4 });
  });

  it("measure nothing where there are none", async () => {
    const measurement = combinedMeter([]).measure(1, [], []);
    assert.deepEqual([measurement.parts, measurement.readsOld], [undefined, false]);
    assert.deepEqual(await measurement.metrics(), {});
  });

  it("split a step's samples by one of them only", () => {
    const two = combinedMeter([meter("a", [], { parts }), meter("b", [], { parts })]);
    assert.throws(() => two.measure(1, [], []), /two meters split/);
  });
});
