import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright";
import { loadConfig } from "../../src/config/config.js";
import { packageRoot } from "../../src/core/files.js";
import { Rng } from "../../src/core/rng.js";
import type { UnmaskTrajectory } from "../../src/diffusion/samplers/unmask/trajectory.js";
import { openEnvironment } from "../../src/env/open.js";
import type { Task } from "../../src/env/site.js";
import { openPolicy } from "../../src/library/policy.js";
import { openBrowser, watchPage } from "../support/page.js";
import { temporaryFolder } from "../support/temporary.js";

const root = packageRoot();
const dist = join(root, "site", "dist");
const BASE = "/refusion/";
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

/** A plain file server that knows the site under a path. */
function serve(): Promise<Server> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://site");
    const path = join(dist, decodeURIComponent(pathname.slice(BASE.length)));
    const file = pathname.startsWith(BASE) && pathname.endsWith("/") ? join(path, "index.html") : path;
    if (!pathname.startsWith(BASE) || !existsSync(file) || statSync(file).isDirectory())
      return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
    response.end(readFileSync(file));
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

interface Recorded {
  readonly task: string;
  readonly seed: number;
  readonly adapter: "before" | "after";
  /** Rounds at most: a canvas may be full before. */
  readonly rounds: number;
  readonly trajectory: UnmaskTrajectory;
}

/** The same rollout in Node, and its text. */
async function inNode({ task, seed, adapter, rounds, trajectory }: Recorded, letter?: string) {
  const section = { kind: "paper", letters: 1, style: "page", sizes: { train: 0, test: 0 } };
  const environment = await openEnvironment({ environment: section });
  const found = (environment.tasks as readonly Task[]).find(({ id }) => id === task) as Task;
  const init = adapter === "after" ? [`init_adapter=${join(root, "site", "adapter")}`] : [];
  const overrides = [`sampler.rounds=${rounds}`, ...init];
  const config = await loadConfig(join(root, "configs", "tiny", "letters-flow-grpo.yaml"), { overrides });
  const { policy, close } = await openPolicy({ config });
  try {
    const shown = letter === undefined ? found : { ...found, document: letter };
    const observation = environment.firstObservation?.(shown) ?? {};
    const options = { ...policy.options, temperature: trajectory.temperature };
    const rngs = [Rng.named(seed, `answer/${task}`)];
    const [own] = await policy.sampler.rollout(policy.rounds, [policy.startOf(observation)], options, rngs);
    const action = policy.actionOf(own as UnmaskTrajectory);
    return { trajectory: own as UnmaskTrajectory, values: action.values ?? {} };
  } finally {
    await close();
  }
}

const record = async (page: Page): Promise<Recorded> =>
  JSON.parse((await page.locator("[data-record]").textContent()) ?? "") as Recorded;

