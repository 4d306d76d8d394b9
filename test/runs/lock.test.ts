import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isSameProcess, processGroup, processStart } from "../../src/core/processes.js";
import { acquireLock, isLocked } from "../../src/runs/lock.js";
import { temporaryFolder } from "../support/temporary.js";

const dir = temporaryFolder("lock");
const path = join(dir, "lock");

test("a process is known by pid and start, so that a pid used again is another process", () => {
  const start = processStart(process.pid);
  assert.equal(processStart(process.pid), start, "the same each time");
  assert.ok(isSameProcess(process.pid, start));
  assert.ok(isSameProcess(process.pid, undefined), "by the pid alone");
  if (start !== undefined) assert.ok(!isSameProcess(process.pid, `${start}0`));
  const ended = spawnSync(process.execPath, ["--version"]).pid;
  assert.equal(processStart(ended), undefined);
  for (const pid of [ended, 0, -1, 1.5, Number.NaN]) assert.ok(!isSameProcess(pid, undefined), String(pid));
  if (process.platform !== "win32") assert.ok((processGroup(process.pid) ?? 0) > 0);
});

test("a lock is taken, held, released, and taken over from what no longer runs", () => {
  const mine = acquireLock(path);
  assert.ok("release" in mine);
  assert.ok(isLocked(path));
  assert.ok("release" in acquireLock(path), "its own lock keeps nobody of this process out");
  mine.release();
  assert.ok(!existsSync(path));
  const parent = process.ppid;
  writeFileSync(path, `${parent} ${processStart(parent) ?? ""}`);
  assert.ok(isLocked(path));
  assert.deepEqual(acquireLock(path), { heldBy: parent });
  // the parent's pid, but of a process that started at another time
  if (processStart(parent) !== undefined) {
    writeFileSync(path, `${parent} another start`);
    assert.ok(!isLocked(path));
    assert.ok("release" in acquireLock(path));
  }
  for (const text of ["", "garbage", "2147483646 x"]) {
    writeFileSync(path, text);
    const taken = acquireLock(path);
    assert.ok("release" in taken, text);
    taken.release();
  }
  assert.deepEqual(readdirSync(dir), [], "nothing is left beside it");
});
