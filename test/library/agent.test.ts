import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type Browser, chromium } from "playwright";
import { findBrowser } from "../../src/env/browser/find-browser.js";
import { type Agent, loadAgent, train } from "../../src/index.js";

const FORM = `<title>Archive Visit</title><form action="http://127.0.0.1:9/never"><label>Guest Name <input id="name"></label>
<label>Print Card <input id="news" type="checkbox"></label><button>Send</button></form>`;

describe("an agent", () => {
  let root: string;
  let browser: Browser;
  let agent: Agent;
  const trained = async (plan: "template" | "free"): Promise<Agent> => {
    const { runDir } = await train(
      {
        model: "models/tiny-refusion",
        plan,
        environment: { kind: "paper" },
        objective: { kind: "flow-grpo" },
        sampler: { kind: "unmask", rounds: 8, prompt_length: 56, response_length: 96 },
        training: { steps: 1, prompts_per_step: 1, group_size: 2 },
        evaluation: { splits: ["val"], episodes: 1, temperature: 0 },
        runtime: { provider: "cpu", threads: 1 },
        report: { screenshots: 0 },
      },
      { runDir: join(root, plan) },
    );
    return loadAgent(runDir);
  };
  before(async () => {
    root = mkdtempSync(join(tmpdir(), "agent-"));
    agent = await trained("free");
    const found = findBrowser();
    browser = await chromium.launch({
      chromiumSandbox: false,
      ...(found?.path === undefined ? {} : { executablePath: found.path }),
    });
  });
  after(async () => {
    await agent?.close();
    await browser?.close();
    rmSync(root, { recursive: true, force: true });
  });

  it("fills a form on a page of the user's, and sends nothing", async () => {
    const page = await browser.newPage();
    const sent: string[] = [];
    page.on("request", (request) => sent.push(request.url()));
    await page.setContent(FORM);
    const { plan, actions } = await agent.fill(page, { "Guest Name": "Ines Meyer", "Print Card": true });
    assert.match(plan, /^fill Guest Name \| /);
    // the tiny model may get a label wrong that it has never seen: what it got right was done
    assert.deepEqual([actions[0]?.action.kind, actions[0]?.fate], ["fill", "done"], JSON.stringify(actions));
    const value = await page.inputValue("#name");
    assert.ok(value.length > 0 && plan.includes(`fill Guest Name | ${value}`), `${plan} -> ${value}`);
    assert.deepEqual(sent, []);
  });

  it("gives the same answer to the same values", async () => {
    const page = await browser.newPage();
    await page.setContent(FORM);
    const [first, second] = [
      await agent.fill(page, { "Guest Name": "Luis Keller" }),
      await agent.fill(page, { "Guest Name": "Luis Keller" }),
    ];
    assert.equal(first.plan, second.plan);
  });

  it("fills the blanks of the lines that the page gives, with plan: template", async () => {
    const page = await browser.newPage();
    await page.setContent(`<form><label>Search <input></label></form>${FORM}`);
    const filler = await trained("template");
    try {
      const { plan, actions, unresolved } = await filler.fill(page, { "Guest Name": "Ines Meyer", "Print Card": true });
      // the form that the values are of; the lines are the page's, whatever the model writes into them
      const value = /^fill Guest Name \| ([\s\S]*)\ncheck Print Card \| /.exec(plan)?.[1] ?? "";
      assert.deepEqual([actions[0]?.action.kind, actions[0]?.fate, unresolved], ["fill", "done", []], plan);
      assert.deepEqual([value !== "", await page.inputValue("#name")], [true, value.replace(/\n/g, " ")], plan);
    } finally {
      await filler.close();
    }
  });
});
