import type { Idioms } from "./idiom.js";

/** A component of a page, and a form around it that posts the state `v` and a plain field as JSON. */
const around = (component: string, script: string): string =>
  `<form id=f><label>Name <input name=n></label>${component}<button>Submit</button></form><script>let v; ${script}
  f.addEventListener("submit", (e) => { e.preventDefault(); fetch("api", { method: "POST", body: JSON.stringify({ who: f.n.value, v }) }); });</script>`;
const NAME = { Name: "Ann" };

const CALENDAR = `let at = new Date(Date.UTC(2024, 0, 1)); const iso = (d) => d.toISOString().slice(0, 10); const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
  function grid() { const first = new Date(at); first.setUTCDate(1); const lead = first.getUTCDay(); let cells = ""; for (let i = 0; i < 42; i++) { const d = new Date(first); d.setUTCDate(1 - lead + i); cells += (i % 7 ? "" : "<tr>") + '<td role=gridcell><button type=button class="day' + (d.getUTCMonth() === at.getUTCMonth() ? "" : " outside") + '" data-d="' + iso(d) + '">' + d.getUTCDate() + "</button></td>"; }
    return '<div><button type=button aria-label="Previous month">&lt;</button><span aria-live=polite>' + MONTHS[at.getUTCMonth()] + " " + at.getUTCFullYear() + '</span><button type=button aria-label="Next month">&gt;</button><table role=grid>' + cells + "</table></div>"; }
  function show(box, done) { box.innerHTML = grid(); box.onclick = (e) => { const b = e.target.closest("button"); if (!b) return; const l = b.getAttribute("aria-label"); if (l) { at.setUTCMonth(at.getUTCMonth() + (l[0] === "N" ? 1 : -1)); box.innerHTML = grid(); } else done(b.dataset.d); }; }`;

const STARS = [1, 2, 3, 4, 5];

