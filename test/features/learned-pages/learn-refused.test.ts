import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, test } from "node:test";
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

let site: Awaited<ReturnType<typeof openForm>>;
before(async () => {
  site = await openForm("lease", TASKS, PAGE, (sent) =>
    sent.has("colour") ? "<h1>signed</h1>" : { status: 422, html: "<h1>no</h1>" },
  );
});
after(() => site?.close());

test("a form that was always refused, since one field was never found, is not accepted when it is played", async () => {
  const { detail } = await site.policy("oracle", 0);
  const { accepted, fields, not_learned: missing } = site.contract();
  assert.deepEqual([Object.keys(fields).length > 1, Object.keys(missing)], [true, ["Colour"]]);
  assert.deepEqual(accepted, []);
  assert.equal((detail as { accepted?: boolean }).accepted, false);
});

test("Ctrl-C keeps what was found, and a later search goes on; a form that sends nothing is shown in a picture", async () => {
  const [stop, halt] = [new AbortController(), new AbortController()];
  const page =
    '<form method="post" action="/send"><p><label>Name <input name="n"></label></p><button>Go</button></form>';
  const people = ["Ann Lee", "Bo Diaz", "Cy Moss"].map((Name) => ({ Name }));
  const ended = await openForm("ended", people, page, (sent) => {
    stop.abort();
    return sent.get("n") === "" ? "<h1>no</h1>" : "<h1>yes</h1>";
  });
  // its button sends something else
  const other = 'fetch("/other", { method: "POST", body: "x=1" })';
  const dead = await openForm(
    "dead",
    people,
    page.replace("<button", `<button type="button" onclick='${other}'`),
    () => {
      halt.abort();
      return "";
    },
  );
  try {
    const contracts = ended.env.contracts as Contracts;
    contracts.signal = stop.signal;
    await ended.env.form(ended.task(0));
    assert.deepEqual([Object.keys(ended.contract().fields), ended.contract().request], [["Name"], undefined]);
    contracts.signal = undefined;
    contracts.forget(ended.task(0));
    assert.equal((await ended.policy("oracle", 2)).reward, 1);
    (dead.env.contracts as Contracts).signal = halt.signal;
    await dead.env.form(dead.task(0));
    assert.ok(existsSync(dead.file.replace(/yaml$/, "jpg")));
  } finally {
    await ended.close();
    await dead.close();
  }
});
