import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../src/config/config.js";
import { UserError } from "../../src/core/errors.js";
import { RunDirectory } from "../../src/runs/run-directory.js";
import { temporaryFolder } from "../support/temporary.js";
import { userError } from "../support/user-error.js";

const dir = temporaryFolder("run");

test("a place where nothing can be made is refused with what to do", () => {
  writeFileSync(join(dir, "file"), "");
  symlinkSync(join(dir, "loop"), join(dir, "loop"));
  const refusal = userError(/^Cannot create/, { hint: /--run-dir/ });
  const below = ["file/x", "loop/x", "x".repeat(250)].map((path) => join(dir, path));
  for (const runDir of [...below, "x".repeat(300), "a\0b"])
    assert.throws(() => RunDirectory.create({ name: "q", runDir }), refusal, runDir);
});

test("a default name gets a suffix, a given directory must be new", () => {
  const parent = join(dir, "runs");
  const names = [1, 2, 3].map(() => RunDirectory.create({ name: "q", parent }).dir);
  const expected = ["q", "q-2", "q-3"].map((name) => join(parent, name));
  assert.deepEqual(names, expected);
  const runDir = join(dir, "mine", "deep");
  assert.equal(RunDirectory.create({ name: "q", runDir }).dir, runDir);
  assert.throws(() => RunDirectory.create({ name: "q", runDir }), { name: "UserError", exitCode: 1, hint: /--resume/ });
});

test("an empty directory behind a symbolic link is used", () => {
  const [real, link] = [join(dir, "elsewhere"), join(dir, "link")];
  mkdirSync(real);
  symlinkSync(real, link);
  assert.equal(RunDirectory.create({ name: "q", runDir: link }).dir, link);
  assert.deepEqual(readdirSync(real), [".lock"]);
});

test("the newest run of a name is the highest suffix that is a run", () => {
  const parent = join(dir, "newest");
  for (const name of ["a", "a-2", "a-10", "a-11", "a-b", "ab-12"]) mkdirSync(join(parent, name), { recursive: true });
  for (const name of ["a", "a-2", "a-10", "ab-12", "a-b"]) writeFileSync(join(parent, name, "config.yaml"), "");
  assert.equal(RunDirectory.newest("a", parent).dir, join(parent, "a-10"));
  assert.throws(() => RunDirectory.newest("none", parent), UserError);
  assert.throws(() => RunDirectory.open(join(parent, "a-11")), /is no run directory/);
});

test("paths follow the layout, and rollouts after a step are dropped", () => {
  const run = RunDirectory.create({ name: "p", parent: dir });
  const at = (...parts: string[]): string => join(run.dir, ...parts);
  assert.equal(run.rollouts(1), at("rollouts", "step-000001.jsonl"));
  assert.equal(run.evaluation("heldout"), at("eval", "heldout.json"));
  assert.equal(run.evaluation("heldout", "before"), at("eval", "before", "heldout.json"));
  assert.equal(run.evaluation("val", 50), at("eval", "step-000050", "val.json"));
  mkdirSync(run.rolloutsDir);
  for (const step of [1, 2, 10]) writeFileSync(run.rollouts(step), "");
  writeFileSync(join(run.rolloutsDir, "notes.txt"), "");
  assert.deepEqual(run.rolloutSteps(), [1, 2, 10]);
  run.dropRolloutsAfter(1);
  assert.deepEqual(run.rolloutSteps(), [1]);
});

test("config.yaml loads again and names its command; env.json keeps the facts", async () => {
  const path = join(dir, "c.yaml");
  writeFileSync(path, "model: m\n");
  const config = await loadConfig(path, { command: "flow-grpo" });
  const run = RunDirectory.create({ name: "c", parent: dir });
  await run.writeConfig(config, "flow-grpo");
  assert.deepEqual(await loadConfig(run.config), config);
  assert.match(readFileSync(run.config, "utf8"), /refusion-train flow-grpo --config/);
  const facts = { command: "flow-grpo", config: path, provider: "cpu", seeds: { run: 0 }, hashes: { model: "ab" } };
  await run.writeEnvironment(facts);
  const environment = run.readEnvironment();
  assert.deepEqual({ ...environment, ...facts }, environment);
  assert.equal(environment.versions.node, process.versions.node);
  assert.match(environment.versions.onnxruntime_node ?? "", /^\d/);
  writeFileSync(run.environment, "{}");
  assert.throws(() => run.readEnvironment(), { name: "UserError", message: /env\.json/ });
});

test("a lock keeps a living process out and is taken over from an ended one", () => {
  const run = RunDirectory.create({ name: "lock", parent: dir });
  const path = join(run.dir, ".lock");
  writeFileSync(path, String(process.ppid));
  assert.throws(() => run.lock(), userError(new RegExp(String(process.ppid))));
  writeFileSync(path, "not a pid");
  const unlock = run.lock();
  assert.match(readFileSync(path, "utf8"), new RegExp(`^${process.pid} `));
  unlock();
  assert.ok(!existsSync(path));
});

test("a start that was cut off before env.json was written is used again, anything else is not", () => {
  const parent = join(dir, "half");
  const runDir = join(parent, "q");
  mkdirSync(runDir, { recursive: true });
  assert.equal(RunDirectory.create({ name: "q", runDir }).dir, runDir, "an empty directory");
  const fill = (files: Readonly<Record<string, string>>): void => {
    rmSync(runDir, { recursive: true });
    mkdirSync(runDir);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(runDir, name), text);
  };
  const begun = { ".lock": "2147483646 never", "config.yaml": "" };
  for (const files of [{ ".lock": begun[".lock"] }, begun, { ...begun, "env.json.12": "" }]) {
    fill(files);
    assert.equal(RunDirectory.create({ name: "q", parent }).dir, runDir, Object.keys(files).join());
  }
  for (const files of [{ ...begun, "env.json": "" }, { "notes.txt": "" }, { ...begun, ".lock": `${process.ppid}` }]) {
    fill(files);
    assert.throws(() => RunDirectory.create({ name: "q", runDir }), /exists already/, Object.keys(files).join());
    assert.deepEqual(readdirSync(runDir).sort(), Object.keys(files).sort());
  }
  assert.deepEqual(readdirSync(parent), ["q"]);
});

test("what a killed process was writing is removed, nothing else", () => {
  const run = RunDirectory.create({ name: "left", parent: dir });
  mkdirSync(run.rolloutsDir);
  for (const name of ["metrics.jsonl.123456", "rollouts/step-000001.jsonl.99", "rollouts/step-000001.jsonl", "x.7"])
    writeFileSync(join(run.dir, name), "");
  run.removeLeftovers();
  assert.deepEqual(readdirSync(run.dir).sort(), [".lock", "rollouts", "x.7"]);
  assert.deepEqual(readdirSync(run.rolloutsDir), ["step-000001.jsonl"]);
});
