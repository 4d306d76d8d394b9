import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openForm } from "./form-site.js";

/**
 * A form with a button that sends on its first tab already; a field that a checkbox brings; a closed section whose
 * heading is its field's only label, and another one with a heading of its own.
 */
const PAGE = `<!doctype html><title>Loan</title><form method="post" action="/send">
<div role="tablist"><button type="button" role="tab" aria-selected="true">Person</button> <button type="button" role="tab" aria-selected="false">Terms</button></div>
<div id="person"><p><label>Borrower <input name="borrower"></label></p>
<p><label><input type="checkbox" name="insured"> Insure it</label></p>
<p id="more" hidden><label>Insured value <input name="worth"></label></p>
<details><summary>Reason</summary><textarea name="reason"></textarea></details></div>
<div id="terms" hidden><p><label>Months <input name="months"></label></p>
<h3><button type="button" id="head" aria-expanded="false">Further wishes</button></h3>
<div id="body" hidden><p><label>Remarks <input name="remarks"></label></p></div></div>
<button>Apply</button></form>
<script>
const [first, second] = document.querySelectorAll("[role=tab]");
const show = (is) => {
  first.setAttribute("aria-selected", !is); second.setAttribute("aria-selected", is);
  person.hidden = is; terms.hidden = !is;
};
first.onclick = () => show(false);
second.onclick = () => show(true);
head.onclick = () => { body.hidden = !body.hidden; head.setAttribute("aria-expanded", !body.hidden); };
const { insured, worth } = document.forms[0].elements;
insured.onchange = () => { more.hidden = !insured.checked; };
document.forms[0].onformdata = (e) => { if (!insured.checked) e.formData.delete("worth"); };
</script>`;

const TASKS = [
  { Borrower: "Ann Lee", "Insure it": true, "Insured value": 1250, Reason: "A new roof", Months: 12, Remarks: "Soon" },
  { Borrower: "Bo Berg", "Insure it": false, "Insured value": "", Reason: "A boat", Months: 36, Remarks: "By post" },
  { Borrower: "Cy Dunn", "Insure it": true, "Insured value": 980, Reason: "A piano", Months: 24, Remarks: "Late" },
];

let site: Awaited<ReturnType<typeof openForm>>;
before(async () => {
  site = await openForm("loan", TASKS, PAGE, (sent) => `<h1>${sent.get("borrower") === "" ? "no" : "yes"}</h1>`);
});
after(() => site?.close());

test("fields that another one brings, and those of closed sections and tabs, are learned and played", async () => {
  for (const i of [0, 1, 2]) assert.equal((await site.policy("oracle", i)).reward, 1);
  const { not_learned: missing, steps } = site.contract();
  assert.deepEqual(missing, {});
  assert.equal(steps.length, 2);
  assert.ok(((await site.policy("empty", 1)).reward ?? 1) <= 0.05);
  // nothing was sent before the form was whole, but to see what is refused
  assert.ok(site.received.slice(0, 3).every((sent) => sent.get("remarks") !== ""));
});
