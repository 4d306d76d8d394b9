// node scripts/unseen.mjs --adapter DIR [--model DIR] [--dev] [--show] [key=value ...]
// Measures the share of fields that `agent.fill` fills in right from a person's text, on pages that no model was
// trained on (scripts/lib/unseen.mjs). --dev uses the pages for development. Details on stderr, JSON on stdout.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright";
import { flagsOf } from "./lib/flags.mjs";
import { build, ROOT } from "./lib/setup.mjs";
import { judged, unseenPages, wouldSend } from "./lib/unseen.mjs";

const { values: flags, positionals: overrides } = flagsOf(import.meta.url, {
  allowPositionals: true,
  options: {
    model: { type: "string" },
    adapter: { type: "string" },
    dev: { type: "boolean", default: false },
    show: { type: "boolean", default: false },
  },
});
build();
const dist = (path) => import(pathToFileURL(join(ROOT, "dist", "src", path)).href);
const [{ loadAgent }, { findBrowser }] = await Promise.all([dist("index.js"), dist("env/browser/find-browser.js")]);
const { adapter, model } = flags;
const agent = await loadAgent({ ...(model ? { model } : {}), ...(adapter ? { adapter } : {}), overrides });
const executablePath = findBrowser()?.path;
const browser = await chromium.launch({ chromiumSandbox: false, ...(executablePath ? { executablePath } : {}) });
const pages = {};
const all = [];
let seconds = 0;
for (const { name, url, text, truth } of unseenPages(flags.dev)) {
  const page = await browser.newPage();
  await page.goto(url);
  const before = await page.evaluate(wouldSend);
  const begun = process.cpuUsage();
  const filled = await agent.fill(page, text);
  const { user, system } = process.cpuUsage(begun);
  seconds += (user + system) / 1e6;
  const fields = judged(truth, before, await page.evaluate(wouldSend));
  all.push(...fields);
  const asked = fields.filter((field) => field.asked);
  pages[name] = `${asked.filter(({ right }) => right).length}/${asked.length}`;
  process.stderr.write(`${name}: ${pages[name]}\n`);
  for (const { name: field, wanted, held } of fields.filter(({ right }) => !right))
    process.stderr.write(`  ${field}: ${JSON.stringify(held)}, not ${JSON.stringify(wanted)}\n`);
  if (flags.show) process.stderr.write(`${filled.plan}\n`);
  await page.close();
}
await browser.close();
await agent.close();
const count = (wanted) =>
  all.filter((field) => Object.entries(wanted).every(([key, value]) => field[key] === value)).length;
const [asked, right] = [count({ asked: true }), count({ asked: true, right: true })];
const [open, kept] = [count({ asked: false }), count({ asked: false, right: true })];
const result = { model, adapter, asked, right, share: right / asked, open, kept, cpu_seconds: seconds, pages };
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