/** Controls as component libraries and scripts make them. */
export const COMPONENTS: Idioms = {
  "select-only combobox": {
    html: around(
      `<label id=l>Country</label><div id=c role=combobox tabindex=0 aria-labelledby=l aria-haspopup=listbox aria-expanded=false aria-controls=lb>Choose</div><ul id=lb role=listbox hidden><li role=option data-value=se>Sweden</li><li role=option data-value=no>Norway</li></ul>`,
      `c.onclick = () => { lb.hidden = !lb.hidden; c.setAttribute("aria-expanded", !lb.hidden); }; for (const o of lb.children) o.onclick = () => { v = o.dataset.value; c.textContent = o.textContent; lb.hidden = true; c.setAttribute("aria-expanded", false); };`,
    ),
    fields: { ...NAME, Country: "Norway" },
  },
  "combobox that filters": {
    html: around(
      `<label for=c>City</label><input id=c role=combobox aria-autocomplete=list aria-expanded=false aria-controls=lb autocomplete=off><ul id=lb role=listbox hidden></ul>`,
      `const all = ["Lund", "Lulea", "Oslo", "Lima", "Lisbon"]; const draw = () => { const hits = all.filter((x) => c.value && x.toLowerCase().startsWith(c.value.toLowerCase())); lb.innerHTML = hits.map((x, i) => "<li role=option id=o" + i + ">" + x + "</li>").join(""); lb.hidden = !hits.length; c.setAttribute("aria-expanded", !!hits.length); for (const o of lb.children) o.onmousedown = (e) => { e.preventDefault(); v = { id: all.indexOf(o.textContent), label: o.textContent }; c.value = o.textContent; lb.hidden = true; c.setAttribute("aria-expanded", false); }; }; c.oninput = () => { v = undefined; setTimeout(draw, 250); };`,
    ),
    fields: { ...NAME, City: "Lulea" },
  },
  "react-select": {
    html: around(
      `<label for=rs>Colour</label><div class="css-b62m3t-container"><span aria-live=polite></span><div class="css-control" style="border:1px solid"><div class=vc><div class="css-placeholder">Select...</div><div class=ic><input id=rs role=combobox type=text aria-autocomplete=list aria-expanded=false aria-haspopup=true autocomplete=off style="width:2px;opacity:1"></div></div></div><div id=menu></div></div>`,
      `const opts = ["Ocean", "Forest", "Slate"]; const ctl = document.querySelector(".css-control"), vc = document.querySelector(".vc"), inp = document.getElementById("rs"); const draw = () => { menu.innerHTML = '<div class=css-menu><div role=listbox id=react-select-2-listbox>' + opts.filter((o) => o.toLowerCase().includes(inp.value.toLowerCase())).map((o, i) => '<div role=option aria-disabled=false id="react-select-2-option-' + i + '" tabindex=-1>' + o + "</div>").join("") + "</div></div>"; inp.setAttribute("aria-expanded", true); for (const o of menu.querySelectorAll("[role=option]")) o.onclick = () => { v = { value: o.textContent.toLowerCase(), label: o.textContent }; vc.firstChild.outerHTML = '<div class="css-singleValue">' + o.textContent + "</div>"; menu.innerHTML = ""; inp.value = ""; inp.setAttribute("aria-expanded", false); }; };
      menu.onmousedown = (e) => e.preventDefault(); ctl.onmousedown = (e) => { if (e.button) return; e.preventDefault(); inp.focus(); menu.firstChild ? (menu.innerHTML = "", inp.setAttribute("aria-expanded", false)) : draw(); }; inp.oninput = draw; inp.onblur = () => { menu.innerHTML = ""; inp.setAttribute("aria-expanded", false); };`,
    ),
    fields: { ...NAME, Colour: "Slate" },
  },
  "react-select of several": {
    html: around(
      `<label for=rs>Colours</label><div class=box><div class=ctl><div class=vals></div><input id=rs role=combobox aria-expanded=false aria-haspopup=true style="width:40px"></div><div id=menu></div></div>`,
      `v = []; const opts = ["Ocean", "Forest", "Slate"]; const ctl = document.querySelector(".ctl"), inp = document.getElementById("rs"); const draw = () => { menu.innerHTML = "<div role=listbox aria-multiselectable=true>" + opts.filter((o) => !v.includes(o)).map((o) => "<div role=option>" + o + "</div>").join("") + "</div>"; inp.setAttribute("aria-expanded", true); for (const o of menu.querySelectorAll("[role=option]")) o.onclick = () => { v.push(o.textContent); document.querySelector(".vals").innerHTML = v.map((x) => "<span class=mv>" + x + '<span role=button aria-label="Remove ' + x + '">x</span></span>').join(""); menu.innerHTML = ""; inp.setAttribute("aria-expanded", false); }; };
      ctl.onmousedown = (e) => { e.preventDefault(); inp.focus(); if (!menu.firstChild) draw(); };`,
    ),
    fields: { ...NAME, Colours: ["Forest", "Slate"] },
  },
  "listbox of several": {
    html: around(
      `<span id=l>Days</span><ul role=listbox aria-multiselectable=true aria-labelledby=l tabindex=0 id=lb><li role=option aria-selected=false>Mon</li><li role=option aria-selected=false>Tue</li><li role=option aria-selected=false>Wed</li></ul>`,
      `v = []; for (const o of lb.children) o.onclick = () => { o.setAttribute("aria-selected", o.getAttribute("aria-selected") !== "true"); v = [...lb.querySelectorAll("[aria-selected=true]")].map((x) => x.textContent); };`,
    ),
    fields: { ...NAME, Days: ["Mon", "Wed"] },
  },
  "dropdown without roles": {
    html: around(
      `<div class=field><div class=cap>Size</div><div class=dd style="cursor:pointer"><div class=sel>Pick one</div><div class=opts style="display:none"><div data-v=s>Small</div><div data-v=l>Large</div></div></div></div>`,
      `const dd = document.querySelector(".dd"), opts = dd.querySelector(".opts"); dd.onclick = (e) => { if (e.target.dataset.v) { v = e.target.dataset.v; dd.querySelector(".sel").textContent = e.target.textContent; opts.style.display = "none"; } else opts.style.display = "block"; };`,
    ),
    fields: { ...NAME, Size: "Large" },
  },
  switch: {
    html: around(
      `<div><button type=button role=switch aria-checked=false id=s aria-labelledby=sl>o</button><span id=sl>Newsletter</span></div>`,
      `v = false; s.onclick = () => { v = !v; s.setAttribute("aria-checked", v); };`,
    ),
    fields: { ...NAME, Newsletter: true },
  },
  "styled checkbox": {
    html: around(
      `<label class=tick><input type=checkbox id=b style="position:absolute;opacity:0;width:0;height:0"><span class=box></span> I agree</label>`,
      `v = false; b.onchange = () => { v = b.checked; };`,
    ),
    fields: { ...NAME, "I agree": true },
  },
  "radio cards": {
    html: around(
      `<div role=radiogroup aria-label=Plan><div role=radio aria-checked=false tabindex=0 aria-label=Basic><b>Basic</b><p>For one</p></div><div role=radio aria-checked=false tabindex=-1 aria-label=Team><b>Team</b><p>For ten</p></div></div>`,
      `for (const r of f.querySelectorAll("[role=radio]")) r.onclick = () => { v = r.getAttribute("aria-label").toLowerCase(); for (const o of f.querySelectorAll("[role=radio]")) o.setAttribute("aria-checked", o === r); };`,
    ),
    fields: { ...NAME, Plan: "Team" },
  },
  "cards without roles": {
    html: around(
      `<div class=g><h3>Delivery</h3><div class=cards><div class=card style="cursor:pointer" data-id=std>Standard</div><div class=card style="cursor:pointer" data-id=exp>Express</div></div></div>`,
      `for (const c of f.querySelectorAll(".card")) c.onclick = () => { v = { delivery: c.dataset.id }; c.classList.add("active"); };`,
    ),
    fields: { ...NAME, Delivery: "Express" },
  },
  "checkbox cards": {
    html: around(
      `<fieldset><legend>Extras</legend><div role=checkbox aria-checked=false tabindex=0 aria-label=Breakfast>Breakfast</div><div role=checkbox aria-checked=false tabindex=0 aria-label=Parking>Parking</div><div role=checkbox aria-checked=false tabindex=0 aria-label=Crib>Crib</div></fieldset>`,
      `v = {}; for (const c of f.querySelectorAll("[role=checkbox]")) { const k = c.getAttribute("aria-label").toLowerCase(); v[k] = false; c.onclick = () => { v[k] = !v[k]; c.setAttribute("aria-checked", v[k]); }; }`,
    ),
    fields: { ...NAME, Extras: ["Breakfast", "Crib"] },
  },
  "toggle buttons": {
    html: around(
      `<div role=group aria-label=Format><button type=button aria-pressed=false>Bold</button><button type=button aria-pressed=false>Italic</button></div>`,
      `v = []; for (const b of f.querySelectorAll("[aria-pressed]")) b.onclick = () => { b.setAttribute("aria-pressed", b.getAttribute("aria-pressed") !== "true"); v = [...f.querySelectorAll("[aria-pressed=true]")].map((x) => x.textContent); };`,
    ),
    fields: { ...NAME, Format: ["Italic"] },
  },
  "chips typed with Enter": {
    html: around(
      `<label for=t>Skills</label><div class=tag-input><span id=chips></span><input id=t placeholder="Type and press Enter"></div>`,
      `v = []; t.onkeydown = (e) => { if (e.key === "Enter" && t.value.trim()) { e.preventDefault(); v.push(t.value.trim()); chips.innerHTML += "<span class=chip>" + t.value + "</span>"; t.value = ""; } };`,
    ),
    fields: { ...NAME, Skills: ["moss", "stone walls"] },
  },
  "editable text": {
    html: around(
      `<div id=lab>Message</div><div contenteditable=true role=textbox aria-multiline=true aria-labelledby=lab id=ed style="min-height:40px;border:1px solid"></div>`,
      `ed.oninput = () => { v = ed.innerText; };`,
    ),
    fields: { ...NAME, Message: "See you on Friday." },
  },
  "date picker": {
    html: around(
      `<label for=d>Arrival</label><input id=d readonly placeholder="Select date" aria-haspopup=dialog><div id=pop role=dialog hidden></div>`,
      `${CALENDAR} d.onclick = () => { pop.hidden = false; show(pop, (x) => { v = x; d.value = x.split("-").reverse().join("."); pop.hidden = true; }); };`,
    ),
    fields: { ...NAME, Arrival: "2024-04-17" },
  },
  "date picker behind a button": {
    html: around(
      `<span id=dl>Due date</span><button type=button id=d aria-haspopup=dialog aria-labelledby="dl d">Pick a date</button><div id=pop role=dialog hidden></div>`,
      `${CALENDAR} d.onclick = () => { pop.hidden = false; show(pop, (x) => { v = new Date(x).toISOString(); d.textContent = new Date(x).toDateString(); pop.hidden = true; }); };`,
    ),
    fields: { ...NAME, "Due date": "2023-11-30" },
  },
  "date in three selects": {
    html: around(
      `<fieldset><legend>Born</legend><select aria-label=Day id=dd><option value="">Day</option>${Array.from({ length: 31 }, (_, i) => `<option>${i + 1}</option>`).join("")}</select><select aria-label=Month id=mm><option value="">Month</option>${["January", "February", "March", "April", "May"].map((m, i) => `<option value=${i}>${m}</option>`).join("")}</select><select aria-label=Year id=yy><option value="">Year</option><option>1989</option><option>1990</option></select></fieldset>`,
      `f.onchange = () => { v = { day: +dd.value, month: +mm.value + 1, year: +yy.value }; };`,
    ),
    fields: { ...NAME, Born: "1990-03-05" },
  },
  "date in segments": {
    html: around(
      `<span id=sl>Start date</span><div role=group aria-labelledby=sl id=sg>${[
        ["month", "mm"],
        ["day", "dd"],
        ["year", "yyyy"],
      ]
        .map(
          ([n, p]) =>
            `<div role=spinbutton tabindex=0 aria-label="${n}, Start date" data-type=${n} aria-valuetext=Empty contenteditable=false style="display:inline-block;min-width:20px">${p}</div>`,
        )
        .join("/")}</div>`,
      `v = {}; for (const s of sg.children) { let typed = ""; s.onfocus = () => { typed = ""; }; s.onkeydown = (e) => { if (/\\d/.test(e.key)) { typed += e.key; s.textContent = typed; s.setAttribute("aria-valuenow", +typed); v[s.dataset.type] = +typed; } }; }`,
    ),
    fields: { ...NAME, "Start date": "2025-06-09" },
  },
  "number stepper": {
    html: around(
      `<div class=row><span>Guests</span><div><button type=button id=m aria-label=Decrease>-</button><span id=q>1</span><button type=button id=p aria-label=Increase>+</button></div></div>`,
      `v = 1; m.onclick = () => { q.textContent = --v; }; p.onclick = () => { q.textContent = ++v; };`,
    ),
    fields: { ...NAME, Guests: 4 },
  },
  "spin button": {
    html: around(
      `<div role=spinbutton tabindex=0 aria-label=Rooms aria-valuenow=1 aria-valuemin=1 aria-valuemax=9 id=s>1</div>`,
      `v = 1; s.onkeydown = (e) => { v += e.key === "ArrowUp" ? 1 : e.key === "ArrowDown" ? -1 : 0; s.setAttribute("aria-valuenow", v); s.textContent = v; };`,
    ),
    fields: { ...NAME, Rooms: 3 },
  },
  slider: {
    html: around(
      `<div id=lb>Budget</div><div class=track style="width:200px;height:20px;position:relative;background:#ccc"><div role=slider tabindex=0 aria-labelledby=lb aria-valuemin=0 aria-valuemax=1000 aria-valuenow=0 id=s style="width:10px;height:20px"></div></div>`,
      `v = 0; s.onkeydown = (e) => { v += e.key === "ArrowRight" ? 50 : e.key === "ArrowLeft" ? -50 : 0; s.setAttribute("aria-valuenow", v); };`,
    ),
    fields: { ...NAME, Budget: 450 },
  },
  "native range": {
    html: around(
      `<label>Volume <input type=range id=r min=0 max=10 value=5></label>`,
      `v = 5; r.oninput = () => { v = +r.value; };`,
    ),
    fields: { ...NAME, Volume: 8 },
  },
  "rating stars": {
    html: around(
      `<div role=radiogroup aria-label=Rating>${STARS.map((n) => `<span role=radio aria-checked=false aria-label="${n} star${n > 1 ? "s" : ""}" tabindex=0>*</span>`).join("")}</div>`,
      `const st = [...f.querySelectorAll("[role=radio]")]; st.forEach((s, i) => { s.onclick = () => { v = i + 1; st.forEach((o, k) => o.setAttribute("aria-checked", k === i)); }; });`,
    ),
    fields: { ...NAME, Rating: "4" },
  },
  "stars without roles": {
    html: around(
      `<div><p>How was it?</p><div class=stars>${STARS.map((n) => `<span data-n=${n} style="cursor:pointer">&#9733;</span>`).join("")}</div></div>`,
      `for (const s of f.querySelectorAll("[data-n]")) s.onclick = () => { v = +s.dataset.n; };`,
    ),
    fields: { ...NAME, "How was it?": "4" },
  },
  "masked telephone": {
    html: around(
      `<label for=t>Phone</label><input id=t type=tel>`,
      `t.oninput = () => { const d = t.value.replace(/\\D/g, "").slice(0, 10); t.value = d.length > 6 ? "(" + d.slice(0, 3) + ") " + d.slice(3, 6) + "-" + d.slice(6) : d; v = t.value; };`,
    ),
    fields: { ...NAME, Phone: "5550107788" },
  },
  "mask by key presses": {
    html: around(
      `<label for=t>Plate</label><input id=t>`,
      `let raw = ""; t.onkeydown = (e) => { if (e.key.length !== 1) return; e.preventDefault(); raw += e.key.toUpperCase(); t.value = raw.length > 3 ? raw.slice(0, 3) + "-" + raw.slice(3) : raw; v = raw; };`,
    ),
    fields: { ...NAME, Plate: "abc123" },
  },
  "code with a field a digit": {
    html: around(
      `<fieldset><legend>Code</legend>${[0, 1, 2, 3, 4, 5].map((i) => `<input maxlength=1 inputmode=numeric aria-label="Digit ${i + 1}" class=o>`).join("")}</fieldset>`,
      `const os = [...document.querySelectorAll(".o")]; os.forEach((o, i) => { o.oninput = () => { v = os.map((x) => x.value).join(""); if (o.value) os[i + 1]?.focus(); }; });`,
    ),
    fields: { ...NAME, Code: "402917" },
  },
  "controlled input": {
    html: around(
      `<label for=c>Nickname</label><input id=c>`,
      `let state = ""; const proto = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value"); let tracked = ""; Object.defineProperty(c, "value", { get() { return proto.get.call(this); }, set(x) { tracked = x; proto.set.call(this, x); } }); c.addEventListener("input", () => { const now = proto.get.call(c); if (now === tracked) return; state = now; v = { nick: state }; c.value = state; });`,
    ),
    fields: { ...NAME, Nickname: "fern" },
  },
  "field after another": {
    html: around(
      `<label>Pet <select id=p><option value="">-</option><option>None</option><option>Dog</option></select></label><div id=more></div>`,
      `p.onchange = () => { setTimeout(() => { more.innerHTML = p.value === "Dog" ? "<label>Dog's name <input id=dn></label>" : ""; if (window.dn) dn.oninput = () => { v = { pet: "Dog", dog: dn.value }; }; }, 300); };`,
    ),
    fields: { ...NAME, Pet: "Dog", "Dog's name": "Rex" },
  },
  "options after another": {
    html: around(
      `<label>Country <select id=c><option value="">-</option><option>Peru</option><option>Chad</option></select></label><label>Town <select id=t disabled><option value="">-</option></select></label>`,
      `c.onchange = async () => { const list = await (await fetch("towns.js")).text(); t.disabled = false; t.innerHTML = "<option value=''>-</option>" + list.split(",").map((x) => "<option>" + x + "</option>").join(""); }; f.addEventListener("change", () => { v = [c.value, t.value]; });`,
    ),
    fields: { ...NAME, Country: "Peru", Town: "Cusco" },
    more: { "towns.js": "Lima,Cusco,Tacna" },
  },
  "one more row": {
    html: around(
      `<div id=rows><fieldset><legend>Guest 1</legend><label>First name <input class=g></label></fieldset></div><button type=button id=add>+ Add another guest</button>`,
      `add.onclick = () => { const k = rows.children.length + 1; const s = document.createElement("fieldset"); s.innerHTML = "<legend>Guest " + k + "</legend><label>First name <input class=g></label>"; rows.append(s); }; f.oninput = () => { v = { guests: [...document.querySelectorAll(".g")].map((x) => ({ first: x.value })) }; };`,
    ),
    fields: { ...NAME, "Guest 1 first name": "Bo", "Guest 2 first name": "Cy" },
  },
  "tabs and a folded part": {
    html: around(
      `<div role=tablist><button type=button role=tab aria-controls=p1 aria-selected=true id=t1>One</button><button type=button role=tab aria-controls=p2 aria-selected=false id=t2>Two</button></div><div role=tabpanel id=p1><label>Street <input id=a></label></div><div role=tabpanel id=p2 hidden><label>Floor <input id=b></label></div><details><summary>More</summary><label>Note <input id=c></label></details>`,
      `t1.onclick = () => { p1.hidden = false; p2.hidden = true; }; t2.onclick = () => { p1.hidden = true; p2.hidden = false; }; f.oninput = () => { v = { street: a.value, floor: b.value, note: c.value }; };`,
    ),
    fields: { ...NAME, Street: "Elm", Floor: "2", Note: "ring twice" },
  },
  "web component with a shadow root": {
    html: around(
      `<x-field label="Nickname" id=x></x-field>`,
      `customElements.define("x-field", class extends HTMLElement { constructor() { super(); this.attachShadow({ mode: "open" }).innerHTML = "<label for=i></label><input id=i>"; } connectedCallback() { this.shadowRoot.querySelector("label").textContent = this.getAttribute("label"); this.shadowRoot.querySelector("input").oninput = (e) => { v = { nick: e.target.value }; }; } });`,
    ),
    fields: { ...NAME, Nickname: "fern" },
  },
  "typeahead without roles": {
    html: around(
      `<label for=t>Airport</label><div class=autocomplete><input id=t autocomplete=off><div id=hits></div></div>`,
      `t.oninput = () => { v = undefined; setTimeout(() => { hits.innerHTML = ["Oslo", "Lima", "Rome"].filter((x) => t.value && x.startsWith(t.value[0])).map((x) => "<div class=hit style='cursor:pointer'>" + x + "</div>").join(""); for (const h of hits.children) h.onclick = () => { t.value = h.textContent; v = { code: "X-" + h.textContent.toUpperCase() , name: h.textContent }; hits.innerHTML = ""; }; }, 300); };`,
    ),
    fields: { ...NAME, Airport: "Lima" },
  },
  "drop zone for a file": {
    html: around(
      `<div class=zone style="border:1px dashed;padding:20px"><p>Photo</p><input type=file id=p style="display:none"><button type=button onclick="p.click()">Browse</button></div>`,
      `p.onchange = () => { v = { photo: p.files[0].name }; };`,
    ),
    fields: { ...NAME, Photo: "cat.png" },
  },
};
