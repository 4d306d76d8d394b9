import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig, type RunConfig } from "../../../../src/config/config.js";
import { createLog } from "../../../../src/core/log.js";
import { RunDirectory } from "../../../../src/runs/run-directory.js";
import type { Run } from "../../../../src/train/run.js";
import { Watch } from "../../../../src/watch/watch.js";
import { stepMetrics } from "../../../support/step-metrics.js";
import { temporaryFolder } from "../../../support/temporary.js";

const root = temporaryFolder("tensorboard");

function runIn(name: string): Run {
  const directory = RunDirectory.create({ name, parent: root });
  return { directory, log: createLog(directory.log), checkpoint: undefined, close: () => undefined };
}

const config = (...overrides: string[]): Promise<RunConfig> =>
  loadConfig("configs/tiny/quickstart.yaml", { command: "flow-grpo", overrides });

test("event files begin with the run by default; there are none where the tracker is off", async () => {
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
  const watch = new Watch({ notes: { note: (text) => void notes.push(text) } });
  const blocked = { ...run, directory: { dir: join(root, "gone", "config.yaml\0") } as RunDirectory };
  await watch.begin(await config(), "flow-grpo", blocked);
  assert.equal(notes.length, 1);
  assert.match(notes[0] ?? "", /^tensorboard is off: /);
});
