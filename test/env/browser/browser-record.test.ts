import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { processStart } from "../../../src/core/processes.js";
import { endOrphanedBrowsers, recordBrowser } from "../../../src/env/browser/browser-record.js";
import { temporaryFolder } from "../../support/temporary.js";

const dir = temporaryFolder("browser-record");

const unsupported =
  processStart(process.pid) === undefined ? "this system does not tell when a process started" : false;

test("a browser whose driver was killed is ended with its group, by pid and start", { skip: unsupported }, async () => {
  // a process with a child that keeps running after its driver has ended
  const browser = spawn("sh", ["-c", "sleep 600 & wait"], { detached: true, stdio: "ignore" });
  const exited = once(browser, "exit");
  const pid = browser.pid as number;
  const folder = join(dir, "records");
  recordBrowser(pid, folder);
  const [file] = readdirSync(folder);
  const path = join(folder, file as string);
  assert.deepEqual(endOrphanedBrowsers(folder), [], "its driver, this process, lives");
  const record = JSON.parse(readFileSync(path, "utf8"));
  assert.equal(record.group, pid);

  // the pid now belongs to a process with another start time, which must not be killed
  const ended = { pid: spawnSync(process.execPath, ["--version"]).pid, start: "then" };
  writeFileSync(path, JSON.stringify({ ...record, driver: ended, browser: { pid, start: "another time" } }));
  assert.deepEqual(endOrphanedBrowsers(folder), []);
  assert.equal(browser.exitCode, null);
  assert.deepEqual(readdirSync(folder), []);

  writeFileSync(path, JSON.stringify({ ...record, driver: ended }));
  writeFileSync(join(folder, "browser-1.json"), "{");
  assert.deepEqual(endOrphanedBrowsers(folder), [pid]);
  assert.deepEqual(await exited, [null, "SIGKILL"]);
  assert.deepEqual(readdirSync(folder), []);
});

test("a browser that ended is forgotten", { skip: unsupported }, () => {
  const folder = join(dir, "forgotten");
  const forget = recordBrowser(process.pid, folder);
  assert.equal(readdirSync(folder).length, 1);
  forget();
  assert.deepEqual(readdirSync(folder), []);
});
