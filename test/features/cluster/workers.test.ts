import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { WorkerMeter } from "../../../src/features/cluster/queue/workers.js";

const beat = (up: number, busy: number) => ({ jobs: [], up, busy });

describe("what workers did", () => {
  it("is told for the run so far, and since it was asked before", () => {
    const meter = new WorkerMeter();
    assert.deepEqual(meter.take(), { workers: 0, waiting: 0, idle: null });
    meter.look(new Map([["a", beat(10, 5)]]), 7);
    meter.look(
      new Map([
        ["a", beat(20, 15)],
        ["b", beat(10, 0)],
      ]),
      2,
    );
    assert.deepEqual(meter.take(), { workers: 2, waiting: 7, idle: 0.5 });
    meter.look(new Map([["a", beat(30, 25)]]), 1);
    assert.deepEqual(meter.take(), { workers: 1, waiting: 2, idle: 0 });
    assert.deepEqual(meter.sofar, { workers: 1, waiting: 1, idle: 1 - 25 / 40 });
    assert.equal(meter.take().idle, null, "nobody has told since");
  });

  it("goes on when a worker of the same name starts again", () => {
    const meter = new WorkerMeter();
    meter.look(new Map([["a", beat(10, 10)]]), 0);
    meter.look(new Map([["a", beat(4, 0)]]), 0);
    assert.equal(meter.sofar.idle, 1 - 10 / 14);
  });
});
