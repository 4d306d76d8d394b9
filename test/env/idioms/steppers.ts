import type { Idioms } from "./idiom.js";

/** A number among other fields of a form that posts its state as JSON; `count` is what draws it after each change. */
const around = (component: string, count: string, start = 1): string =>
  `<form id=f><label>Name <input name=n></label>${component}<button>Submit</button></form>
  <script>let v = ${start}; const set = (x) => { v = x; ${count} }; mi.onclick = () => set(Math.max(0, v - 1)); pl.onclick = () => set(v + 1);
  f.addEventListener("submit", (e) => { e.preventDefault(); fetch("api", { method: "POST", body: JSON.stringify({ who: f.n.value, v }) }); });</script>`;
const FIELDS = { Name: "Ann", Guests: 4 };

/** Numbers that buttons change: the usual steppers, whose field takes no keys. */
export const STEPPERS: Idioms = {
  "read-only number in what is called a selector": {
    html: around(
      `<label for=q>Guests</label><div class=quantity-selector><button type=button id=mi aria-label="decrease guests">&minus;</button><input id=q readonly value=1 placeholder="Select guests"><button type=button id=pl aria-label="Increase guests">+</button></div>`,
      `q.value = x`,
    ),
    fields: FIELDS,
  },
  "read-only number that counts late": {
    html: around(
      `<label for=q>Guests</label><div><button type=button id=mi>-</button><input id=q readonly value=1><button type=button id=pl>+</button></div>`,
      `setTimeout(() => { q.value = x }, 250)`,
    ),
    fields: FIELDS,
  },
  "read-only number with its unit, sent as it stands": {
    html: `<form method=post action=send><label>Name <input name=n></label><label for=q>Guests</label><button type=button id=mi disabled>-</button><input id=q name=q readonly value="0 guests"><button type=button id=pl>+</button><button>Send</button></form>
    <script>let v = 0; const set = (x) => { v = x; q.value = x + " guests"; mi.disabled = x === 0; }; mi.onclick = () => set(v - 2); pl.onclick = () => set(v + 2);</script>`,
    fields: FIELDS,
  },
  "number that goes back to its own state when it is typed into": {
    html: around(
      `<label for=q>Guests</label><div class=count><button type=button id=mi>-</button><input id=q value=1><button type=button id=pl>+</button></div>`,
      `q.value = x`,
    ).replace("<script>", "<script>q.oninput = () => { q.value = v; };"),
    fields: FIELDS,
  },
  "spin button that takes no focus": {
    html: around(
      `<div><span id=ql>Guests</span><div><button type=button id=mi aria-label=decrease>-</button><span id=q role=spinbutton aria-labelledby=ql aria-valuenow=1 aria-valuemin=0 aria-valuemax=9>1</span><button type=button id=pl aria-label=Increase>+</button></div></div>`,
      `q.textContent = x; q.setAttribute("aria-valuenow", x)`,
    ),
    fields: FIELDS,
  },
  "output in a group with a name": {
    html: around(
      `<div role=group aria-label=Guests><button type=button id=mi aria-label=Remove>&minus;</button><output id=q aria-live=polite>1</output><button type=button id=pl aria-label=Add>&#xff0b;</button></div>`,
      `q.textContent = x`,
    ),
    fields: FIELDS,
  },
  "number between two pictures": {
    html: around(
      `<div class=row><span>Guests</span><div><a class=btn-minus id=mi style="display:inline-block;width:20px;height:20px;cursor:pointer"></a><b id=q>1</b><a class=btn-plus id=pl style="display:inline-block;width:20px;height:20px;cursor:pointer"></a></div></div>`,
      `q.textContent = x`,
    ),
    fields: FIELDS,
  },
  "form drawn anew with every state": {
    html: `<div id=app></div><script>const s = { name: "", n: 2 }; let asked = false;
    function set(p) { Object.assign(s, p); if (!asked) { asked = true; setTimeout(() => { asked = false; render(); }, 30); } }
    function render() { app.innerHTML = '<form><label>Name <input name=nm></label><div><label for=gs>Guests</label><div><button type=button class=dec aria-label=Decrease>&minus;</button><input id=gs class=input-select readonly value="' + s.n + '"><button type=button class=inc aria-label=Increase>+</button></div></div><button>Book</button></form>';
      const f = app.querySelector("form"); f.nm.value = s.name; f.nm.oninput = () => { s.name = f.nm.value; };
      f.querySelector(".dec").onclick = () => set({ n: s.n - 1 }); f.querySelector(".inc").onclick = () => set({ n: s.n + 1 });
      f.onsubmit = (e) => { e.preventDefault(); fetch("api", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ name: s.name, guests: s.n }) }); }; }
    const app = document.querySelector("#app"); render();</script>`,
    fields: FIELDS,
  },
};
