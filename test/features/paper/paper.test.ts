import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../../src/config/config.js";
import { Rng } from "../../../src/core/rng.js";
import type { EnvironmentTask, EpisodeOutcome, FixedPolicy } from "../../../src/env/environment.js";
import { NULL_PLANS } from "../../../src/env/forms/oracle.js";
import { TIERS } from "../../../src/env/site.js";
import { environment, PaperEnvironment } from "../../../src/features/paper/environments/paper.js";
import { temporaryFolder } from "../../support/temporary.js";

const sizes = { train: 2, val: 1, test: 1, heldout: 2 };

async function playFixed(paper: PaperEnvironment, policy: string, task: EnvironmentTask): Promise<EpisodeOutcome> {
  const fixed = paper.fixedPolicies[policy] as FixedPolicy;
  return paper.play(task, await fixed(task, Rng.named(1, `${policy}/${task.id}`)));
}

for (const tier of TIERS) {
  test(`${tier}: the oracle scores exactly 1 on every form, null policies at most .05 on average`, async () => {
    const paper = new PaperEnvironment({ tier, seed: 1, sizes });
    for (const task of paper.tasks) {
      const { reward, success } = await playFixed(paper, "oracle", task);
      assert.deepEqual([task.id, reward, success], [task.id, 1, true]);
    }
    for (const policy of Object.keys(NULL_PLANS)) {
      const rewards = await Promise.all(paper.tasks.map(async (task) => (await playFixed(paper, policy, task)).reward));
      const mean = rewards.reduce<number>((sum, r) => sum + (r as number), 0) / rewards.length;
      assert.ok(mean <= 0.05, `${policy} scores ${mean.toFixed(3)} on average`);
    }
  });
}

test("what an episode was worth, and what became of every line of its plan", async () => {
  const paper = new PaperEnvironment({ tier: "starter", seed: 1, sizes });
  const task = paper.tasks.find(({ form }) => form === "library/visitor-pass") ?? paper.tasks[0];
  assert.ok(task !== undefined);
  const lines = ((await paper.demonstrations?.([task])[0]?.action.text) ?? "").split("\n");
  const play = (plan: readonly string[]): Promise<EpisodeOutcome> =>
    paper.play(task, async () => ({ text: plan.join("\n") }));
  const fates = ({ detail }: EpisodeOutcome): unknown[] =>
    (detail.actions as { readonly fate: string }[]).map(({ fate }) => fate);

  assert.equal((await play(lines)).reward, 1);
  const unsent = await play(lines.slice(0, -1));
  assert.deepEqual([unsent.detail.accepted, unsent.success, unsent.metrics.task_completion], [false, false, 0]);
  assert.equal(unsent.metrics.field_accuracy, 0);
  const late = await play([...lines, lines[0] as string, "hello"]);
  assert.deepEqual(fates(late).slice(-2), ["after-submit", "not-an-action"]);
  assert.ok((late.reward as number) < 1 && late.success);
  const wrong = await play(["fill Nothing Of The Kind | x", "submit"]);
  assert.equal(fates(wrong)[0], "no-such-control");
  assert.ok((wrong.reward as number) < 0.2);
});

test("controls keep nothing that their type cannot hold, and a required field stops the submit", async () => {
  const paper = new PaperEnvironment({ tier: "full", seed: 1, sizes });
  const days = paper.tasks.flatMap((task) => Object.entries(task.fields).map((field) => [task, ...field] as const));
  const [task, day] = days.find(([, , value]) => /^\d{4}-\d{2}-\d{2}$/.test(String(value))) ?? assert.fail("no date");
  const { detail } = await paper.play(task, async () => ({ text: `fill ${day} | someday` }));
  assert.deepEqual((detail.actions as { readonly fate: string }[])[0]?.fate, "rejected");
  assert.equal((detail.received as Record<string, unknown>)[day], "");
});

test("it is opened by its kind, with its options checked", async () => {
  const opened = await environment.open({ environment: { kind: "paper", tier: "starter", sizes } });
  assert.equal(opened.tasks.length, 20 * 4 + 5 * 2);
  await assert.rejects(() => environment.open({ environment: { kind: "paper", tier: "wizard" } }));
  await opened.close();
});

test("a reward of one's own scores what a form would have received; the site's verdict is no reward here", async () => {
  const open = (reward: string) => environment.open({ environment: { kind: "paper", sizes }, reward });
  const module = "examples/reward.mjs";
  const [own, usual] = [await open(module), await open("default")];
  const [task] = own.tasks;
  assert.ok(task !== undefined);
  const plan = own.demonstrations?.([task])[0]?.action.text ?? "";
  const play = (text: string) => own.play(task, async () => ({ text }), new Map());
  assert.equal((await play(plan)).reward, 1);
  const { reward, metrics, success } = await play(plan.split("\n").slice(1).join("\n"));
  assert.deepEqual([reward, success], [0.2 * (metrics.field_accuracy as number), false]);
  assert.notEqual(own.judge?.([task]), usual.judge?.([task]));
  await assert.rejects(open("verdict"), /accepts whatever is valid/);
});

test("a section or key of another kind than paper is named with the kind that has it", async () => {
  const file = join(temporaryFolder("owners"), "config.yaml");
  writeFileSync(file, "model: models/tiny-refusion\n");
  const load = (...overrides: string[]): Promise<unknown> => loadConfig(file, { command: "flow-grpo", overrides });
  await assert.rejects(
    load("environment.kind=paper", "browser.headless=false"),
    /browser.* unknown key; it belongs to environment\.kind forms.*, and this config's kind is paper/,
  );
  await assert.rejects(load("environment.letters=1"), /environment\.letters .*it belongs to environment\.kind .*paper/);
});
