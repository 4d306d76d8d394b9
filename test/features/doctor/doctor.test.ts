import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { UserError } from "../../../src/core/errors.js";
import { check, withoutHome } from "../../../src/features/doctor/machine-checks.js";
import { callProgram } from "../../support/call-program.js";
import { causalModel } from "../../support/causal-model.js";
import { temporaryFolder } from "../../support/temporary.js";

const dir = temporaryFolder("doctor");

const SIZES = "{train: 2, val: 1, test: 1, heldout: 1}";

const run = (...args: string[]): ReturnType<typeof callProgram> => callProgram("train", dir, args);

test("doctor uses what a run needs, prints each check, and as JSON without the home directory; misses exit 1", async () => {
  const { code, out, err } = await run("doctor", "--json");
  const report = JSON.parse(out) as { versions: object; hardware: object; checks: { name: string; ok: boolean }[] };
  const names = report.checks.map((check) => check.name);
  assert.equal(names.join(" "), "node runtime model tasks environment prompts words disk memory");
  assert.equal(code, report.checks.every((check) => check.ok) ? 0 : 1, err);
  for (const { ok, name } of report.checks) assert.ok(ok || name === "disk" || name === "memory", out);
  assert.ok(!existsSync(join(dir, "runs")));

  const config = join(dir, "doctor.yaml");
  writeFileSync(config, `model: models/nowhere\nbrowser: {headless: true}\nsite: {kind: embedded, sizes: ${SIZES}}\n`);
  const miss = await run("doctor", "--config", config);
  assert.equal(miss.code, 1);
  assert.match(miss.out, /MISS {2}model .*models\/nowhere does not exist[\s\S]*fix: set model=PATH/);
  assert.match(miss.err, /2 of 8 checks failed/);

  const good = join(dir, "good.yaml");
  const objective = "objective: {kind: espo, mc_samples: 2}";
  writeFileSync(good, `model: models/tiny-refusion\n${objective}\nsite: {kind: embedded, sizes: ${SIZES}}\n`);
  const hit = await run("doctor", "--config", good);
  assert.equal(hit.code, 0, hit.out + hit.err);
  assert.match(hit.out, /ok {4}run {7}the memory of espo with this config .*\n[\s\S]*in all, about/);
});

test("doctor names an adapter that is not there, and settings by which a model cannot earn anything", async () => {
  const config = join(dir, "causal.yaml");
  const rest = `environment: {kind: paper, sizes: ${SIZES}}\nobjective: {kind: flow-grpo}\n`;
  writeFileSync(config, `model: ${causalModel(dir)}\n${rest}`);
  const masks = await run("doctor", "--config", config);
  assert.match(masks.out, /MISS {2}start .*reads masks[\s\S]*fix: sampler\.order=blanks sampler\.slot_fill=next-token/);
  const gone = await run("doctor", "--config", config, "init_adapter=adapters/gone");
  assert.match(gone.out, /MISS {2}adapter .*adapters\/gone does not exist/);
  assert.doesNotMatch(gone.out, /MISS {2}start/);
});

test("an error is a miss, its hint the fix", async () => {
  for (const [error, found, fix] of [
    [new UserError("no such thing", { hint: "get one" }), "no such thing", "get one"],
    [new Error("broken"), "broken", "or this"],
  ] as const)
    assert.deepEqual(await check("x", () => Promise.reject(error), "or this"), { name: "x", ok: false, found, fix });
  assert.deepEqual(await check("x", async () => "fine"), { name: "x", ok: true, found: "fine" });
});

test("the home directory is ~, wherever it stands, and nothing else is", () => {
  const home = "/people/me";
  assert.equal(withoutHome("/people/me/a and /people/me", home), "~/a and ~");
  assert.equal(withoutHome("/people/me2/a /people/me.old", home), "/people/me2/a /people/me.old");
  assert.equal(withoutHome("/x", "/"), "/x");
});
