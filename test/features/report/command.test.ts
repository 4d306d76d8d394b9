import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { callProgram } from "../../support/call-program.js";
import { temporaryFolder } from "../../support/temporary.js";

const dir = temporaryFolder("report");

const run = (...args: string[]): ReturnType<typeof callProgram> => callProgram("train", dir, args);

test("report writes the page and prints its path; a directory that is no run exits 1", async () => {
  const runDir = join(dir, "run");
  mkdirSync(runDir);
  const none = await run("report", runDir);
  assert.equal(none.code, 1);
  assert.match(none.err, /error: .*is no run directory[\s\S]*next: /);
  assert.ok(!/at .*\.js/.test(none.err), "no stack");
  writeFileSync(join(runDir, "config.yaml"), "model: m\n");
  const { code, out } = await run("report", runDir);
  assert.equal(code, 0);
  assert.equal(out.trim(), join(runDir, "report.html"));
  assert.match(readFileSync(out.trim(), "utf8"), /<!doctype html>/);
});

test("a call without a run, or with two, exits 2", async () => {
  for (const [args, message] of [
    [[], /missing required argument/],
    [["a", "b"], /too many arguments/],
  ] as const) {
    const { code, out, err } = await run("report", ...args);
    assert.deepEqual([code, out], [2, ""]);
    assert.match(err, message);
  }
});
