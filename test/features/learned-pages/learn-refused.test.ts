import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { after, test } from "node:test";
import type { Contracts } from "../../../src/features/learned-pages/contracts.js";
import { openForm } from "./form-site.js";

/** A form with a canvas that cannot be operated; the server refuses the form without it. */
const PAGE = `<!doctype html><title>Lease</title><form method="post" action="/send">
<p><label>Tenant <input name="tenant"></label></p><p><label>Months <input name="months" type="number"></label></p>
<div><label for="sign">Colour</label> <canvas id="sign" width="80" height="40"></canvas></div><button>Sign</button></form>`;

const TASKS = [
  { Tenant: "Ann Lee", Months: 12, Colour: "red" },
  { Tenant: "Bo Diaz", Months: 7, Colour: "green" },
  { Tenant: "Cy Moss", Months: 31, Colour: "blue" },
];

const answer = (sent: URLSearchParams) =>
  sent.has("colour") ? "<h1>signed</h1>" : { status: 422, html: "<h1>no</h1>" };
const site = await openForm("lease", TASKS, PAGE, answer);
after(() => site.close());

test("a form that was always refused, since one field was never found, proves the others and is not accepted", async () => {
  const { detail } = await site.policy("oracle", 0);
  const { fields, not_proved } = site.contract();
  const keys = Object.entries(fields).map(([label, { wire }]) => `${label} as ${wire?.key}`);
  assert.deepEqual(keys, ["Tenant as tenant", "Months as months"]);
  assert.deepEqual(Object.keys(not_proved), ["Colour"]);
  assert.equal(detail.accepted, false);
});

test("a contract that proves less does not replace another", async () => {
  const before = readFileSync(site.file, "utf8");
  const { request: _, ...less } = site.contract();
  const contracts = site.env.contracts as Contracts;
  // biome-ignore lint/complexity/useLiteralKeys: what a worse recording would write
  await assert.rejects(contracts["write"](site.file, less), /does not replace/);
  assert.equal(readFileSync(site.file, "utf8"), before);
  assert.ok(existsSync(`${site.file}.new`));
});

const NAME =
  '<form method="post" action="/send"><p><label>Name <input name="n"></label></p><p><label>Town <input name="t"></label></p><button>Go</button></form>';
const PEOPLE = [
  { Name: "Ann Lee", Town: "Bath" },
  { Name: "Bo Diaz", Town: "York" },
];

test("Ctrl-C keeps what was found; a form that sends nothing is shown in a picture", async () => {
  const stop = new AbortController();
  const ended = await openForm("ended", PEOPLE, NAME, () => {
    stop.abort();
    return "<h1>yes</h1>";
  });
  const dead = await openForm("dead", PEOPLE, NAME.replace("<button", '<button type="button"'), () => "");
  after(() => ended.close());
  after(() => dead.close());
  (ended.env.contracts as Contracts).signal = stop.signal;
  await ended.env.form(ended.task(0));
  assert.deepEqual([Object.keys(ended.contract().fields), ended.contract().request], [["Name", "Town"], undefined]);
  await assert.rejects(async () => dead.env.form(dead.task(0)), /could not be learned: nothing was sent/);
  assert.ok(existsSync(dead.file.replace(/yaml$/, "jpg")));
});
