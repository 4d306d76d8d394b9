import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { loadConfig } from "../../../src/config/config.js";
import { train } from "../../../src/train/recipe.js";
import { servePages } from "../../env/page-site.js";
import { temporaryFolder } from "../../support/temporary.js";
import { trainOptions } from "../../support/train-options.js";
import { userError } from "../../support/user-error.js";

const FORM = `<form method=post action=/visit><label>Name <input name=n></label> <label>Seat <input name=s></label><button>Send</button></form>`;

const site = await servePages({ "/visit": FORM }, ({ method, body }, response) => {
  if (method !== "POST") return false;
  const isFull = /n=.+&s=.+/.test(body);
  response.writeHead(isFull ? 200 : 422, { "content-type": "text/html" }).end(isFull ? "<h1>Thank you</h1>" : FORM);
  return true;
});
after(() => site.stop());

test("a template that is known only from the page is measured before a run begins", async () => {
  const dir = temporaryFolder("fits");
  const tasks = join(dir, "tasks.jsonl");
  const task = { id: "visit/0", form: "visit", url: "/visit", fields: { Name: "Ann Lee", Seat: "12" }, split: "train" };
  writeFileSync(tasks, JSON.stringify(task));
  const config = join(dir, "run.yaml");
  const text = `{model: models/tiny-refusion-template, plan: template, training: {steps: 1, group_size: 2},
sampler: {kind: unmask, prompt_length: 64, response_length: 16, room: 8}, evaluation: {splits: [], every: 0},
site: {kind: url, tasks: ${tasks}, base_url: "${site.baseUrl}", success: {text: Thank you}, learn: null}}`;
  writeFileSync(config, text);
  await assert.rejects(
    train(await loadConfig(config, { command: "flow-grpo" }), trainOptions("flow-grpo", config, join(dir, "run"))),
    userError(/^1 of 1 templates are longer than sampler\.response_length = 16 tokens/),
  );
  assert.ok(!existsSync(join(dir, "run")));
});
