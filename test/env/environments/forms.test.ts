import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { packageRoot } from "../../../src/core/files.js";
import { EnvironmentFault } from "../../../src/env/browser/browser.js";
import type { EpisodeOutcome, PlayedTogether } from "../../../src/env/environment.js";
import { FormsEnvironment } from "../../../src/env/environments/forms.js";
import { FORMS_OPTIONS, servePages, taskFor } from "../page-site.js";

const FORM = `<h1>Visit</h1><form method="post"><label>Full name <input name="name" required></label>
<label>Town <input name="town"></label><button>Send</button></form>`;
const tasks = ["Ada", "Bo"].map((name, i) => {
  return { ...taskFor("/visit", { "Full name": name, Town: "Rome" }), id: `visit/${i}` };
});
const [ada, bo] = tasks as [(typeof tasks)[0], (typeof tasks)[0]];

const site = await servePages({ "/visit": FORM }, ({ method, body }, response) => {
  if (method === "POST" && body.includes("crash")) response.writeHead(500).end();
  return response.writableEnded;
});
const environment = new FormsEnvironment({ ...site, tasks: () => tasks }, FORMS_OPTIONS);
after(() => environment.close());

describe("the environment of forms", () => {
  const play = (task: (typeof tasks)[0], plan: string, together: PlayedTogether = new Map()): Promise<EpisodeOutcome> =>
    environment.play(task, async () => ({ text: plan }), together);

  it("says what an episode was worth, and what became of every line of its plan", async () => {
    const plan = "fill Full name | Ada\nfill Street | x\nhello\nsubmit";
    const { reward, success, metrics, counts, detail, reused } = await play(ada, plan);
    assert.deepEqual([success, reused], [false, undefined]);
    assert.deepEqual(metrics.field_accuracy, 0.5);
    assert.equal(metrics.task_completion, 0.5);
    // of four lines the name took effect, and the submit as far as what it sent was right
    assert.equal(metrics.execution_completeness, 1.5 / 4);
    assert.ok(Math.abs((reward as number) - (0.4 * 0.5 + 0.4 * 0.5 + (0.2 * 1.5) / 4)) < 1e-12);
    assert.deepEqual(counts, { accepted: 1, pairs: 2, pairs_right: 1, perfect: 0 });
    const { accepted, truth, posted, actions, received, field_scores } = detail;
    assert.deepEqual([accepted, truth], [true, { "Full name": "Ada", Town: "Rome" }]);
    assert.equal(String(posted), "name,Ada,town,");
    // what is no action comes last
    const fates = (actions as { action: string; fate: string }[]).map(({ action, fate }) => `${action}: ${fate}`);
    const filled = ["fill Full name | Ada: done", "fill Street | x: no-such-control"];
    assert.deepEqual(fates, [...filled, "submit: done", "hello: not-an-action"]);
    assert.deepEqual(received, { "Full name": "Ada", Town: "" });
    assert.deepEqual(field_scores, { "Full name": 1, Town: 0 });
    const perfect = await play(ada, "fill Full name | Ada\nfill Town | Rome\nsubmit");
    assert.deepEqual([perfect.reward, perfect.success, perfect.counts?.perfect], [1, true, 1]);
  });

  it("plays one plan for one task once, and says which outcomes were another episode's", async () => {
    const together: PlayedTogether = new Map();
    const before = site.received.filter(({ method }) => method === "POST").length;
    const plan = "fill Full name | Ada\nsubmit";
    const outcomes = await Promise.all([ada, ada, bo, ada].map((task) => play(task, plan, together)));
    // the same words for another task are another episode
    assert.equal(site.received.filter(({ method }) => method === "POST").length - before, 2);
    const actual = outcomes.map(({ reused }) => reused === true);
    assert.deepEqual(actual, [false, true, false, true]);
    assert.deepEqual({ ...outcomes[1], reused: undefined }, { ...outcomes[0], reused: undefined });
    assert.notEqual(outcomes[2]?.reward, outcomes[0]?.reward);
  });

  it("gives a fault no reward, and nothing measured", async () => {
    const failed = await play(ada, "fill Full name | crash\nsubmit");
    assert.deepEqual([failed.reward, failed.success, failed.metrics], [null, false, {}]);
    assert.match(failed.fault ?? "", /500/);
    assert.ok(!("received" in failed.detail) && !("field_scores" in failed.detail));
    // as where the policy itself is out of reach
    const away = await environment.play(ada, () => Promise.reject(new EnvironmentFault("no model")), new Map());
    assert.deepEqual([away.reward, away.fault, away.detail.truth], [null, "no model", ada.fields]);
    const attempt = environment.play(ada, () => Promise.reject(new Error("a bug")), new Map());
    await assert.rejects(attempt, /a bug/);
  });

  it("is scored by the reward that it is given", async () => {
    const own = new FormsEnvironment({ ...site, tasks: () => tasks }, FORMS_OPTIONS, {
      score: (episode, task) => (task === bo && episode.accepted ? 0.125 : 0),
    });
    const { reward } = await own.play(bo, async () => ({ text: "fill Full name | Ada\nsubmit" }), new Map());
    await (await own.runner()).close();
    assert.equal(reward, 0.125);
  });

  it("has its measures in docs/runs.md", async () => {
    const { metrics } = await play(ada, "submit");
    const page = readFileSync(join(packageRoot(), "docs", "runs.md"), "utf8");
    const [, text = ""] = page.split("### Of the environment\n");
    const rows = [...(text.split("\n### ")[0] ?? "").matchAll(/^\| `(\w+)`/gm)].map((match) => match[1]);
    // the share of rewards above 0 is counted of every environment
    assert.deepEqual(rows, [...Object.keys(metrics), "nonzero_rate"].sort());
  });
});