describe("the site", () => {
  let server: Server;
  let browser: Browser;
  let origin = "";

  before(async () => {
    const built = spawnSync(process.execPath, [join(root, "site", "build.mjs"), "--base", BASE], { encoding: "utf8" });
    assert.equal(built.status, 0, built.stderr);
    assert.match(built.stderr, /All links of \d+ pages hold[\s\S]*The site lies in/);
    server = await serve();
    browser = await openBrowser();
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}${BASE}`;
  });
  after(() => browser?.close());
  after(() => server?.close());

  /** Opens a page, and sees to it that nothing goes wrong there. */
  async function visit(path: string, options: BrowserContextOptions, work: (page: Page) => Promise<void>) {
    const { page, problems, close } = await watchPage(browser, options, [origin, "data:", "blob:"]);
    try {
      await page.goto(`${origin}${path}`, { waitUntil: "networkidle" });
      await work(page);
      assert.deepEqual(problems(), [], path);
    } finally {
      await close();
    }
  }
  const desktop = { viewport: { width: 1280, height: 800 } };
  const phone = { viewport: { width: 390, height: 844 }, colorScheme: "dark", isMobile: true } as const;

  it("says on its first screen what it is, how to run it, and shows it moving", async () => {
    await visit("", desktop, async (page) => {
      const inView = async (selector: string): Promise<boolean> => {
        const box = await page.locator(selector).first().boundingBox();
        return box !== null && box.y >= 0 && box.y + box.height <= 800;
      };
      assert.match(await page.locator("h1").innerText(), /Diffusion language models/);
      assert.match(await page.locator(".run code").innerText(), /npm start/);
      for (const part of ["h1", ".run code", "img.moving"]) assert.ok(await inView(part), part);
      const width = await page.locator("img.moving").evaluate((image) => (image as HTMLImageElement).naturalWidth);
      assert.ok(width > 0);
      assert.match(readFileSync(join(root, "docs", "unmasking.svg"), "utf8"), /@keyframes/);
    });
  });

  it("draws the moving picture from the policy, the same again", () => {
    const dir = temporaryFolder("picture");
    const program = join(root, "site", "build", "picture.mjs");
    const drawn = spawnSync(process.execPath, [program, join(dir, "a.svg")], { encoding: "utf8" });
    assert.equal(drawn.status, 0, drawn.stderr);
    const kept = readFileSync(join(root, "docs", "unmasking.svg"), "utf8");
    assert.equal(readFileSync(join(dir, "a.svg"), "utf8"), kept);
  });

  it("fills a form in the tab as Node does, with and without the trained adapter", async () => {
    await visit("demo.html", { ...desktop, reducedMotion: "reduce" }, async (page) => {
      const isReady = page.locator('.demo[data-state="ready"]');
      const settled = async (): Promise<Recorded> => {
        await isReady.waitFor({ timeout: 60_000 });
        return record(page);
      };
      const compare = async (shown: Recorded, letter?: string): Promise<void> => {
        const { trajectory, values } = await inNode(shown, letter);
        assert.deepEqual(shown.trajectory.response, trajectory.response);
        assert.deepEqual(shown.trajectory.prompt, trajectory.prompt);
        trajectory.rounds.forEach((round, t) => {
          round.logProbs.forEach((logProb, i) => {
            const other = shown.trajectory.rounds[t]?.logProbs[i] ?? Number.NaN;
            assert.ok(Math.abs(logProb - other) < 1e-3, `round ${t}, token ${i}: ${logProb} and ${other}`);
          });
        });
        // what the policy filled in stands in the page's form
        const held = await page.locator(".page").evaluate((form) => {
          const fields = [...form.querySelectorAll<HTMLInputElement>("input[type=text], input[type=tel]")];
          return fields.map(({ value }) => value);
        });
        const filled = Object.values(values).map((text) => text.trim());
        for (const value of held) assert.ok(filled.includes(value), value);
      };
      const trained = await settled();
      // many letters at once, and one of them in detail
      const many = page.locator(".many");
      assert.equal(await many.locator("li").count(), 20);
      const rewards = /Mean reward 0\.\d\d \[0\.\d\d, [01]\.\d\d\] before RL, 0\.\d\d \[0\.\d\d, [01]\.\d\d\] after/;
      assert.match(await many.locator("p").innerText(), rewards);
      assert.equal(await many.locator("[aria-pressed=true]").count(), 1);
      assert.ok(!(await page.locator(".demo").innerText()).includes("**"));
      assert.equal(trained.adapter, "after");
      await compare(trained);
      await page.getByRole("button", { name: /Before RL/ }).click();
      const base = await settled();
      assert.notDeepEqual(base.trajectory.response, trained.trajectory.response);
      await compare(base);
      const blanks = trained.trajectory.template?.filter((p) => !Array.isArray(p)).length;
      assert.equal(await page.locator(".canvas li").count(), blanks);

      // rounds on a slider, a letter of one's own, the most probable tokens
      await page.getByRole("button", { name: /After RL/ }).click();
      await page.locator("input[type=range]").fill("2");
      await isReady.waitFor();
      assert.equal((await settled()).trajectory.rounds.length, 2);
      await page.getByLabel("always the most probable token").check();
      const letter =
        "Hello, make the guest name Clara Lang, the visit time Evening and the book number 120045, please.";
      await page.locator("textarea").first().fill(letter);
      await page.getByRole("button", { name: "Fill in the form" }).click();
      const own = await settled();
      assert.equal(own.trajectory.temperature, 0);
      await compare(own, letter);
      assert.match(await page.locator(".status").innerText(), /nobody knows the true values/);

      await page.locator("textarea").first().fill("word ".repeat(400));
      await page.getByRole("button", { name: "Fill in the form" }).click();
      await page.locator('.demo[data-state="failed"]').waitFor();
      assert.match(await page.locator(".status").innerText(), /too long/);
      await page.getByRole("button", { name: "Another letter" }).click();
      assert.notEqual((await settled()).task, trained.task);
    });
  });

  it("finds pages by words, on this machine alone", async () => {
    await visit("", desktop, async (page) => {
      const search = page.getByRole("button", { name: /search/i });
      await search.first().click();
      await page.locator(".VPLocalSearchBox input").fill("truncated importance sampling");
      await page.locator(".VPLocalSearchBox .result", { hasText: "Clip and surrogate" }).click();
      await page.waitForURL(/docs\/objectives/);
    });
  });

  it("has a page for every command, objective and exported type, and texts for language models", () => {
    const page = (path: string): string => readFileSync(join(dist, path), "utf8");
    const program = join(root, "dist", "src", "cli", "train.js");
    const help = spawnSync(process.execPath, [program, "--help"], { encoding: "utf8" }).stdout;
    const training = /^Training, .*\n {2}(.*)$/m.exec(help)?.[1]?.split(/ +/) ?? [];
    const [, others = ""] = help.split("Other commands:\n");
    const further = [...others.matchAll(/^ {2}([a-z][\w-]*) {2}/gm)].map(([, name]) => name as string);
    const commands = [...training, ...further];
    assert.ok(commands.length > 20);
    for (const name of commands)
      assert.match(page(`cli/refusion-train-${name}.html`), new RegExp(`refusion-train ${name}`));
    assert.match(page("cli/refusion-train-espo.html"), /objective\.mc_samples/);
    assert.match(page("cli/config.html"), /training\.learning_rate/);
    const index = readFileSync(join(root, "src", "index.ts"), "utf8").replace(/\/\*[\s\S]*?\*\//, "");
    const exported = [...index.matchAll(/\{([^}]*)\}/g)].flatMap(([, list = ""]) =>
      list.split(",").flatMap((item) => /(\w+)\s*$/.exec(item.trim())?.[1] ?? []),
    );
    const api = page("api/index.html");
    for (const name of exported) assert.match(api, new RegExp(`/${name}\\.html`), name);
    for (const file of readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md")))
      assert.ok(page("llms.txt").includes(`${BASE}docs/${file.replace(".md", ".html")}`), file);
  });

  it("fits a phone, in the dark, and shows reports", async () => {
    for (const path of [
      "",
      "demo.html",
      "docs/objectives.html",
      "docs/features.html",
      "cli/config.html",
      "reports.html",
    ])
      await visit(path, phone, async (page) => {
        const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        assert.ok(over <= 0, `${path} is ${over} px too wide`);
        if (path !== "reports.html") return;
        await page.frameLocator("iframe").locator("h1").first().waitFor();
        const listed = readdirSync(join(root, "site", "reports")).filter((file) => file.endsWith(".gz"));
        assert.equal(await page.locator(".reports li").count(), listed.length);
      });
  });
});
