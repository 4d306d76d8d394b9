import assert from "node:assert/strict";
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { chromium } from "playwright";
import { configOf } from "../../../src/config/config.js";
import { closing } from "../../../src/core/closing.js";
import { Rng } from "../../../src/core/rng.js";
import { findBrowser } from "../../../src/env/browser/find-browser.js";
import type { Environment, EpisodeOutcome } from "../../../src/env/environment.js";
import { openEnvironment } from "../../../src/env/open.js";
import { evaluate, train } from "../../../src/library/programs.js";
import { readRollouts } from "../../../src/runs/rollout-record.js";
import { RunDirectory } from "../../../src/runs/run-directory.js";
import { servePages } from "../../env/page-site.js";
import { ownFolder } from "../../support/own-modules.js";

interface Entry {
  readonly request: { readonly method: string; readonly url: string; readonly postData?: { readonly text: string } };
  readonly response: {
    readonly status: number;
    readonly content: { readonly text: string; readonly mimeType: string };
  };
}

const entriesOf = (har: unknown): readonly Entry[] => (har as { log: { entries: readonly Entry[] } }).log.entries;

/** Sends the form in a browser in which Playwright replays a HAR in place of the server. */
async function replay(har: unknown, url: string, name: string): Promise<void> {
  writeFileSync("replayed.har", JSON.stringify(har));
  const executablePath = findBrowser()?.path;
  const own = executablePath ? { executablePath } : {};
  await using browser = closing(await chromium.launch({ chromiumSandbox: false, ...own }));
  const context = await browser.newContext();
  await context.routeFromHAR("replayed.har", { notFound: "abort" });
  const page = await context.newPage();
  await page.goto(url);
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button").click();
  await page.getByText("Thank you").waitFor();
}

const FORM = `<h1>Library</h1><form method=post action=/visit><label>Name <input name=n></label><button>Send</button></form>`;
const TASKS = ["Ann Lee", "Bo Diaz", "Cy Moss"].map((name, i) => ({
  ...{ id: `visit/train/${i}`, form: "visit", url: "/visit", fields: { Name: name }, split: "train" },
}));

