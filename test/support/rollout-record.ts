import type { RolloutRecord } from "../../src/runs/rollout-record.js";

/** Makes a line of a rollout file for an episode of one turn. */
export function rolloutRecord(changes: Partial<RolloutRecord> = {}): RolloutRecord {
  return {
    format: 2,
    step: 1,
    group: 0,
    rollout: 0,
    task_id: "t/train/1",
    form: "f",
    reward: 0.5,
    success: false,
    metrics: {},
    advantage: null,
    fault: null,
    tokens: 1,
    turns: [{ prompt: "p", response: "r" }],
    detail: {},
    ...changes,
  };
}
