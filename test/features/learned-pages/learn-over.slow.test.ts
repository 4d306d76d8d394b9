import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openForm } from "./form-site.js";

/**
 * A form with a list that stays open over the fields below it and covers each option by an overlay; options that show
 * the choice by looks alone; a slider whose number is a text beside a percentage; a button by its element's name.
 */
const PAGE = `<!doctype html><title>Pizza</title><style>
#list { position: absolute; background: #eee; margin: 0; padding: 0; width: 240px; height: 220px; z-index: 2 }
#list li { position: relative; list-style: none; height: 30px }
.film, x-button::after { content: ""; position: absolute; inset: 0 }
x-button { position: relative; display: inline-block; cursor: default } .on { color: red }
</style><form method="post" action="/send">
<p><label>Guest <input name="guest"></label></p>
<div><span>Toppings</span> <div id="box" class="select" tabindex="0">none</div>
<ul id="list" hidden>${["Ham", "Corn", "Olives"].map((name) => `<li class="option"><span>${name}</span><i class="film"></i></li>`).join("")}</ul></div>
<div><span>Size</span> <span id="sizes"><u>Small</u> <u>Medium</u> <u>Large</u></span></div>
<div><span>Slices</span> <b id="knob" role="slider" tabindex="0" aria-valuemin="0" aria-valuemax="100" style="display:inline-block;width:90px;height:9px;background:#888"></b></div>
<x-button id="go"><span>Bake it</span></x-button></form>
<script>
let size = "", slices = 4;
const chosen = new Set();
box.onclick = () => { list.hidden = false; };
document.onmousedown = (e) => { if (!list.contains(e.target)) list.hidden = true; };
[...list.children].forEach((item) => { item.onclick = () => {
  const name = item.textContent;
  chosen.delete(name) || chosen.add(name);
  box.textContent = [...chosen].join(" ") || "none";
}; });
[...sizes.children].forEach((one) => { one.onclick = () => { size = one.textContent; [...sizes.children].forEach((s) => s.classList.toggle("on", s === one)); }; });
const draw = () => { knob.setAttribute("aria-valuenow", slices * 100 / 12); knob.setAttribute("aria-valuetext", slices); };
knob.onkeydown = (e) => { slices += e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0; draw(); };
draw();
document.forms[0].onformdata = (e) => { for (const one of chosen) e.formData.append("tops", one.toLowerCase()); e.formData.set("size", size.slice(0, 1)); e.formData.set("slices", slices); };
go.onclick = () => document.forms[0].requestSubmit();
</script>`;

const TASKS = [
  { Guest: "Ann Lee", Toppings: ["Ham"], Size: "Large", Slices: 7 },
  { Guest: "Bo Berg", Toppings: ["Corn", "Olives"], Size: "Small", Slices: 3 },
  { Guest: "Cy Dunn", Toppings: ["Ham", "Corn", "Olives"], Size: "Medium", Slices: 9 },
];

let site: Awaited<ReturnType<typeof openForm>>;
before(async () => {
  site = await openForm("pizza", TASKS, PAGE, (sent) => `<h1>${sent.get("guest") === "" ? "no" : "yes"}</h1>`);
});
after(() => site?.close());

test("what lies over an option, a field or a button is in nobody's way", async () => {
  for (const i of [0, 1, 2]) assert.equal((await site.policy("oracle", i)).reward, 1);
  const { fields, submit, not_learned: missing } = site.contract();
  assert.deepEqual(missing, {});
  assert.deepEqual(submit, { locator: 'text="Bake it"', nth: 0 });
  assert.equal(fields.Slices?.way, "slider");
});