describe("a site that is reset before each episode, and whose requests are kept", async () => {
  let [free, broken] = [false, false];
  // the server accepts the form once until it is reset
  const site = await servePages({}, ({ method, url, body }, response) => {
    const html = (text: string, status = 200): true => {
      response.writeHead(status, { "content-type": "text/html" }).end(`<!doctype html><title>Visit</title>${text}`);
      return true;
    };
    if (url === "/reset") {
      free = true;
      return html("", broken || method !== "POST" ? 500 : 200);
    }
    if (method !== "POST") return html(FORM);
    const accepted = free;
    free = false;
    // the default answer is not a page, so the browser stays on the form
    if (accepted && body.includes("Bo")) return false;
    return accepted ? html("<h1>Thank you</h1>") : html(FORM, 422);
  });
  ownFolder({
    "tasks.jsonl": TASKS.map((task) => JSON.stringify(task)).join("\n"),
    "reset.mjs": `export default async ({ baseUrl }) => {
      const { ok } = await fetch(new URL("/reset", baseUrl), { method: "POST" });
      if (!ok) throw new Error("it is in use");
    };`,
  });
  after(() => site.stop());

  const config = (reset: string, kind = "forms") => ({
    ...{ name: "visit", model: "models/tiny-refusion", objective: { kind: "flow-grpo" }, environment: { kind } },
    site: {
      ...{ kind: "url", tasks: "tasks.jsonl", base_url: site.baseUrl, rehearse: 0, learn: null, reset },
      success: { status: 200 },
    },
    browser: { contexts: 3, har: true, action_timeout_s: 20, rollout_timeout_s: 60 },
  });

  /** Plays every task with the oracle, all concurrently. */
  async function played(environment: Environment): Promise<EpisodeOutcome[]> {
    const rng = Rng.named(0, "played");
    return Promise.all(
      environment.tasks.map(async (task) => {
        const act = await environment.fixedPolicies.oracle?.(task, rng);
        assert.ok(act !== undefined);
        return environment.play(task, act, new Map());
      }),
    );
  }

  for (const [kind, reset] of [
    ["forms", "/reset"],
    ["pages", "./reset.mjs"],
  ] as const)
    it(`plays one episode after the other: environment.kind ${kind}, ${reset}`, async () => {
      const address = reset.startsWith("/") ? `${site.baseUrl}${reset}` : reset;
      const environment = await openEnvironment(await configOf(config(address, kind), "visit"), () => undefined);
      try {
        site.received.length = 0;
        const outcomes = await played(environment);
        for (const { success, fault } of outcomes) assert.deepEqual([success, fault], [true, undefined]);
        // a reset precedes every post
        const order = site.received.flatMap(({ method, url }) => (method === "POST" ? [url] : [])).join(" ");
        assert.match(order, /^(\/reset )*\/visit( (\/reset )+\/visit){2}$/);
        for (const [i, { har }] of outcomes.entries()) {
          const entries = entriesOf(har);
          const lines = entries.map(
            ({ request: { method, url }, response: { status } }) => `${method} ${url} ${status}`,
          );
          assert.deepEqual(lines, [`GET ${site.baseUrl}/visit 200`, `POST ${site.baseUrl}/visit 200`]);
          assert.equal(entries[1]?.request.postData?.text, `n=${TASKS[i]?.fields.Name.replace(" ", "+")}`);
          assert.match(entries[1]?.response.content.text ?? "", /Thank you/);
        }
        const asked = site.received.length;
        await replay(outcomes[0]?.har, `${site.baseUrl}/visit`, "Ann Lee");
        assert.equal(site.received.length, asked);
        broken = true;
        const [faulted] = await played(environment);
        assert.equal(faulted?.reward, null);
        const why = reset === "/reset" ? "POST /reset: HTTP 500" : "it is in use";
        assert.equal(faulted?.fault, `the site's reset failed: ${why}`);
      } finally {
        broken = false;
        await environment.close();
      }
    });

  it("keeps a file for each rollout of a step and each episode of an evaluation, and none in the rollouts' own file", async () => {
    const { runDir } = await train(
      {
        ...config("./reset.mjs"),
        ...{ plan: "free", sampler: { rounds: 2, prompt_length: 56, response_length: 48 } },
        training: { steps: 1, prompts_per_step: 1, group_size: 2 },
        ...{ evaluation: { splits: [] }, report: { screenshots: 0 }, runtime: { provider: "cpu", threads: 1 } },
      },
      { runDir: "run" },
    );
    const run = RunDirectory.open(runDir);
    const records = readRollouts(run.rollouts(1));
    assert.deepEqual(
      readdirSync(join(runDir, "har")).sort(),
      records.map(({ group, rollout }) => `step-000001-${group}-${rollout}.har`),
    );
    for (const record of records) {
      assert.deepEqual([record.fault, "har" in record], [null, false]);
      const entries = entriesOf(JSON.parse(readFileSync(run.har(record), "utf8")));
      assert.equal(entries[0]?.response.status, 200);
      assert.equal(statSync(run.har(record)).mode & 0o777, 0o600);
    }
    // evaluates twice: the second run overwrites the files of the first
    const folder = join(runDir, "eval", "har", "train");
    for (let time = 0; time < 2; time++) {
      await evaluate({ run: runDir }, { split: "train", policy: "oracle", episodes: "all" });
      for (const file of readdirSync(folder)) {
        assert.equal(statSync(join(folder, file)).mode & 0o777, 0o600);
        // as an older version wrote it
        chmodSync(join(folder, file), 0o644);
      }
    }
    assert.deepEqual(readdirSync(folder).sort(), ["visit-train-0.har", "visit-train-1.har", "visit-train-2.har"]);
    const [, sent] = entriesOf(JSON.parse(readFileSync(join(folder, "visit-train-1.har"), "utf8")));
    assert.equal(sent?.request.postData?.text, "n=Bo+Diaz");
  });

  it("refuses a reset on another host, and a module without a function", async () => {
    const open = async (reset: string) => openEnvironment(await configOf(config(reset), "visit"), () => undefined);
    await assert.rejects(open("http://example.org/reset"), /site\.reset: example\.org is not this machine/);
    writeFileSync("none.mjs", "export const reset = 1;");
    await assert.rejects(open("./none.mjs"), /site\.reset: .*none\.mjs has no default export that is a function/);
  });
});
