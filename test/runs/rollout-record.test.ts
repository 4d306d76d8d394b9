import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { UserError } from "../../src/core/errors.js";
import { type RolloutRecord, readRollouts, writeRollouts } from "../../src/runs/rollout-record.js";

const dir = mkdtempSync(join(tmpdir(), "rollouts-"));
after(() => rmSync(dir, { recursive: true, force: true }));

const record: RolloutRecord = {
  format: 2,
  step: 1,
  group: 0,
  rollout: 2,
  task_id: "t/1",
  form: "f",
  reward: 0.5,
  metrics: { task_completion: 0, field_accuracy: 1, execution_completeness: 0.5 },
  success: false,
  advantage: -1,
  fault: null,
  tokens: 12,
  turns: [
    { prompt: "p", response: "line\nline\u2028", trajectory: { rounds: [1, 2] } },
    { prompt: "q", response: "", reward: 0.25, trajectory: { rounds: [] } },
  ],
  detail: {
    accepted: false,
    truth: { Name: "A", Tags: ["x"] },
    posted: [
      ["name", "A"],
      ["name", "B"],
    ],
    actions: [{ action: "fill Name | A", fate: "done" }],
  },
};

test("records are read back with their turns and trajectories, and a wrong line is named", async () => {
  const path = join(dir, "rollouts", "step-000001.jsonl");
  await writeRollouts(path, [record, { ...record, reward: null, metrics: null, fault: "timeout" }]);
  const [first, second] = readRollouts(path);
  assert.deepEqual(first, record);
  assert.equal(second?.fault, "timeout");
  appendFileSync(path, '{"step":1}\n');
  assert.throws(
    () => readRollouts(path),
    (e) => e instanceof UserError && /line 3 is no rollout/.test(e.message),
  );
});
