// A program on top of the library: trains two steps, evaluates, and fills a form on a page of your own.
import { chromium } from "playwright";
import { findBrowser, loadAgent, train } from "refusion-train";

const run = await train(
  {
    name: "example",
    model: "models/tiny-refusion-template",
    objective: { kind: "flow-grpo" },
    sampler: { kind: "unmask", rounds: 4 },
    training: { steps: 2, prompts_per_step: 2, group_size: 4, learning_rate: 1e-3 },
    evaluation: { splits: ["val"], episodes: 4 },
  },
  { runDir: process.argv[2] ?? "runs/example", progress: true },
);
console.log(`trained ${run.steps} steps, val reward ${run.after[0]?.reward.mean.toFixed(3)}`);

const agent = await loadAgent(run.runDir);
const browser = await chromium.launch({ executablePath: findBrowser()?.path });
const page = await browser.newPage();
await page.setContent(
  "<title>Archive Visit</title><form><label>Guest Name <input id=name></label><button>Send</button></form>",
);
const filled = await agent.fill(page, { "Guest Name": "Ines Meyer" });
console.log(filled.plan, await page.inputValue("#name"));
await browser.close();
await agent.close();
