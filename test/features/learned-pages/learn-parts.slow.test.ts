import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openForm } from "./form-site.js";

/**
 * A form in two parts, the second of which is invisible and without height at first; one of the headings equals a label
 * of the second part; drawn stars that follow the pointer.
 */
const PAGE = `<!doctype html><title>Car</title><form method="post" action="/send">
<ul><li><a href="#a">You</a></li><li><a href="#b">Cover</a></li></ul>
<div id="parts">
<div id="a"><p><label>Holder <input name="holder"></label></p>
 <p>Experience <span id="stars" class="stars"><svg width="20" height="20"></svg><svg width="20" height="20"></svg><svg width="20" height="20"></svg><svg width="20" height="20"></svg></span></p>
 <fieldset><legend>Extras</legend><label><input type="checkbox" name="extras" value="1"> Glass</label> <label><input type="checkbox" name="extras" value="2"> Theft</label>
  <label><input type="checkbox" name="extras" value="3"> Hail</label></fieldset></div>
<div id="b" style="visibility:hidden;height:0;overflow:hidden"><p>Cover <label><input type="radio" name="cover" value="l"> Liability</label> <label><input type="radio" name="cover" value="p"> Partial</label>
 <label><input type="radio" name="cover" value="c"> Full</label></p>
 <p><label><input type="checkbox" name="post" checked> Letters by post</label></p><p><button>Ask</button></p></div>
</div><p><button type="button" id="next">Next</button> <button type="button" id="back">Back</button></p>
<input type="hidden" name="skill"></form>
<script>
const skill = document.querySelector("[name=skill]"), drawn = [...stars.children];
let at = 0;
drawn.forEach((star, i) => star.addEventListener("pointermove", () => requestAnimationFrame(() => { at = i + 1; })));
stars.onclick = () => { skill.value = at; drawn.forEach((star, i) => { star.style.background = i < at ? "gold" : ""; }); };
const hiding = b.style.cssText;
next.onclick = () => { a.hidden = true; b.style.cssText = ""; };
back.onclick = () => { a.hidden = false; b.style.cssText = hiding; };
</script>`;

const TASKS = [
  { Holder: "Ann Lee", Experience: 3, Extras: ["Hail"], Cover: "Full", "Letters by post": true },
  { Holder: "Bo Fernandez", Experience: 1, Extras: ["Glass", "Hail"], Cover: "Liability", "Letters by post": false },
  {
    Holder: "Chidi Okoro",
    Experience: 4,
    Extras: ["Glass", "Theft", "Hail"],
    Cover: "Partial",
    "Letters by post": true,
  },
];

let site: Awaited<ReturnType<typeof openForm>>;
before(async () => {
  site = await openForm("car", TASKS, PAGE, (sent) => `<h1>${sent.get("holder") === "" ? "nein" : "ja"}</h1>`);
});
after(() => site?.close());

test("what is not shown yet is no field yet, and what is drawn is one", async () => {
  for (const i of [0, 1, 2]) assert.equal((await site.policy("oracle", i)).reward, 1);
  const { fields, not_learned: missing } = site.contract();
  assert.deepEqual(missing, {});
  assert.equal(fields.Cover?.step, 1);
  assert.equal(fields["Letters by post"]?.default, true);
  assert.equal(fields.Experience?.wire?.key, "skill");
  // no attempt wrote the number of stars into the holder's field
  assert.ok(site.received.slice(0, 3).every((sent) => /[a-z]/.test(sent.get("holder") ?? "")));
});
