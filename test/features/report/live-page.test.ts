import assert from "node:assert/strict";
import { request } from "node:http";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { LiveState } from "../../../src/features/report/live/client.js";
import { LivePage } from "../../../src/features/report/live/live-page.js";
import { exampleRun, HOSTILE, rollout } from "../../support/example-run.js";
import { testBrowser, watchPage } from "../../support/page.js";
import { stepMetrics } from "../../support/step-metrics.js";
import { temporaryFolder } from "../../support/temporary.js";
import { userError } from "../../support/user-error.js";

const config: Parameters<typeof LivePage.open>[1] = {
  ...{ name: "quickstart", model: "models/tiny-refusion", sampler: { kind: "unmask" }, environment: { kind: "forms" } },
};

describe("the live page", () => {
  const root = temporaryFolder("live");
  let page: LivePage;
  beforeEach(async () => {
    page = await LivePage.open(0, config);
  });
  afterEach(() => page.end());

  interface Answer {
    readonly status: number;
    readonly headers: Record<string, unknown>;
    readonly body: string;
  }
  /** fetch sets Host itself: a rebound name needs a plain request. */
  function ask(path: string, options: { method?: string; headers?: Record<string, string> } = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = request(new URL(path, page.address), options, (response) => {
        let body = "";
        response.on("data", (chunk: Buffer) => {
          body += chunk.toString("utf8");
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
      });
      sent.on("error", reject);
      sent.end();
    });
  }
  const state = async (seen = 0): Promise<LiveState> =>
    JSON.parse((await ask(`/state.json?seen=${seen}`)).body) as LiveState;

  it("answers under its own name only, to its own page only, and can only be read", async () => {
    const { port } = new URL(page.address);
    assert.equal((await ask("/")).status, 200);
    assert.equal((await ask("/", { headers: { host: `localhost:${port}` } })).status, 200);
    for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1", `127.0.0.1:${Number(port) + 1}`])
      assert.equal((await ask("/state.json", { headers: { host } })).status, 403, host);
    const own = page.address.slice(0, -1);
    assert.equal((await ask("/state.json", { headers: { origin: own } })).status, 200);
    for (const origin of ["http://evil.example", "null", `https://127.0.0.1:${port}`])
      assert.equal((await ask("/state.json", { headers: { origin } })).status, 403, origin);
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) assert.equal((await ask("/", { method })).status, 405);
    assert.equal((await ask("/metrics.jsonl")).status, 404);
    const { headers } = await ask("/");
    assert.match(String(headers["content-security-policy"]), /^default-src 'none'; .*connect-src 'self'/);
    assert.equal(headers["access-control-allow-origin"], undefined);
    assert.equal(headers["cache-control"], "no-store");
  });

  it("says which port is in use", async () => {
    const port = Number(new URL(page.address).port);
    const message = new RegExp(`^--ui: cannot listen on 127\\.0\\.0\\.1:${port}`);
    await assert.rejects(LivePage.open(port, config), userError(message, { hint: /./ }));
  });

  it("tells where the run is; curves and rollouts only to whom has not seen them", async () => {
    assert.match((await state()).texts.phase ?? "", /starting/);
    const { dir } = await exampleRun(root, "a");
    page.begin({ name: "quickstart-2", command: "flow-grpo", dir, steps: 30, done: 0 });
    page.phase({ doing: "episodes", done: 3, all: 8, now: "clinic/intake 0.50" });
    page.rollouts([rollout(1, { step: 1 }), rollout(0, { step: 1 }), rollout(0, { step: 1, rollout: 3 })]);
    page.step(stepMetrics(1));
    page.note("before: val reward 0.5");
    const first = await state();
    assert.deepEqual(
      [first.texts.name, first.texts.at, first.progress, first.texts.reward, first.texts.eta, first.notes],
      ["quickstart-2", "1 of 30", 1 / 30, "0.500", "1:42", ["before: val reward 0.5"]],
    );
    assert.match(first.texts.phase ?? "", /^flow-grpo · episodes 3\/8/);
    assert.match(first.charts ?? "", /aria-label="Reward: /);
    assert.match(first.rollouts ?? "", /Step 1: the 2 worst of 3\.[\s\S]*2 alike[\s\S]*class="heat"/);
    const again = await state(first.version);
    assert.deepEqual([again.version, again.charts, again.rollouts], [first.version, undefined, undefined]);
    page.step(stepMetrics(2));
    assert.ok((await state(first.version)).charts !== undefined);
  });

  it("a resumed run shows the steps before", async () => {
    page.begin({ name: "a", command: "flow-grpo", dir: (await exampleRun(root, "b")).dir, steps: 30, done: 12 });
    const { texts, charts, rollouts } = await state();
    assert.deepEqual([texts.at, texts.eta], ["12 of 30", "–"]);
    assert.match(charts ?? "", /at step 12/);
    // the evaluations and the newest rollouts of before, not only the metrics
    assert.match(charts ?? "", /val/);
    assert.match(rollouts ?? "", /class="rollout"/);
    assert.doesNotMatch(rollouts ?? "", /No rollout yet/);
  });

  describe("in a browser", async () => {
    const browser = await testBrowser();

    it("follows the run, keeps what is being read, and shows hostile text as text", async () => {
      const { dir } = await exampleRun(root, "c");
      page.begin({ name: "quickstart", command: "flow-grpo", dir, steps: 4, done: 0 });
      page.rollouts([rollout(0, { prompt: HOSTILE, form: HOSTILE, task_id: HOSTILE })]);
      page.step(stepMetrics(1));
      page.note(HOSTILE);
      page.phase({ doing: "updating", now: HOSTILE });
      const { page: tab, problems, close } = await watchPage(browser, {}, [page.address]);
      await tab.goto(page.address);
      await tab.waitForSelector(".rollout");
      assert.equal(await tab.textContent("#at"), "1 of 4");
      assert.equal(await tab.evaluate(() => "hacked" in window), false);
      await tab.click(".rollout > summary");
      page.rollouts([rollout(1), rollout(2)]);
      page.step(stepMetrics(2, { reward: 0.75 }));
      await tab.waitForFunction(() => document.querySelector("#reward")?.textContent === "0.750");
      await tab.waitForSelector("#fresh:not([hidden])");
      assert.equal(await tab.locator(".rollout").count(), 1, "the opened one stays");
      await tab.click("#fresh");
      assert.equal(await tab.locator(".rollout").count(), 2);
      assert.deepEqual(problems(), []);
      await close();
    });

    it("says when the run is over", async () => {
      const { page: tab, close } = await watchPage(browser, {}, [page.address]);
      await tab.goto(page.address);
      await tab.waitForFunction(() => !document.querySelector("#phase")?.textContent?.startsWith("Connecting"));
      await page.end();
      await tab.waitForSelector("#gone:not([hidden])");
      await close();
    });
  });
});
