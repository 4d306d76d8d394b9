import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { closing } from "../../../src/core/closing.js";
import { FormsEnvironment } from "../../../src/env/environments/forms.js";
import { site as embedded } from "../../../src/features/embedded/sites/embedded.js";
import type { Rejudged } from "../../../src/features/rejudge/rejudge.js";
import { type RolloutRecord, writeRollouts } from "../../../src/runs/rollout-record.js";
import { RunDirectory } from "../../../src/runs/run-directory.js";
import { FORMS_OPTIONS } from "../../env/page-site.js";
import { callProgram } from "../../support/call-program.js";
import { exampleRun, rollout } from "../../support/example-run.js";
import { temporaryFolder } from "../../support/temporary.js";

const dir = temporaryFolder("rejudge");
const rejudge = (...args: string[]) => callProgram("eval", dir, ["rejudge", ...args]);

test("of a run without kept exchanges it is said by name what its records lack", async () => {
  const run = await exampleRun(dir, "old");
  const fault = { reward: null, metrics: null, advantage: null, fault: "browser closed" };
  const site = await embedded.start(embedded.schema.parse({}));
  const known = site.tasks().slice(0, 8);
  await site.stop();
  const records = known.map(({ id }, i) => rollout(i, { task_id: id }));
  await writeRollouts(run.rollouts(20), [...records, rollout(8, fault)]);
  const { code, out, err } = await rejudge(run.dir);
  assert.equal(code, 0, err);
  assert.match(out, /^task +rollouts +moved .*\nall +0 +0 /);
  assert.match(out, /8 rollouts could not be judged: no evidence \(kept since/);
  assert.match(out, /1 rollouts could not be judged: no task of its id today/);
  assert.match(out, /1 rollouts have no reward/);
});

test("verdicts and rewards that moved are listed by task; nothing is written unless asked", async () => {
  const site = await embedded.start(embedded.schema.parse({}));
  await using environment = closing(new FormsEnvironment(site, FORMS_OPTIONS));
  const run = RunDirectory.create({ name: "new", parent: dir });
  writeFileSync(run.config, "model: models/tiny-refusion\nenvironment: { kind: forms }\n");
  await run.writeEnvironment({ command: "flow-grpo", config: "c.yaml", seeds: { run: 0 }, hashes: {} });
  const records = await Promise.all(
    environment.tasks.slice(0, 4).map(async (task, i): Promise<RolloutRecord> => {
      const act = await environment.fixedPolicies.oracle?.(task, undefined as never);
      assert.ok(act !== undefined);
      const { reward, success, detail } = await environment.play(task, act, new Map());
      assert.equal(reward, 1);
      // the first two as a judge would have it that took them for refused
      const changes = i < 2 ? { reward: 0.5, success: false, detail: { ...detail, accepted: false } } : {};
      return rollout(i, { task_id: task.id, form: task.form, reward, success, detail, ...changes });
    }),
  );
  await writeRollouts(run.rollouts(20), records);
  const shown = await rejudge(run.dir);
  assert.equal(shown.code, 0, shown.err);
  const id = records[0]?.task_id;
  assert.match(shown.out, new RegExp(`\n${id} +1 +1 +\\+1 -0 +\\+1 -0 +0\\.500\n[^]*\n${id} +1\\.000\n`));
  assert.match(shown.out, /\nall +4 +2 +\+2 -0 +\+2 -0 +0\.750\n[\s\S]*\nall +1\.000$/m);
  const file = join(run.dir, "rejudged.json");
  assert.ok(!existsSync(file));
  // by another reward of today's
  writeFileSync(join(dir, "half.mjs"), "export const reward = { score: ({ success }) => (success ? 0.5 : 0) };");
  const other = await rejudge(run.dir, "reward=./half.mjs", "--json", "--write");
  assert.equal(other.code, 0, other.err);
  const found = JSON.parse(other.out) as Rejudged & { judge: string };
  assert.deepEqual([found.moved.length, found.moved[3]?.after.reward, found.lacking], [4, 0.5, {}]);
  assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), found);
});

test("a run without rollouts is an error with advice", async () => {
  const run = RunDirectory.create({ name: "none", parent: dir });
  writeFileSync(run.config, "model: models/tiny-refusion\n");
  const { code, err } = await rejudge(run.dir);
  assert.equal(code, 1);
  assert.match(err, /holds no rollouts[\s\S]*next: /);
});
