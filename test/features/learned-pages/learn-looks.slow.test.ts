import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openForm } from "./form-site.js";

/**
 * A form that a plain element sends, beside buttons that do not; stars that change only their looks; a file that is
 * uploaded some time after the choice, with a token that comes even later; a field that loses the focus on a click.
 */
const PAGE = `<!doctype html><title>Claim</title><form method="post" action="/send">
<p><label>Policy <input name="policy"></label></p>
<p><label for="when">Happened</label> <input id="when" name="when"> <span tabindex="-1" id="thief">.</span></p>
<div><label>Trust</label> <span id="stars" class="rating"><i>*</i><i>*</i><i>*</i><i>*</i><i>*</i></span></div>
<p><label for="photo">Photo</label> <input type="file" id="photo"><input type="hidden" name="token"></p>
<button type="reset">Clear</button> <button type="button" onclick="document.forms[0].reset()">+</button>
<div style="cursor: pointer; width: 9em" id="go">Send it</div></form>
<script>
let trust = 0;
[...stars.children].forEach((star, i) => { star.onclick = () => { trust = i + 1; [...stars.children].forEach((s, j) => s.classList.toggle("on", j <= i)); }; });
when.onclick = () => setTimeout(() => thief.focus(), 20);
photo.onchange = () => setTimeout(async () => {
  await (await fetch("/upload", { method: "POST", body: new URLSearchParams({ part: 1 }) })).text();
  setTimeout(() => { document.querySelector("[name=token]").value = "t/" + photo.files[0].name; }, 400);
}, 2000);
document.forms[0].onformdata = (e) => e.formData.set("trust", trust);
go.onclick = () => document.forms[0].requestSubmit();
</script>`;

const TASKS = [
  { Policy: "AB-1234", Happened: "2026-03-05 10:30", Trust: 4, Photo: "dent.jpg" },
  { Policy: "QX-0007", Happened: "2025-11-28 18:00", Trust: 2, Photo: "roof.png" },
  { Policy: "KL-5550", Happened: "2026-07-14 09:15", Trust: 5, Photo: "bike.gif" },
];

let site: Awaited<ReturnType<typeof openForm>>;
before(async () => {
  site = await openForm("claim", TASKS, PAGE, (sent) => `<h1>${sent.get("policy") === "" ? "nein" : "ja"}</h1>`);
});
after(() => site?.close());

test("what is no button sends, what is drawn is seen, and what comes late is waited for", async () => {
  for (const i of [0, 1, 2]) assert.equal((await site.policy("oracle", i)).reward, 1);
  const { fields, submit, not_learned: missing } = site.contract();
  assert.deepEqual(missing, {});
  assert.deepEqual(submit, { locator: 'text="Send it"', nth: 0 });
  assert.equal(fields.Trust?.variant.by, "row");
  assert.equal(fields.Photo?.variant.late, true);
  assert.equal(fields.Photo?.wire?.key, "token");
});
