import assert from "node:assert/strict";
import { test } from "node:test";
import { summarize } from "../../src/runs/evaluation.js";
import { evaluationValues, stepValues } from "../../src/watch/tracker.js";
import { Watch } from "../../src/watch/watch.js";
import type { Watcher } from "../../src/watch/watcher.js";
import { stepMetrics } from "../support/step-metrics.js";

const row = { task_id: "t", form: "f", reward: 0.5, success: true, metrics: { field_accuracy: 0.75 } };
const about = { split: "val", policy: "model", seed: 1, split_hash: "h", temperature: 1 };
const evaluation = summarize([row], about);

test("every watcher is told everything; one that fails is dropped with a note, and the others go on", async () => {
  const told: string[] = [];
  const good: Watcher = {
    step: (metrics) => void told.push(`step ${metrics.step}`),
    evaluation: (step, e) => void told.push(`${e.split} after ${step}`),
    note: (text) => void told.push(text),
    end: (outcome) => void told.push(outcome),
  };
  const bad: Watcher = {
    step: () => {
      throw new Error("disk full");
    },
    end: () => {
      throw new Error("never called");
    },
  };
  const worse: Watcher = { end: () => Promise.reject(new Error("gone")) };
  const watch = new Watch({ bad, good, worse });
  watch.evaluation(0, evaluation);
  watch.step(stepMetrics(1));
  watch.step(stepMetrics(2));
  watch.evaluation(2, evaluation);
  await watch.end("finished");
  assert.deepEqual(told, [
    "val after 0",
    "bad has failed and is off for the rest of this run: disk full",
    "step 1",
    "step 2",
    "val after 2",
    "finished",
    "worse has failed and is off for the rest of this run: gone",
  ]);
});

test("names of values: train/, time/, eval/<split>/; what a step does not have is left out", () => {
  const values = stepValues(stepMetrics(4, { loss: null, extra: { ratio_error: 0.5, none: null } }));
  assert.ok(!("train/step" in values) && !("train/loss" in values) && !("train/none" in values));
  assert.deepEqual([values["train/reward"], values["train/ratio_error"], values["time/total"]], [0.5, 0.5, 3.5]);
  assert.deepEqual(evaluationValues(evaluation), {
    "eval/val/reward": 0.5,
    "eval/val/success_rate": 1,
    "eval/val/field_accuracy": 0.75,
    "eval/val/nonzero_rate": 1,
  });
});
