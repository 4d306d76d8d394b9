import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig, type RunConfig } from "../../../../src/config/config.js";
import { packageRoot } from "../../../../src/core/files.js";
import { createLog } from "../../../../src/core/log.js";
import { crc32c, EventFile, encodeEvent, frame } from "../../../../src/features/tensorboard/event-file.js";
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

const dir = temporaryFolder("events");

test("the bytes are those of TensorBoard's own writer (scripts/golden/tensorboard_events.py)", () => {
  const golden = readFileSync(join(packageRoot(), "test", "golden", "events.tfevents"));
  const events = [
    encodeEvent(1700000000.5, 0, { version: "brain.Event:2" }),
    encodeEvent(1700000001.25, 1, { start: true }),
    encodeEvent(1700000002, 1, { scalars: { "train/reward": 0.75, "train/kl": 0, "time/total": 12.345678 } }),
    encodeEvent(1700000003, 3_000_000_000, { scalars: { "eval/höher/reward": -1e-7 } }),
  ];
  assert.deepEqual(Buffer.concat(events.map(frame)), golden);
});

test("CRC-32C has the check values of RFC 3720", () => {
  assert.equal(crc32c(new Uint8Array(32)), 0x8a9136aa);
  assert.equal(crc32c(new Uint8Array(32).fill(0xff)), 0x62a8ab43);
  assert.equal(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i)), 0x46dd794e);
  assert.equal(crc32c(Buffer.from("123456789")), 0xe3069283);
});

test("a file begins with its version and with the first step of its process", () => {
  const path = join(dir, "events.out.tfevents.1.x");
  let now = 1_699_999_999_500;
  const file = new EventFile(path, 41, () => (now += 1000));
  file.scalars(41, { a: 1 });
  const expected = [
    encodeEvent(1700000000.5, 0, { version: "brain.Event:2" }),
    encodeEvent(1700000001.5, 41, { start: true }),
    encodeEvent(1700000002.5, 41, { scalars: { a: 1 } }),
  ];
  assert.deepEqual(readFileSync(path), Buffer.concat(expected.map(frame)));
});
