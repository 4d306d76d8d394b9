/** Learns from a site's verdict alone, on tasks without true values. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { closing } from "../../../src/core/closing.js";
import { Rng } from "../../../src/core/rng.js";
import { FormsEnvironment } from "../../../src/env/environments/forms.js";
import { REWARDS } from "../../../src/env/forms/own-reward.js";
import type { RefusedFields, Task } from "../../../src/env/site.js";
import { rehearse } from "../../../src/train/rehearsal.js";
import { type Answer, FORMS_OPTIONS, servePages, taskFor } from "../page-site.js";

const PAGE = `<form method=post action=/send><label>Name <input name=n></label><label>Day <select name=d>
<option value="">choose<option>Monday<option>Friday</select></label><label><input type=checkbox name=c> Call Me</label>
<button>Send</button></form>`;
const RIGHT = "n=Ann&d=Friday&c=on";

type Reply = readonly [status: number, type: string, text: string];

const OPTIONS = { ...FORMS_OPTIONS, plan: "template" as const, prompt: { style: "page" as const } };

/** Serves the form with an answer to what is posted. */
async function opened(reply: (body: string, posts: number) => Reply, refused?: RefusedFields) {
  let posts = 0;
  const answer: Answer = ({ method, body }, response) => {
    if (method !== "POST") return false;
    const [status, type, text] = reply(body, ++posts);
    const wait = status === 429 ? { "retry-after": "1" } : {};
    response.writeHead(status, { "content-type": type, ...wait }).end(text);
    return true;
  };
  const site = await servePages({ "/form": PAGE }, answer);
  const { fields: _, ...asked } = taskFor("/form", { Name: "Ann" });
  const task: Task = { ...asked, fields: {}, document: "Ann, on Friday", success: { text: "Booked" }, refused };
  const environment = new FormsEnvironment({ ...site, tasks: () => [task], rehearse: 4 }, OPTIONS, REWARDS.verdict);
  return { task, environment, posts: () => posts, ...closing(environment) };
}

const wrongIn = (body: string): string[] =>
  [["Name", "n=Ann"] as const, ["Day", "d=Friday"] as const, ["Call Me", "c=on"] as const].flatMap(([label, pair]) =>
    body.includes(pair) ? [] : [label],
  );
const html = (status: number, text: string): Reply => [status, "text/html", `<!doctype html>${text}`];
const booked = html(200, "<p>Booked</p>");

const NAMED: Readonly<Record<string, readonly [RefusedFields, (wrong: readonly string[]) => Reply]>> = {
  "items of a list": [
    { selector: "li" },
    (wrong) => html(422, `<ul>${wrong.map((label) => `<li>${label} is wrong</li>`).join("")}</ul>`),
  ],
  "marked controls": [
    { selector: "[aria-invalid=true]" },
    (wrong) => html(200, wrong.map((label) => `<label>${label} <input aria-invalid=true></label>`).join("")),
  ],
  "keys of a JSON answer": [
    { json: "errors" },
    (wrong) => [
      422,
      "application/json",
      JSON.stringify({ errors: Object.fromEntries(wrong.map((label) => [label[0]?.toLowerCase(), ["no"]])) }),
    ],
  ],
};

for (const [what, [refused, reply]] of Object.entries(NAMED))
  test(`a blank is credited by what the site names: ${what}`, async () => {
    await using site = await opened((body) => (body === RIGHT ? booked : reply(wrongIn(body))), refused);
    assert.equal(site.environment.untrainable([site.task]), undefined);
    const play = (values: Record<string, string>) =>
      site.environment.play(site.task, async () => ({ values }), new Map());
    const half = await play({ Name: "Ann", Day: "Monday", "Call Me": "no" });
    assert.deepEqual([half.reward, half.success], [0.5 / 3, false]);
    const parts = half.answerParts?.[0]?.map(({ name, reward }) => [name, reward]);
    assert.deepEqual(parts, [
      ["Name", 1],
      ["Day", 0],
      ["Call Me", 0],
    ]);
    const right = await play({ Name: "Ann", Day: "Friday", "Call Me": "yes" });
    assert.deepEqual([right.reward, right.success], [1, true]);
  });

/** Rehearses a site. @returns its notes, and the error. */
async function proved(reply: (body: string) => Reply): Promise<string> {
  await using site = await opened(reply);
  const notes: string[] = [];
  const failed = await rehearse(site.environment, [site.task], (text) => void notes.push(text)).catch((e: Error) => e);
  return [...notes, (failed as Error | undefined)?.message ?? "fine"].join("\n");
}

test("a site that takes anything, or anything but an empty form, is refused by name before training", async () => {
  assert.match(
    await proved(() => booked),
    /form accepts empty in 1 of 1 tasks\n.*form accepts random values in 1 of 1/,
  );
  const lenient = await proved((body) => (body.includes("n=&") ? html(422, "no") : booked));
  assert.match(lenient, /cannot be learned from:\n\s*form accepts random values/);
  assert.match(await proved((body) => (body === RIGHT ? booked : html(422, "no"))), /fine$/);
});

test("where refused fields are named is part of the judge's checksum, if the verdict alone is learned from", async () => {
  const [list, marks] = [{ selector: "li" }, { selector: "[aria-invalid=true]" }];
  await using site = await opened(() => booked);
  const judgeOf = (environment: FormsEnvironment, refused: RefusedFields) => {
    const task: Task = { ...site.task, refused };
    return environment.judge([task]);
  };
  const other = new FormsEnvironment(site.environment.site, OPTIONS);
  assert.notEqual(judgeOf(site.environment, list), judgeOf(site.environment, marks));
  assert.equal(judgeOf(other, list), judgeOf(other, marks));
  assert.notEqual(judgeOf(other, list), judgeOf(site.environment, list));
});

test("a server that takes no more forms for a time is waited for, and the form is sent again", async () => {
  await using site = await opened((_, posts) => (posts === 1 ? html(429, "slow down") : booked));
  const outcome = await site.environment.play(site.task, async () => ({ values: { Name: "Ann" } }), new Map());
  assert.deepEqual([outcome.reward, outcome.fault, site.posts()], [1, undefined, 2]);
});

test("without fields there is nothing to demonstrate, and other rewards refuse the task", async () => {
  await using site = await opened(() => booked);
  const oracle = await site.environment.fixedPolicies.oracle?.(site.task, Rng.named(0, "a"));
  await assert.rejects(async () => oracle?.({ text: "" }), /has no fields/);
  const plain = new FormsEnvironment(site.environment.site, FORMS_OPTIONS);
  assert.match(plain.untrainable([site.task]) ?? "", /has no fields: only reward: verdict/);
});
