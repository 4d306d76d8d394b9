import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openForm } from "./form-site.js";

/**
 * A form with a clock's face, which takes the clicks of its numbers and whose hand covers one of them; a slider with
 * two handles behind the box that shows them; a list beside an input for scripts that cannot be seen and takes any text.
 * Enter sends it.
 */
const PAGE = `<!doctype html><title>Hall</title><style>
#face { position: fixed; left: 20px; top: 400px; width: 300px; height: 300px; background: #eee; border-radius: 50% }
#face span { position: absolute; width: 20px; text-align: center; pointer-events: none }
#hand { position: absolute; left: 130px; top: 0; width: 40px; height: 150px }
#track { position: relative; width: 300px; height: 12px; background: #ccc } .handle { position: absolute; width: 9px; height: 12px; background: #666 }
#alone { opacity: 0; height: 3px } [role=listbox] { border: 1px solid }
</style><form method="post" action="/send">
<p><label>Guest <input name="guest"></label></p>
<div><label for="at">Opens at</label> <input id="at" name="at" readonly></div>
<p><label for="price">Price a day</label> <input id="price" name="price" readonly></p>
<div id="track"><span class="handle" tabindex="0"></span><span class="handle" tabindex="0"></span></div>
<div><span>Room</span> <div id="room" tabindex="0">choose</div><div role="listbox" hidden><div role="option" data-code="r1">Red room</div><div role="option" data-code="g2">Green room</div><div role="option" data-code="b3">Blue room</div></div><input id="alone" aria-label="autocomplete" tabindex="-1"></div>
<button>Book hall</button></form>
<div id="face" hidden></div>
<script>
const two = (n) => String(n).padStart(2, "0");
const spot = (i, of, r) => [150 + r * Math.sin((2 * Math.PI * i) / of), 150 - r * Math.cos((2 * Math.PI * i) / of)];
let spots = [], hour;
const draw = (numbers) => {
  spots = numbers.map((n, i) => [n, ...spot(i % 12, 12, i < 12 ? 130 : 90)]);
  face.innerHTML = spots.map(([n, x, y]) => '<span style="left:' + (x - 10) + "px;top:" + (y - 9) + 'px">' + n + "</span>").join("") + '<div id="hand"></div>';
};
at.onclick = () => { hour = undefined; face.hidden = false; draw(Array.from({ length: 24 }, (_, i) => String(i))); };
face.onmouseup = ({ clientX, clientY }) => {
  const far = ([, x, y]) => Math.hypot(x + 20 - clientX, y + 400 - clientY);
  const [n] = spots.reduce((best, one) => (far(one) < far(best) ? one : best));
  if (hour !== undefined) { at.value = two(hour) + ":" + n; face.hidden = true; return; }
  hour = n;
  setTimeout(() => draw(Array.from({ length: 12 }, (_, i) => two(i * 5))), 200);
};
document.onkeydown = (e) => { if (e.key === "Escape") face.hidden = true; };
const ends = [400, 900], handles = [...track.children];
const show = () => { price.value = "€" + ends.join(" - €"); handles.forEach((one, i) => { one.style.left = (ends[i] - 200) / 5 + "px"; }); };
handles.forEach((one, i) => {
  one.onkeydown = ({ key }) => {
    const next = ends[i] + (key === "ArrowRight" ? 50 : key === "ArrowLeft" ? -50 : 0);
    if (next >= (i === 0 ? 200 : ends[0]) && next <= (i === 0 ? ends[1] : 1500)) ends[i] = next;
    show();
  };
});
show();
let code = "";
const list = room.nextElementSibling;
room.onclick = () => { list.hidden = !list.hidden; };
list.onclick = ({ target }) => { code = target.dataset.code; room.textContent = target.textContent; list.hidden = true; };
alone.onchange = () => { code = room.textContent = alone.value; };
document.forms[0].onformdata = (e) => { e.formData.set("room", code); };
</script>`;

const TASKS = [
  { Guest: "Ann Lee", "Opens at": "12:30", "Price a day": "500 - 1200", Room: "Green room" },
  { Guest: "Bo Berg", "Opens at": "09:05", "Price a day": "250 - 350", Room: "Blue room" },
  { Guest: "Cy Dunn", "Opens at": "19:45", "Price a day": "1000 - 1500", Room: "Red room" },
];

let site: Awaited<ReturnType<typeof openForm>>;
before(async () => {
  site = await openForm("hall", TASKS, PAGE, (sent) => `<h1>${sent.get("guest") === "" ? "no" : "yes"}</h1>`);
});
after(() => site?.close());

test("clocks, sliders with two handles and lists beside an unseen input are operated as a person does", async () => {
  for (const i of [0, 1, 2]) assert.equal((await site.policy("oracle", i)).reward, 1);
  const { fields, not_learned: missing } = site.contract();
  assert.deepEqual(missing, {});
  assert.equal(fields["Opens at"]?.way, "clock");
  assert.equal(fields["Price a day"]?.way, "handles");
  assert.equal(fields.Room?.wire?.notation.as, "codes");
});
