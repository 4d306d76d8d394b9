import type { Idioms } from "./idiom.js";

/** A component, its script, and a plain field; the state `v` is posted with it. */
const around = (component: string, script: string): string =>
  `<form id=f><p><label for=n0>Name</label> <input id=n0></p>${component}<p><button>Send</button></p></form><script>let v; ${script}
  f.addEventListener("submit", (e) => { e.preventDefault(); fetch("api", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ data: { attributes: { fullName: n0.value, extra: v } } }) }); });</script>`;
const NAME = { Name: "Ann" };

/** More controls, as scripts and libraries make them. */
export const WIDGETS: Idioms = {
  "menu button that picks": {
    html: around(
      `<span id=ml>Priority</span> <button type=button id=m aria-haspopup=menu aria-expanded=false aria-labelledby="ml m">None</button><div id=mm role=menu hidden><div role=menuitem>Low</div><div role=menuitem>High</div></div>`,
      `m.onclick = () => { mm.hidden = !mm.hidden; m.setAttribute("aria-expanded", !mm.hidden); }; for (const o of mm.children) o.onclick = () => { v = { priority: o.textContent }; m.textContent = o.textContent; mm.hidden = true; m.setAttribute("aria-expanded", false); };`,
    ),
    fields: { ...NAME, Priority: "High" },
  },
  "list of checkboxes in a popup": {
    html: around(
      `<label id=tl>Topics</label><button type=button id=t aria-haspopup=listbox aria-expanded=false aria-labelledby=tl>Select topics</button><div id=tp role=listbox aria-multiselectable=true hidden>${["Art", "Law", "Tax"].map((x) => `<div role=option aria-selected=false><input type=checkbox tabindex=-1> ${x}</div>`).join("")}</div>`,
      `v = []; t.onclick = () => { tp.hidden = !tp.hidden; t.setAttribute("aria-expanded", !tp.hidden); }; for (const o of tp.children) o.onclick = () => { const on = o.getAttribute("aria-selected") !== "true"; o.setAttribute("aria-selected", on); o.firstChild.checked = on; v = [...tp.children].filter((x) => x.getAttribute("aria-selected") === "true").map((x) => x.textContent.trim()); t.textContent = v.join(", ") || "Select topics"; };`,
    ),
    fields: { ...NAME, Topics: ["Art", "Tax"] },
  },
  "grouped options": {
    html: around(
      `<label for=g>Fruit</label><input id=g role=combobox aria-expanded=false aria-controls=gl aria-haspopup=listbox readonly><div id=gl role=listbox hidden><div role=group aria-label=Red><div role=option id=a1>Apple</div><div role=option id=a2>Cherry</div></div><div role=group aria-label=Yellow><div role=option id=a3>Banana</div></div></div>`,
      `g.onfocus = g.onclick = () => { gl.hidden = false; g.setAttribute("aria-expanded", true); }; for (const o of gl.querySelectorAll("[role=option]")) o.onclick = () => { v = o.id; g.value = o.textContent; gl.hidden = true; g.setAttribute("aria-expanded", false); };`,
    ),
    fields: { ...NAME, Fruit: "Banana" },
  },
  "long list that draws what is seen": {
    html: around(
      `<label id=yl>Year</label><div id=y role=combobox tabindex=0 aria-labelledby=yl aria-expanded=false aria-haspopup=listbox>Year</div><div id=yb role=listbox style="height:100px;overflow:auto;position:relative" hidden><div id=ys style="height:2000px"></div></div>`,
      `const draw = () => { const from = Math.floor(yb.scrollTop / 20); ys.innerHTML = Array.from({ length: 7 }, (_, i) => from + i).filter((i) => i < 100).map((i) => '<div role=option style="position:absolute;height:20px;top:' + i * 20 + 'px">' + (1930 + i) + "</div>").join(""); for (const o of ys.children) o.onclick = () => { v = +o.textContent; y.textContent = o.textContent; yb.hidden = true; y.setAttribute("aria-expanded", false); }; }; y.onclick = () => { yb.hidden = false; y.setAttribute("aria-expanded", true); draw(); }; yb.onscroll = draw;`,
    ),
    fields: { ...NAME, Year: "1985" },
  },
  "suggestions from the server": {
    html: around(
      `<label for=s>Street</label><input id=s role=combobox aria-autocomplete=list aria-expanded=false aria-controls=sl><ul id=sl role=listbox></ul>`,
      `let timer; s.oninput = () => { clearTimeout(timer); timer = setTimeout(async () => { const all = (await (await fetch("streets.js")).text()).split(","); sl.innerHTML = all.filter((x) => x.toLowerCase().includes(s.value.toLowerCase())).map((x) => "<li role=option>" + x + "</li>").join(""); s.setAttribute("aria-expanded", true); for (const o of sl.children) o.onclick = () => { v = { street: o.textContent }; s.value = o.textContent; sl.innerHTML = ""; s.setAttribute("aria-expanded", false); }; }, 200); };`,
    ),
    fields: { ...NAME, Street: "Elm Row" },
    more: { "streets.js": "Elm Row,Elm Street,Oak Lane" },
  },
  "native datalist": {
    html: around(
      `<label for=d>Browser</label><input id=d list=dl><datalist id=dl><option>Otter</option><option>Badger</option></datalist>`,
      `d.onchange = () => { v = { browser: d.value }; };`,
    ),
    fields: { ...NAME, Browser: "Badger" },
  },
  "select2 over a hidden select": {
    html: around(
      `<label for=cs>County</label><select id=cs class=select2-hidden-accessible aria-hidden=true tabindex=-1 style="position:absolute;width:1px;height:1px;clip:rect(0 0 0 0)"><option value="">-</option><option value=k>Kent</option><option value=e>Essex</option></select><span class=select2><span role=combobox tabindex=0 aria-haspopup=true aria-expanded=false id=s2><span class=sel>-</span></span></span>`,
      `s2.onclick = () => { if (document.querySelector(".drop")) return; const d = document.createElement("ul"); d.className = "drop"; d.setAttribute("role", "listbox"); d.innerHTML = [...cs.options].slice(1).map((o) => "<li role=option data-v=" + o.value + ">" + o.text + "</li>").join(""); document.body.append(d); for (const li of d.children) li.onmouseup = () => { cs.value = li.dataset.v; cs.dispatchEvent(new Event("change")); d.remove(); }; }; cs.onchange = () => { v = cs.value; document.querySelector(".sel").textContent = cs.selectedOptions[0].text; };`,
    ),
    fields: { ...NAME, County: "Essex" },
  },
  "colour swatches": {
    html: around(
      `<fieldset><legend>Colour</legend>${["Red", "Green"].map((c) => `<button type=button class=swatch title=${c} aria-label=${c} aria-pressed=false data-hex=#${c.length}00 style="background:${c};width:20px;height:20px"></button>`).join("")}</fieldset>`,
      `for (const b of f.querySelectorAll(".swatch")) b.onclick = () => { for (const o of f.querySelectorAll(".swatch")) o.setAttribute("aria-pressed", o === b); v = b.title.toLowerCase(); };`,
    ),
    fields: { ...NAME, Colour: "Green" },
  },
  "yes and no as buttons": {
    html: around(
      `<div class=q><p>Do you smoke?</p><div class=btns><button type=button>Yes</button><button type=button>No</button></div></div>`,
      `for (const b of f.querySelectorAll(".btns button")) b.onclick = () => { v = { smokes: b.textContent === "Yes" ? "yes" : "no" }; b.classList.add("active"); };`,
    ),
    fields: { ...NAME, "Do you smoke?": "No" },
  },
  "time slots": {
    html: around(
      `<h3>Time</h3><div class=slots>${["09:00", "10:30", "14:00"].map((t) => `<div class=slot tabindex=0 style="cursor:pointer">${t}</div>`).join("")}</div>`,
      `for (const s of f.querySelectorAll(".slot")) s.onclick = () => { v = { slot: s.textContent }; for (const o of f.querySelectorAll(".slot")) o.classList.toggle("selected", o === s); };`,
    ),
    fields: { ...NAME, Time: "10:30" },
  },
  "inline calendar": {
    html: around(
      `<div id=cl>Visit date</div><div id=cal></div>`,
      `let y = 2024, m = 4; const MN = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]; const draw = () => { const n = new Date(Date.UTC(y, m + 1, 0)).getUTCDate(); cal.innerHTML = '<div class=head><button type=button class=prev>&lsaquo;</button><b>' + MN[m] + " " + y + '</b><button type=button class=next>&rsaquo;</button></div><div role=grid aria-labelledby=cl>' + Array.from({ length: n }, (_, i) => "<div role=gridcell tabindex=-1 style='display:inline-block;width:30px'>" + (i + 1) + "</div>").join("") + "</div>"; cal.querySelector(".prev").onclick = () => { m--; if (m < 0) { m = 11; y--; } draw(); }; cal.querySelector(".next").onclick = () => { m++; if (m > 11) { m = 0; y++; } draw(); }; for (const c of cal.querySelectorAll("[role=gridcell]")) c.onclick = () => { v = { year: y, month: m + 1, day: +c.textContent }; c.setAttribute("aria-selected", true); }; }; draw();`,
    ),
    fields: { ...NAME, "Visit date": "2024-08-19" },
  },
  "calendar with lists for month and year": {
    html: around(
      `<label for=b>Birth date</label><div class=datepicker><input id=b readonly class=date-input><div id=pop hidden></div></div>`,
      `const MN = ["January","February","March","April","May","June","July","August","September","October","November","December"]; let y = 2000, m = 0; const draw = () => { const n = new Date(Date.UTC(y, m + 1, 0)).getUTCDate(); pop.innerHTML = "<select class=mo>" + MN.map((x, i) => "<option value=" + i + (i === m ? " selected" : "") + ">" + x + "</option>").join("") + "</select><select class=yr>" + Array.from({ length: 60 }, (_, i) => "<option" + (1960 + i === y ? " selected" : "") + ">" + (1960 + i) + "</option>").join("") + "</select><table><tr>" + Array.from({ length: n }, (_, i) => (i % 7 ? "" : "<tr>") + "<td><a href=#>" + (i + 1) + "</a></td>").join("") + "</table>"; pop.querySelector(".mo").onchange = (e) => { m = +e.target.value; draw(); }; pop.querySelector(".yr").onchange = (e) => { y = +e.target.value; draw(); }; for (const a of pop.querySelectorAll("a")) a.onclick = (e) => { e.preventDefault(); const d = +a.textContent; b.value = String(m + 1).padStart(2, "0") + "/" + String(d).padStart(2, "0") + "/" + y; v = b.value; pop.hidden = true; }; }; b.onclick = () => { pop.hidden = false; draw(); };`,
    ),
    fields: { ...NAME, "Birth date": "1978-10-23" },
  },
  "editor in a frame": {
    html: around(
      `<label id=el for=ed>Body</label><iframe id=ed aria-labelledby=el srcdoc="<body contenteditable=true aria-label=Body></body>" height=80></iframe>`,
      `ed.onload = () => { ed.contentDocument.body.oninput = () => { v = { html: ed.contentDocument.body.innerHTML }; }; };`,
    ),
    fields: { ...NAME, Body: "Hello there" },
  },
  "number with plus and minus": {
    html: around(
      `<label for=q>Quantity</label><div class=stepper><button type=button id=mi>-</button><input id=q type=number value=1 min=0><button type=button id=pl>+</button></div>`,
      `v = 1; const set = (x) => { v = x; q.value = x; }; mi.onclick = () => set(v - 1); pl.onclick = () => set(v + 1); q.onchange = () => set(+q.value);`,
    ),
    fields: { ...NAME, Quantity: 6 },
  },
  "read-only number with plus and minus": {
    html: around(
      `<label for=q>Guests</label><div class=stepper><button type=button id=mi>-</button><input id=q readonly value=1><button type=button id=pl>+</button></div>`,
      `v = 1; const set = (x) => { v = x; q.value = x; }; mi.onclick = () => set(v - 1); pl.onclick = () => set(v + 1);`,
    ),
    fields: { ...NAME, Guests: 4 },
  },
  "labels after boxes in a table": {
    html: around(
      `<table><tr><td>E-mail</td><td><input id=e></td></tr><tr><td><input type=checkbox id=k></td><td>Keep me posted</td></tr></table>`,
      `f.onchange = () => { v = { mail: e.value, posted: k.checked }; };`,
    ),
    fields: { ...NAME, "E-mail": "ann@post.example" },
  },
  "radio buttons as a row of labels": {
    html: around(
      `<div role=group aria-labelledby=szl><span id=szl>Size</span><input type=radio class=btn-check name=sz id=z1 value=s style="position:absolute;clip:rect(0 0 0 0)"><label class="btn" for=z1>S</label><input type=radio class=btn-check name=sz id=z2 value=m style="position:absolute;clip:rect(0 0 0 0)"><label class="btn" for=z2>M</label></div>`,
      `f.onchange = () => { v = f.sz.value; };`,
    ),
    fields: { ...NAME, Size: "M" },
  },
  "folded sections with buttons": {
    html: around(
      `<h3><button type=button aria-expanded=false aria-controls=sec id=ac>Contact</button></h3><div id=sec hidden><label>Phone <input id=ph></label></div>`,
      `ac.onclick = () => { sec.hidden = !sec.hidden; ac.setAttribute("aria-expanded", !sec.hidden); }; f.oninput = () => { v = { phone: ph.value }; };`,
    ),
    fields: { ...NAME, Phone: "555 0100" },
  },
  "passwords typed twice": {
    html: around(
      `<label>Password <input type=password id=p1 autocomplete=new-password></label><button type=button aria-label="Show password">o</button><label>Confirm password <input type=password id=p2></label>`,
      `f.oninput = () => { v = p1.value === p2.value ? { password: p1.value } : null; };`,
    ),
    fields: { ...NAME, Password: "m0ss-and-fern", "Confirm password": "m0ss-and-fern" },
  },
  "web components inside each other": {
    html: around(
      `<x-outer></x-outer>`,
      `customElements.define("x-inner", class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: "open" }).innerHTML = "<label>Pet <select><option value=''>-</option><option value=c>Cat</option></select></label>"; this.shadowRoot.querySelector("select").onchange = (e) => { v = { pet: e.target.value }; }; } }); customElements.define("x-outer", class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: "open" }).innerHTML = "<section><x-inner></x-inner></section>"; } });`,
    ),
    fields: { ...NAME, Pet: "Cat" },
  },
  "tree of choices": {
    html: around(
      `<label id=trl>Department</label><div id=tr role=combobox tabindex=0 aria-haspopup=tree aria-expanded=false aria-labelledby=trl>Choose</div><ul id=tt role=tree hidden><li role=treeitem aria-expanded=true>Science<ul role=group><li role=treeitem>Botany</li><li role=treeitem>Physics</li></ul></li></ul>`,
      `tr.onclick = () => { tt.hidden = false; tr.setAttribute("aria-expanded", true); }; for (const o of tt.querySelectorAll("[role=group] [role=treeitem]")) o.onclick = (e) => { e.stopPropagation(); v = { dept: o.textContent }; tr.textContent = o.textContent; tt.hidden = true; tr.setAttribute("aria-expanded", false); };`,
    ),
    fields: { ...NAME, Department: "Botany" },
  },
  "custom box of divs": {
    html: around(
      `<div class=check id=cb style="cursor:pointer"><div class=box></div><div class=txt>Send me offers</div></div>`,
      `v = { offers: false }; cb.onclick = () => { v.offers = !v.offers; cb.classList.toggle("checked"); };`,
    ),
    fields: { ...NAME, "Send me offers": true },
  },
  "dropdown of a library without roles, in a portal": {
    html: around(
      `<div class=form-group><label>Team</label><div class="select__control" tabindex=0><span class=select__placeholder>Select team</span></div></div>`,
      `const ctl = document.querySelector(".select__control"); ctl.addEventListener("mousedown", () => { const p = document.createElement("div"); p.className = "portal"; p.innerHTML = "<div class=menu>" + ["Blue team", "Red team"].map((x) => "<div class=item>" + x + "</div>").join("") + "</div>"; document.body.append(p); for (const i of p.querySelectorAll(".item")) i.addEventListener("click", () => { v = { team: i.textContent }; ctl.innerHTML = "<span>" + i.textContent + "</span>"; p.remove(); }); });`,
    ),
    fields: { ...NAME, Team: "Red team" },
  },
};
