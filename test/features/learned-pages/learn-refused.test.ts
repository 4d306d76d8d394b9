import assert from "node:assert/strict";
import { after, before, test } from "node:test";
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
