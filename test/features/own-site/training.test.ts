import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { loadConfig } from "../../../src/config/config.js";
import { readMetrics } from "../../../src/runs/metrics.js";
import { readRollouts } from "../../../src/runs/rollout-record.js";
import { train } from "../../../src/train/recipe.js";
import { type PageSite, servePages } from "../../env/page-site.js";
import { temporaryFolder } from "../../support/temporary.js";
import { trainOptions } from "../../support/train-options.js";
import { userError } from "../../support/user-error.js";

const LOGIN = `<form method=post action=/login><label>User <input name=u></label><label>Password <input type=password name=p></label><button>Log in</button></form>`;
const FORM = `<h1>Library</h1><form method=post action=/visit><label>Name <input name=n></label>
  <label>Pass <select name=k><option value="">Choose</option><option value=d>Day</option><option value=y>Year</option></select></label><button>Send</button></form>`;

/** Starts a server with accounts: a login opens a session, and without one every page redirects to the login. */
async function serveBehindLogin(): Promise<PageSite> {
  const sessions = new Set<string>();
  return servePages({}, ({ method, url, cookie, body }, response) => {
    const html = (text: string, status = 200): true => {
      response.writeHead(status, { "content-type": "text/html" }).end(`<!doctype html>${text}`);
      return true;
    };
    if (url === "/login" && method === "POST" && body === "u=ann&p=moss") {
      const id = randomUUID();
      sessions.add(id);
      response.writeHead(303, { location: "/visit", "set-cookie": `session=${id}; HttpOnly; Path=/` }).end();
      return true;
    }
    if (url === "/login") return html(LOGIN);
    if (!sessions.has(/session=([\w-]+)/.exec(cookie ?? "")?.[1] ?? "")) {
      response.writeHead(302, { location: "/login" }).end();
      return true;
    }
    if (method === "POST") return /^n=.+&k=[dy]$/.test(body) ? html("<h1>Thank you</h1>") : html(FORM, 422);
    return html(FORM);
  });
}

const site = await serveBehindLogin();
after(() => site.stop());

describe("training on somebody else's site", () => {
  const dir = temporaryFolder("url-train");
  const login = `export default async (page, { baseUrl }) => {
    await page.goto(baseUrl + "/login");
    await page.getByLabel("User").fill("ann");
    await page.getByLabel("Password").fill("moss");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.waitForURL(baseUrl + "/visit");
  };`;
  writeFileSync(join(dir, "login.mjs"), login);

  async function run(name: string, command: string, given: object, fields: object[]): Promise<string> {
    const tasks = join(dir, `${name}.jsonl`);
    const visit = { form: "visit", url: "/visit", split: "train" };
    const lines = fields.map((values, i) => JSON.stringify({ ...visit, id: `visit/train/${i}`, fields: values }));
    writeFileSync(tasks, lines.join("\n"));
    const config = {
      model: "models/tiny-refusion",
      site: { kind: "url", tasks, base_url: site.baseUrl, success: { status: 200 }, ...given },
      objective: { kind: command, ...(command === "sft" ? { augment: 0.5, batch_size: 2 } : {}) },
      plan: "free",
      sampler: { kind: "unmask", rounds: 2, prompt_length: 56, response_length: 48, temperature: 1 },
      training: { steps: 1, ...(command === "sft" ? {} : { prompts_per_step: 1, group_size: 2 }) },
      evaluation: { splits: [], every: 0 },
      runtime: { threads: 1, provider: "cpu" },
    };
    const file = join(dir, `${name}.yaml`);
    writeFileSync(file, JSON.stringify(config));
    const out = join(dir, name);
    await train(await loadConfig(file, { command }), trainOptions(command, file, out));
    return out;
  }
  const VISITS = [
    { Name: "garden", Pass: "Day" },
    { Name: "library", Pass: "Year" },
  ];

  it("behind a login: the script logs in once, and every episode of a step begins with its state", async () => {
    const out = await run("login", "flow-grpo", { login: join(dir, "login.mjs") }, VISITS);
    const [line] = readMetrics(join(out, "metrics.jsonl"));
    assert.equal(line?.faults, 0);
    assert.equal(readRollouts(join(out, "rollouts", "step-000001.jsonl")).length, 2);
    assert.equal(site.received.filter(({ url, method }) => url === "/login" && method === "POST").length, 1);
  });

  it("sft learns from plans that the oracle has played, its controls read by the browser", async () => {
    const out = await run("sft", "sft", { login: join(dir, "login.mjs"), rehearse: 0, learn: null }, VISITS);
    const [line] = readMetrics(join(out, "metrics.jsonl"));
    assert.ok(Number.isFinite(line?.loss));
    assert.ok(site.received.some(({ method, body }) => method === "POST" && body === "n=library&k=y"));
  });

  it("a state without a session is said to lead to the login, before the run", async () => {
    const storage_state = join(dir, "empty.json");
    writeFileSync(storage_state, '{"cookies":[],"origins":[]}');
    const attempt = run("logged-out", "flow-grpo", { storage_state }, VISITS);
    await assert.rejects(attempt, userError(/leads to \/login: a login, not the task's form/));
  });

  it("what the oracle cannot win stops the run with its labels, unless it is told not to", async () => {
    const wrong = [...VISITS, { Name: "museum", Pass: "Month", Street: "Elm Row" }];
    const given = { login: join(dir, "login.mjs"), learn: null };
    const labels = /visit\/train\/2: "Pass": no-such-option; "Street": no-such-control; not accepted/;
    const message = new RegExp(`does not win 1 of 3 training tasks[^]*${labels.source}`);
    await assert.rejects(run("stopped", "flow-grpo", given, wrong), userError(message, { hint: /site\.rehearse=0/ }));
    await run("anyway", "flow-grpo", { ...given, rehearse: 0 }, wrong);
  });
});
