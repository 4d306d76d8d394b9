import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { loadConfig } from "../../src/config/config.js";
import { openEnvironment } from "../../src/env/open.js";
import { evaluateCommand } from "../../src/train/evaluate.js";
import type { EvaluateOptions } from "../../src/train/types.js";
import { FORM, servePages } from "../env/page-site.js";
import { temporaryFolder } from "../support/temporary.js";

const dir = temporaryFolder("evaluate");
const config = join(dir, "eval.yaml");
writeFileSync(
  config,
  "model: models/tiny-refusion\nsite: { kind: embedded, sizes: { train: 1, val: 0, test: 0, heldout: 1 } }\n",
);
const options = (changes: Partial<EvaluateOptions>): EvaluateOptions => ({
  run: undefined,
  config,
  overrides: [],
  checkpoint: "last",
  split: "all",
  policy: "oracle",
  episodes: "all",
  quiet: true,
  json: false,
  signal: new AbortController().signal,
  ...changes,
});

/** Writes two tasks of each form. @returns the overrides that evaluate them on a site. */
function onSite(baseUrl: string, forms: readonly string[], fields: object = { Name: "Ann" }): string[] {
  const tasks = forms.flatMap((name) =>
    [1, 2].map((n) => ({ id: `${name}/val/${n}`, split: "val", form: name, url: `/${name}`, fields })),
  );
  writeFileSync(join(dir, "tasks.jsonl"), tasks.map((task) => `${JSON.stringify(task)}\n`).join(""));
  return [`site={kind: url, tasks: ${join(dir, "tasks.jsonl")}, base_url: "${baseUrl}", learn: null}`];
}

test("a typed setting of training alone is refused: an evaluation would not read it", async () => {
  for (const override of [
    "training.group_size=3",
    "objective.kl_coeff=1",
    "checkpoint={every: 1}",
    "evaluation.every=2",
  ]) {
    const evaluated = evaluateCommand(options({ overrides: [override] }));
    const [section] = override.split(/[.=]/);
    await assert.rejects(evaluated, new RegExp(`^UserError: refusion-eval does not read ${section}\\.`));
  }
});

test("an interrupt ends an evaluation at once, before it begins or in the midst of it", async () => {
  const many = { split: "val", episodes: 500 } as const;
  await assert.rejects(evaluateCommand(options({ ...many, split: "train", signal: AbortSignal.abort() })), {
    name: "AbortError",
  });
  const controller = new AbortController();
  let sent = 0;
  const site = await servePages({ "/good": FORM }, ({ method }) => {
    if (method === "POST" && ++sent === 3) controller.abort();
    return false;
  });
  after(() => site.stop());
  const overrides = onSite(site.baseUrl, ["good"]);
  await assert.rejects(evaluateCommand(options({ ...many, overrides, signal: controller.signal })), {
    name: "AbortError",
  });
  assert.ok(sent >= 3 && sent < 100, `${sent} forms were sent`);
});

test("a form that the site stops serving is left out, with the cause; the others are scored", async () => {
  let asked = 0;
  // the page is served at the check before the run, and never again
  const site = await servePages({ "/good": FORM, "/bad": FORM }, ({ url }, response) => {
    if (url !== "/bad" || asked++ === 0) return false;
    response.writeHead(500).end();
    return true;
  });
  const overrides = onSite(site.baseUrl, ["good", "bad"]);
  after(() => site.stop());
  const { evaluations } = await evaluateCommand(options({ overrides, split: "val" }));
  const [e] = evaluations;
  assert.deepEqual([e?.episodes, e?.faults, e?.reward.mean], [2, 2, 1]);
  const left = e?.left_out?.map(({ task_id }) => task_id) ?? [];
  assert.deepEqual(left.sort(), ["bad/val/1", "bad/val/2"]);
  assert.match(e?.left_out?.[0]?.fault ?? "", /HTTP 500 for GET \/bad/);
});

test("attempts play each task with other noise", async () => {
  const box = (name: string) => `<label><input type=checkbox name=${name}>${name}</label>`;
  const site = await servePages({
    "/good": `<form method=post>${["Name", "Hot", "Late"].map(box)}<button>Send</button>`,
  });
  const overrides = onSite(site.baseUrl, ["good"], { Name: true, Hot: false, Late: false });
  after(() => site.stop());
  const evaluated = async (attempts: number) =>
    (await evaluateCommand(options({ overrides, policy: "random", split: "val", attempts }))).evaluations[0];
  const [once, repeated] = [await evaluated(1), await evaluated(6)];
  assert.equal(repeated?.pass_at?.rates.length, 6);
  const attempt = (n: number) => repeated?.per_task.filter((_, i) => i % 6 === n);
  assert.deepEqual(attempt(0), once?.per_task);
  const played = Array.from({ length: 6 }, (_, n) => JSON.stringify(attempt(n)));
  assert.ok(new Set(played).size > 1, "the noise of the attempts differs");
});

test("checksums tell tasks and judges apart, and hold nothing of the policy", async () => {
  const paper = join(dir, "paper.yaml");
  const sizes = "{train: 1, val: 0, test: 0, heldout: 1}";
  writeFileSync(paper, `model: models/tiny-refusion\nenvironment: {kind: paper, sizes: ${sizes}}\n`);
  const checksums = async (policy: string, split: EvaluateOptions["split"]) =>
    (await evaluateCommand(options({ config: paper, policy, split }))).evaluations[0]?.checksum;
  const random = await checksums("random", "train");
  assert.match(random?.judge ?? "", /^[0-9a-f]{64}$/);
  assert.deepEqual(await checksums("empty", "train"), random);
  const others = await checksums("empty", "heldout");
  assert.equal(others?.judge, random?.judge);
  assert.notEqual(others?.tasks, random?.tasks);
});

test("another reward, or a change of its file, is another judge", async () => {
  const file = join(dir, "reward.mjs");
  const judged = async (reward: string, text = ""): Promise<unknown> => {
    if (text !== "") writeFileSync(file, text);
    const environment = await openEnvironment(
      await loadConfig(config, { command: undefined, overrides: [`reward=${reward}`] }),
    );
    try {
      return environment.judge?.(environment.tasks);
    } finally {
      await environment.close();
    }
  };
  const own = "export const reward = { score: () => 1 };";
  const shipped = [await judged("default"), await judged("documents")];
  const hashes = [...shipped, await judged(file, own), await judged(file, `${own}\n`)];
  assert.equal(new Set(hashes).size, 4);
  assert.equal(await judged("default"), hashes[0]);
});
