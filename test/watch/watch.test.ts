import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { loadConfig, type RunConfig } from "../../src/config/config.js";
import { packageRoot } from "../../src/core/files.js";
import { createLog } from "../../src/core/log.js";
import { summarize } from "../../src/runs/evaluation.js";
import { RunDirectory } from "../../src/runs/run-directory.js";
import type { Run } from "../../src/train/run.js";
import { evaluationValues, stepValues } from "../../src/watch/tracker.js";
import { Watch } from "../../src/watch/watch.js";
import type { Watcher } from "../../src/watch/watcher.js";
import { stepMetrics } from "../support/step-metrics.js";

const root = mkdtempSync(join(tmpdir(), "watch-"));
after(() => rmSync(root, { recursive: true, force: true }));

const evaluation = summarize(
  [{ task_id: "t", form: "f", reward: 0.5, success: true, metrics: { field_accuracy: 0.75 } }],
  {
    split: "val",
    policy: "model",
    seed: 1,
    split_hash: "h",
    temperature: 1,
  },
);

function runIn(name: string): Run {
  const directory = RunDirectory.create({ name, parent: root });
  return { directory, log: createLog(directory.log), checkpoint: undefined, close: () => undefined };
}

async function config(...overrides: string[]): Promise<RunConfig> {
  return loadConfig(join(packageRoot(), "configs", "tiny", "quickstart.yaml"), { command: "flow-grpo", overrides });
}

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

test("trackers join when the run begins: TensorBoard by default, none where it is off", async () => {
  const on = runIn("on");
  const watch = new Watch({});
  await watch.begin(await config(), "flow-grpo", on);
  watch.step(stepMetrics(1));
  await watch.end("finished");
  const files = readdirSync(join(on.directory.dir, "tensorboard"));
  assert.equal(files.length, 1);
  assert.match(files[0] ?? "", /^events\.out\.tfevents\.\d+/);
  const off = runIn("off");
  await new Watch({}).begin(await config("tracking.tensorboard=false"), "flow-grpo", off);
  assert.ok(!existsSync(join(off.directory.dir, "tensorboard")));
});

test("a tracker that does not open is a note, not an end", async () => {
  const notes: string[] = [];
  const run = runIn("gone");
  rmSync(run.directory.dir, { recursive: true });
  const watch = new Watch({ notes: { note: (text) => void notes.push(text) } });
  const blocked = { ...run, directory: { dir: join(root, "on", "config.yaml\0") } as RunDirectory };
  await watch.begin(await config(), "flow-grpo", blocked);
  assert.equal(notes.length, 1);
  assert.match(notes[0] ?? "", /^tensorboard is off: /);
});

test("names of values: train/, time/, eval/<split>/; what a step does not have is left out", () => {
  const values = stepValues(stepMetrics(4, { loss: null, extra: { ratio_error: 0.5, none: null } }));
  assert.ok(!("train/step" in values) && !("train/loss" in values) && !("train/none" in values));
  assert.deepEqual([values["train/reward"], values["train/ratio_error"], values["time/total"]], [0.5, 0.5, 3.5]);
  assert.deepEqual(evaluationValues(evaluation), {
    "eval/val/reward": 0.5,
    "eval/val/success_rate": 1,
    "eval/val/field_accuracy": 0.75,
  });
});
