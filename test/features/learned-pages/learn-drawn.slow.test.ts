import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openForm } from "./form-site.js";

/**
 * A form with wheels for hours and minutes in a window with a confirm button; a slider that only follows its handle; a
 * number field after a minus button; a number that is shown in groups of digits; a calendar whose arrows are not
 * buttons and name their month for screen readers.
 */
const PAGE = `<!doctype html><title>Ferry</title><style>
#drums { position: fixed; top: 500px; left: 0; background: #eee; padding: 9px }
.drum { display: inline-block; height: 90px; overflow: hidden; width: 60px }
.drum div div { height: 30px } .aloud { position: absolute; width: 1px; height: 1px; overflow: hidden }
#grid b { display: inline-block; width: 30px; font-weight: 400 } #month { width: 240px }
#rail { width: 300px; height: 12px; background: #ccc; position: relative } #rail button { position: absolute; width: 16px; height: 12px }
</style><form method="post" action="/send">
<p><label>Guest <input name="guest"></label></p>
<div><span>Leaves at</span> <div id="at" class="picker" tabindex="0">choose</div></div>
<div><span>Cabins</span> <button type="button" id="less">-</button><input name="cabins" value="1"><button type="button" id="more">+</button></div>
<div><span>Metres</span> <div id="rail" class="slider"><button type="button" class="handle" tabindex="-1">3</button></div></div>
<p><label>Mobile <input id="phone"></label></p>
<div><span>Sails on</span> <div id="day" class="picker" tabindex="0">choose</div><div id="month" hidden></div></div>
<button>Book ferry</button></form>
<div id="drums" hidden><div class="drum"><div id="h"></div></div> <div class="drum"><div id="m"></div></div> <button type="button" id="ok">Done</button></div>
<script>
const two = (n) => String(n).padStart(2, "0");
const at = { h: 6, m: 0 };
let metres = 3, sails = new Date(2026, 10, 1), chosen = "", time = "";
for (const [drum, count] of [[h, 24], [m, 60]]) {
  drum.innerHTML = Array.from({ length: count }, (_, i) => "<div>" + two(i) + "</div>").join("");
  const turn = () => { drum.style.transform = "translateY(" + (1 - at[drum.id]) * 30 + "px)"; };
  [...drum.children].forEach((line, i) => { line.onclick = () => { at[drum.id] = i; turn(); }; });
  turn();
}
window.at.onclick = () => { drums.hidden = false; };
document.onkeydown = (e) => { if (e.key === "Escape") drums.hidden = true; };
ok.onclick = () => { drums.hidden = true; time = two(at.h) + ":" + two(at.m); window.at.textContent = time; };
const cabins = document.forms[0].cabins;
less.onclick = () => { cabins.value = Math.max(1, cabins.value - 1); };
more.onclick = () => { cabins.value = +cabins.value + 1; };
const handle = rail.firstElementChild;
const put = (n) => { metres = Math.min(20, Math.max(1, n)); handle.style.left = (metres - 1) / 19 * 284 + "px"; handle.textContent = metres; };
put(3);
handle.onmousedown = () => {
  const move = (e) => put(1 + Math.round((e.clientX - rail.getBoundingClientRect().x - 8) / 284 * 19));
  document.addEventListener("mousemove", move);
  document.addEventListener("mouseup", () => document.removeEventListener("mousemove", move), { once: true });
};
phone.onblur = () => { phone.value = phone.value.replace(/\\D/g, "").replace(/(..)(?=.)/g, "$1 "); };
const draw = () => {
  const name = (d) => d.toLocaleString("en-US", { month: "long" }) + " " + d.getFullYear();
  const to = (by) => new Date(sails.getFullYear(), sails.getMonth() + by, 1);
  const arrow = (by, sign) => '<i style="cursor:pointer" data-by="' + by + '"><span class="aloud">' + name(to(by)) + "</span>" + sign + "</i> ";
  const days = new Date(sails.getFullYear(), sails.getMonth() + 1, 0).getDate();
  month.innerHTML = arrow(-1, "&lt;") + "<span>" + name(sails) + "</span> " + arrow(1, "&gt;") + '<div id="grid">' + Array.from({ length: days }, (_, i) => "<b>" + (i + 1) + "</b>").join("") + "</div>";
  month.querySelectorAll("i").forEach((one) => { one.onclick = () => { sails = to(+one.dataset.by); draw(); }; });
  month.querySelectorAll("b").forEach((one) => { one.onclick = () => { chosen = sails.getFullYear() + "-" + two(sails.getMonth() + 1) + "-" + two(+one.textContent); day.textContent = chosen; month.hidden = true; }; });
};
day.onclick = () => { month.hidden = false; draw(); };
document.forms[0].onformdata = (e) => { e.formData.set("time", time); e.formData.set("metres", metres); e.formData.set("phone", "+47" + phone.value.replace(/ /g, "")); e.formData.set("day", chosen); };
</script>`;

const TASKS = [
  { Guest: "Ann Lee", "Leaves at": "09:15", Cabins: 3, Metres: 7, Mobile: "41234567", "Sails on": "2027-01-22" },
  { Guest: "Bo Berg", "Leaves at": "17:40", Cabins: 2, Metres: 12, Mobile: "92345678", "Sails on": "2026-12-09" },
  { Guest: "Cy Dunn", "Leaves at": "11:05", Cabins: 5, Metres: 4, Mobile: "48765432", "Sails on": "2026-10-30" },
];

let site: Awaited<ReturnType<typeof openForm>>;
before(async () => {
  site = await openForm("ferry", TASKS, PAGE, (sent) => `<h1>${sent.get("guest") === "" ? "no" : "yes"}</h1>`);
});
after(() => site?.close());

test("drums, handles, arrows without a role and numbers in groups are operated as they are drawn", async () => {
  for (const i of [0, 1, 2]) assert.equal((await site.policy("oracle", i)).reward, 1);
  const { fields, not_learned: missing } = site.contract();
  assert.deepEqual(missing, {});
  assert.equal(fields["Leaves at"]?.way, "wheels");
  assert.deepEqual([fields.Metres?.way, fields.Metres?.variant.by], ["nudge", "drag"]);
  assert.deepEqual(fields.Mobile?.wire?.notation, { as: "part", of: "+47{Mobile}" });
});
