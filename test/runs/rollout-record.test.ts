import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type RolloutRecord, readRollouts, writeRollouts } from "../../src/runs/rollout-record.js";
import { rolloutRecord } from "../support/rollout-record.js";
import { temporaryFolder } from "../support/temporary.js";

const dir = temporaryFolder("rollouts");

const record = rolloutRecord({
  rollout: 2,
  metrics: { task_completion: 0, field_accuracy: 1, execution_completeness: 0.5 },
  advantage: -1,
  turns: [
    { prompt: "p", response: "line\nline\u2028", trajectory: { rounds: [1, 2] } },
    { prompt: "q", response: "", reward: 0.25, trajectory: { rounds: [] } },
  ],
  detail: {
    accepted: false,
    truth: { Name: "A", Tags: ["x"] },
    posted: ["A", "B"].map((value) => ["name", value]),
    actions: [{ action: "fill Name | A", fate: "done" }],
  },
});

test("records are read back with their turns and trajectories, and a wrong line is named", async () => {
  const path = join(dir, "rollouts", "step-000001.jsonl");
  await writeRollouts(path, [record, { ...record, rollout: 3, reward: null, metrics: null, fault: "timeout" }]);
  const [first, second] = readRollouts(path);
  assert.deepEqual(first, record);
  assert.equal(second?.fault, "timeout");
  appendFileSync(path, '{"step":1}\n');
  assert.throws(() => readRollouts(path), { name: "UserError", message: /line 3 is no rollout/ });
});

test("rollouts that no run records are refused, each with its line", async () => {
  const path = join(dir, "rollouts", "step-000007.jsonl");
  const good = { ...record, step: 7 };
  const sampled = (trajectory: object) => ({ rollout: 3, turns: [{ prompt: "", response: "", trajectory }] });
  const odd: [Partial<RolloutRecord>, RegExp][] = [
    [{ step: 8 }, /line 2: it is of step 8, the file of step 7/],
    [{}, /line 2: rollout 2 of group 0 is in line 1 already/],
    [{ rollout: 3, reward: null }, /line 2: a rollout has either a reward or a fault/],
    [{ rollout: 3, fault: "timeout" }, /line 2: a rollout has either a reward or a fault/],
    [{ rollout: -1 }, /line 2 is no rollout/],
    [{ rollout: 3, tokens: -5 }, /line 2 is no rollout/],
    [{ rollout: 3, reward: 1e308 }, /line 2 is no rollout:\n {2}reward/],
    [sampled(JSON.parse("[".repeat(100) + "]".repeat(100))), /more than 32 levels/],
    [{ rollout: 1e9 }, /line 2 is no rollout:\n {2}rollout/],
    [sampled({ rounds: [{ logProbs: [-1, -1e308] }] }), /trajectory: rounds.0.logProbs.1: -1e\+308 is beyond/],
    [sampled({ responseLength: 1e9 }), /trajectory: responseLength: 1000000000 is beyond/],
    [sampled({ prompt: new Array(2_000_001).fill(1) }), /more than 2000000 numbers/],
  ];
  for (const [changes, problem] of odd) {
    await writeRollouts(path, [good, { ...good, ...changes }]);
    assert.throws(() => readRollouts(path), { name: "UserError", message: problem });
  }
});
