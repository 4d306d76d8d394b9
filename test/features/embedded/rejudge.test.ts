import assert from "node:assert/strict";
import { after, test } from "node:test";
import { closing } from "../../../src/core/closing.js";
import type { EpisodeOutcome } from "../../../src/env/environment.js";
import { FormsEnvironment } from "../../../src/env/environments/forms.js";
import type { Task } from "../../../src/env/site.js";
import { site as embedded } from "../../../src/features/embedded/sites/embedded.js";
import { judgedAgain } from "../../env/judged-again.js";
import { FORMS_OPTIONS, servePages, taskFor } from "../../env/page-site.js";

/** A form that the server refuses only by a status where the name is missing. */
const FORM = `<form method=post><label>Name <input name=n></label><label>Age <input name=a type=number></label>
<label><input type=checkbox name=news> News</label><label>CV <input type=file name=cv required></label><button>Send</button></form>`;
const TASK: Task = taskFor("/plain", { Name: "Ann", Age: 34, News: false, CV: "None" });

const pages = await servePages({ "/plain": FORM }, ({ method, body }, response) => {
  if (method === "GET" || /name="n"\r\n\r\n\w|n=\w/.test(body)) return false;
  response.writeHead(422).end("no name");
  return true;
});
const plain = new FormsEnvironment({ ...pages, tasks: () => [TASK] }, { ...FORMS_OPTIONS, plan: "free" });
after(() => plain.close());

const play = async (text: string): Promise<EpisodeOutcome> =>
  judgedAgain(plain, TASK, await plain.play(TASK, async () => ({ text }), new Map()));

test("records of a page that nothing is known of are judged as they were played", async () => {
  assert.equal((await play("fill Name | Ann\nfill Age | 34\nsubmit")).reward, 1);
  for (const plan of [
    "submit",
    "fill Name | Bo\nfill Age | 34\nsubmit",
    "fill Age | 34\nsubmit",
    "fill Name | Ann\nfill Age | 34",
    "nonsense\nfill Nmae | Ann\nfill Name | Ann\nfill Name | Ann\ncheck News\nsubmit",
    "",
  ])
    assert.notEqual((await play(plan)).reward, 1, plan);
});

test("what the server received and answered decides, not what the record says of it", async () => {
  const { detail } = await play("fill Name | Ann\nfill Age | 34\nsubmit");
  const change = (from: string, to: string): Record<string, unknown> => {
    const text = JSON.stringify(detail);
    assert.ok(text.includes(from), text);
    return JSON.parse(text.replaceAll(from, to));
  };
  const other = (await plain.rejudge(TASK, change('["n","Ann"]', '["n","Bo"]'))) as EpisodeOutcome;
  assert.deepEqual([other.success, other.detail.received], [false, { Name: "Bo", Age: "34", News: false, CV: "" }]);
  const verdict = change('"verdict":{"accepted":true}', '"verdict":{"accepted":false}');
  const refused = (await plain.rejudge(TASK, verdict)) as EpisodeOutcome;
  assert.deepEqual([refused.detail.accepted, refused.success], [false, false]);
  const lacking = await plain.rejudge(TASK, { ...detail, evidence: undefined });
  assert.equal(lacking, "no evidence (kept since requests and answers are recorded)");
});

test("the record of a form that its site declares has no controls, and is judged as it was played", async () => {
  const site = await embedded.start(embedded.schema.parse({ sizes: { train: 1, val: 0, test: 0, heldout: 0 } }));
  await using environment = closing(new FormsEnvironment(site, FORMS_OPTIONS));
  const task = environment.tasks[0] as Task;
  const act = await environment.fixedPolicies.oracle?.(task, undefined as never);
  assert.ok(act !== undefined);
  const outcome = await judgedAgain(environment, task, await environment.play(task, act, new Map()));
  assert.equal(outcome.reward, 1);
  assert.equal((outcome.detail.evidence as { controls?: unknown }).controls, undefined);
});
