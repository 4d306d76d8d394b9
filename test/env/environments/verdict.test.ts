/** Learns from a site's verdict alone, on tasks without true values. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import { FormsEnvironment } from "../../../src/env/environments/forms.js";
import { REWARDS } from "../../../src/env/forms/own-reward.js";
import type { RefusedFields, Task } from "../../../src/env/site.js";
import { rehearse } from "../../../src/train/rehearsal.js";
import { FORMS_OPTIONS, servePages, taskFor } from "../page-site.js";

const PAGE = `<form method=post action=/send><label>Name <input name=n></label><label>Day <select name=d>
<option value="">choose<option>Monday<option>Friday</select></label><label><input type=checkbox name=c> Call Me</label>
<button>Send</button></form>`;
const RIGHT = "n=Ann&d=Friday&c=on";
const PAIRS = { Name: "n=Ann", Day: "d=Friday", "Call Me": "c=on" };

type Reply = readonly [status: number, type: string, text: string];
const html = (status: number, text: string): Reply => [status, "text/html", `<!doctype html>${text}`];
const booked = html(200, "<p>Booked</p>");

/** The site's answer to what is posted; each test sets it. */
let reply: (body: string) => Reply = () => booked;
let posts = 0;
const site = await servePages({ "/form": PAGE }, ({ method, body }, response) => {
  if (method !== "POST") return false;
  posts++;
  const [status, type, text] = reply(body);
  const wait = status === 429 ? { "retry-after": "1" } : {};
  response.writeHead(status, { "content-type": type, ...wait }).end(text);
  return true;
});
const { fields: _, ...asked } = taskFor("/form", { Name: "Ann" });
const task: Task = { ...asked, fields: {}, document: "Ann, on Friday", success: { text: "Booked" } };
const OPTIONS = { ...FORMS_OPTIONS, plan: "template" as const, prompt: { style: "page" as const } };
const environment = new FormsEnvironment({ ...site, tasks: () => [task], rehearse: 4 }, OPTIONS, REWARDS.verdict);
after(() => environment.close());
const play = (of: Task, values: Record<string, string>) => environment.play(of, async () => ({ values }), new Map());

const listed = (wrong: readonly string[]): Reply =>
  html(422, `<ul>${wrong.map((label) => `<li>${label} is wrong</li>`).join("")}</ul>`);
const marked = (wrong: readonly string[]): Reply =>
  html(200, wrong.map((label) => `<label>${label} <input aria-invalid=true></label>`).join(""));
const keyed = (wrong: readonly string[]): Reply => {
  const errors = Object.fromEntries(wrong.map((label) => [label[0]?.toLowerCase(), ["no"]]));
  return [422, "application/json", JSON.stringify({ errors })];
};
const LIST: RefusedFields = { selector: "li" };
const MARKS: RefusedFields = { selector: "[aria-invalid=true]" };

for (const [what, refused, refusal] of [
  ["items of a list", LIST, listed],
  ["marked controls", MARKS, marked],
  ["keys of a JSON answer", { json: "errors" }, keyed],
] as const)
  test(`a blank is credited by what the site names: ${what}`, async () => {
    const wrongIn = (body: string): string[] =>
      Object.entries(PAIRS).flatMap(([label, pair]) => (body.includes(pair) ? [] : [label]));
    reply = (body) => (body === RIGHT ? booked : refusal(wrongIn(body)));
    const naming: Task = { ...task, refused };
    assert.equal(environment.untrainable([naming]), undefined);
    const half = await play(naming, { Name: "Ann", Day: "Monday", "Call Me": "no" });
    assert.deepEqual([half.reward, half.success], [0.5 / 3, false]);
    const parts = half.answerParts?.[0]?.map(({ name, reward }) => `${name} ${reward}`);
    assert.deepEqual(parts, ["Name 1", "Day 0", "Call Me 0"]);
    const right = await play(naming, { Name: "Ann", Day: "Friday", "Call Me": "yes" });
    assert.deepEqual([right.reward, right.success], [1, true]);
  });

/** Rehearses a site. @returns its notes, and the error. */
async function proved(answer: typeof reply): Promise<string> {
  reply = answer;
  const notes: string[] = [];
  const failed = await rehearse(environment, [task], (text) => void notes.push(text)).catch((e: Error) => e);
  return [...notes, (failed as Error | undefined)?.message ?? "fine"].join("\n");
}

test("a site that takes anything, or anything but an empty form, is refused by name before training", async () => {
  const anything = await proved(() => booked);
  assert.match(anything, /form accepts empty in 1 of 1 tasks\n.*form accepts random values in 1 of 1/);
  const lenient = await proved((body) => (body.includes("n=&") ? html(422, "no") : booked));
  assert.match(lenient, /cannot be learned from:\n\s*form accepts random values/);
  assert.match(await proved((body) => (body === RIGHT ? booked : html(422, "no"))), /fine$/);
});

test("where refused fields are named is part of the judge's checksum, if the verdict alone is learned from", () => {
  const judgeOf = (of: FormsEnvironment, refused: RefusedFields) => of.judge([{ ...task, refused } as Task]);
  const other = new FormsEnvironment(environment.site, OPTIONS);
  assert.notEqual(judgeOf(environment, LIST), judgeOf(environment, MARKS));
  assert.equal(judgeOf(other, LIST), judgeOf(other, MARKS));
  assert.notEqual(judgeOf(other, LIST), judgeOf(environment, LIST));
});

test("a server that takes no more forms for a time is waited for, and the form is sent again", async () => {
  posts = 0;
  reply = () => (posts === 1 ? html(429, "slow down") : booked);
  const outcome = await play(task, { Name: "Ann" });
  assert.deepEqual([outcome.reward, outcome.fault, posts], [1, undefined, 2]);
});

test("without fields there is nothing to demonstrate, and other rewards refuse the task", async () => {
  const oracle = await environment.fixedPolicies.oracle?.(task, Rng.named(0, "a"));
  await assert.rejects(async () => oracle?.({ text: "" }), /has no fields/);
  const plain = new FormsEnvironment(environment.site, FORMS_OPTIONS);
  assert.match(plain.untrainable([task]) ?? "", /has no fields: only reward: verdict/);
});
