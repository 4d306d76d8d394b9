import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { callProgram } from "../../support/call-program.js";
import { exampleRun } from "../../support/example-run.js";
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

test("several runs share one page: rewards beside the first run's, a line each", async () => {
  for (const name of ["one", "two"]) await exampleRun(dir, name);
  const { code, out, err } = await run("report", "one", "two");
  assert.deepEqual([code, out], [0, "comparison.html\n"], err);
  const page = readFileSync(join(dir, "comparison.html"), "utf8");
  assert.match(page, /<a href="two\/report.html">two<\/a>|<th scope="row">two<\/th>/);
  // the same run twice: no difference, over its pairs
  assert.match(page, /two[\s\S]*?0\.000 \[0\.000, 0\.000\]/);
  assert.match(page, /aria-label="Reward of rollouts: one from [^"]*; two from /);
});

test("a call without a run, or of several with rollouts, exits 2", async () => {
  for (const [args, message] of [
    [[], /missing required argument/],
    [["one", "two", "--rollouts", "3"], /shows no rollouts/],
  ] as const) {
    const { code, out, err } = await run("report", ...args);
    assert.deepEqual([code, out], [2, ""]);
    assert.match(err, message);
  }
});
