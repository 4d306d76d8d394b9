import type { Idioms } from "./idiom.js";

/** A component of a page, and a form around it that posts the state `v` and a plain field as JSON. */
const around = (component: string, script: string): string =>
  `<form id=f><label>Name <input name=n></label>${component}<button>Submit</button></form><script>let v; ${script}
  f.addEventListener("submit", (e) => { e.preventDefault(); fetch("api", { method: "POST", body: JSON.stringify({ who: f.n.value, v }) }); });</script>`;
const NAME = { Name: "Ann" };
const CAL = `const MN = ["January","February","March","April","May","June","July","August","September","October","November","December"];`;

/** Further controls, some of which hear keys only, or are drawn when they are scrolled to. */
export const CONTROLS: Idioms = {
  "radio buttons of React": {
    html: around(
      `<fieldset><legend>Size</legend>${["Small", "Large"].map((x, i) => `<div><input type=radio id=":r${i}:" value=${i}><label for=":r${i}:">${x}</label></div>`).join("")}</fieldset>`,
      `const rs = f.querySelectorAll("[type=radio]"); for (const r of rs) r.onchange = () => { v = r.nextSibling.textContent.toUpperCase(); for (const o of rs) o.checked = o === r; };`,
    ),
    fields: { ...NAME, Size: "Large" },
  },
  "stars out of radio buttons": {
    html: `<form method=post action=send><label>Name <input name=n></label><fieldset class=rate><legend>Rating</legend>${[5, 4, 3, 2, 1].map((n) => `<input type=radio id=s${n} name=s value=${n} style="position:absolute;opacity:0"><label for=s${n} title="${n} stars">★</label>`).join("")}</fieldset><button>Send</button></form>`,
    fields: { Name: "Ann", Rating: 4 },
  },
  "how likely from 0 to 10": {
    html: around(
      `<div class=nps><p>How likely are you to recommend us?</p><div>${Array.from({ length: 11 }, (_, i) => `<button type=button data-s=${i}>${i}</button>`).join("")}</div></div>`,
      `for (const b of f.querySelectorAll("[data-s]")) b.onclick = () => { v = { score: +b.dataset.s }; b.classList.add("on") };`,
    ),
    fields: { ...NAME, "How likely are you to recommend us?": 9 },
  },
  faces: {
    html: around(
      `<div><span id=q>How was it?</span><div role=group aria-labelledby=q><button type=button aria-label=Bad>☹</button><button type=button aria-label=Fine>😐</button><button type=button aria-label=Great>☺</button></div></div>`,
      `for (const b of f.querySelectorAll("[aria-label]")) b.onclick = () => { v = b.getAttribute("aria-label").toLowerCase() };`,
    ),
    fields: { ...NAME, "How was it?": "Great" },
  },
  "combobox by keys alone": {
    html: around(
      `<label for=c>Fruit</label><input id=c role=combobox aria-controls=lb aria-expanded=false autocomplete=off><ul id=lb role=listbox hidden></ul>`,
      `const all = ["Apple", "Apricot", "Banana"]; let at = -1, hits = []; const draw = () => { hits = all.filter((x) => x.toLowerCase().includes(c.value.toLowerCase())); at = -1; lb.innerHTML = hits.map((x) => "<li role=option aria-selected=false>" + x + "</li>").join(""); lb.hidden = false; c.setAttribute("aria-expanded", true) }; c.oninput = draw; c.onkeydown = (e) => { if (e.key === "ArrowDown") { if (lb.hidden) draw(); at = Math.min(at + 1, hits.length - 1); [...lb.children].forEach((o, i) => o.setAttribute("aria-selected", i === at)); e.preventDefault(); } if (e.key === "Enter" && !lb.hidden) { e.preventDefault(); v = hits[Math.max(at, 0)]; c.value = v; lb.hidden = true; c.setAttribute("aria-expanded", false) } };`,
    ),
    fields: { ...NAME, Fruit: "Apricot" },
  },
  "keywords in one plain field": {
    html: `<form method=post action=send><label>Name <input name=n></label><label for=k>Keywords</label><input id=k name=keywords placeholder="Separate keywords with commas"><button>Submit</button></form><script>console.log(1)</script>`,
    fields: { ...NAME, Keywords: ["moss", "stone walls"] },
  },
  "a plain field in a box called tags": {
    html: around(
      `<div class=tags-input><label for=t>Skills</label><input id=t></div>`,
      `t.oninput = () => { v = t.value.split(",").map((x) => x.trim()); };`,
    ),
    fields: { ...NAME, Skills: ["moss", "stone walls"] },
  },
  "tags added with a button": {
    html: around(
      `<div class=field><label for=t>Skills</label><input id=t><button type=button id=add>Add</button><ul id=l></ul></div>`,
      `v = []; add.onclick = () => { if (!t.value.trim()) return; v.push(t.value.trim()); l.innerHTML += "<li>" + t.value + "</li>"; t.value = ""; };`,
    ),
    fields: { ...NAME, Skills: ["moss", "stone walls"] },
  },
  "click to edit": {
    html: `<h1>Profile</h1><div class=row><b>City</b> <span id=s tabindex=0 style="cursor:pointer">Oslo</span></div><script>const s = document.querySelector("#s"); s.onclick = () => { const i = document.createElement("input"); i.value = s.textContent; s.replaceWith(i); i.focus(); i.onblur = () => { s.textContent = i.value; i.replaceWith(s); fetch("profile", { method: "PATCH", body: JSON.stringify({ city: i.value }) }) }; i.onkeydown = (e) => { if (e.key === "Enter") i.blur() } }</script>`,
    fields: { City: "Lund" },
  },
  "click to edit with a button": {
    html: `<h1>Profile</h1><dl><dt>City</dt><dd id=d><span>Oslo</span> <button aria-label="Edit City">Edit</button></dd></dl><script>d.querySelector("button").onclick = () => { d.innerHTML = "<input aria-label=City value=Oslo><button>Save</button><button>Cancel</button>"; const [s] = d.querySelectorAll("button"); s.onclick = () => { const c = d.querySelector("input").value; fetch("profile", { method: "PATCH", body: JSON.stringify({ city: c }) }).then(() => { d.innerHTML = c }) } }</script>`,
    fields: { City: "Lund" },
  },
  "range of two dates": {
    html: around(
      `<label for=a>Check-in</label><input id=a readonly placeholder="Add date"><label for=b>Check-out</label><input id=b readonly placeholder="Add date"><div id=pop role=dialog hidden></div>`,
      `${CAL} v = {}; let y = 2024, m = 4, which = "from"; const draw = () => { const days = new Date(Date.UTC(y, m + 1, 0)).getUTCDate(); pop.innerHTML = '<div><button type=button aria-label="Previous month">‹</button><b>' + MN[m] + " " + y + '</b><button type=button aria-label="Next month">›</button></div><table role=grid><tr>' + Array.from({ length: days }, (_, i) => "<td role=gridcell><button type=button>" + (i + 1) + "</button></td>" + ((i + 1) % 7 ? "" : "<tr>")).join("") + "</table>"; }; const open = (w) => () => { which = w; pop.hidden = false; draw() }; a.onclick = open("from"); b.onclick = open("to"); pop.onclick = (e) => { const t = e.target.closest("button"); if (!t) return; const l = t.getAttribute("aria-label"); if (l) { m += l[0] === "N" ? 1 : -1; if (m > 11) { m = 0; y++ } if (m < 0) { m = 11; y-- } return draw() } const iso = new Date(Date.UTC(y, m, +t.textContent)).toISOString().slice(0, 10); v[which] = iso; (which === "from" ? a : b).value = iso; if (which === "from") which = "to"; else pop.hidden = true; };`,
    ),
    fields: { ...NAME, "Check-in": "2024-06-03", "Check-out": "2024-06-09" },
  },
  "list of times": {
    html: around(
      `<label id=tl>Start time</label><button type=button id=t role=combobox aria-haspopup=listbox aria-expanded=false aria-labelledby=tl>Select</button><ul id=lb role=listbox hidden>${["1:30 PM", "2:00 PM", "2:30 PM"].map((x) => `<li role=option>${x}</li>`).join("")}</ul>`,
      `t.onclick = () => { lb.hidden = !lb.hidden; t.setAttribute("aria-expanded", !lb.hidden) }; for (const o of lb.children) o.onclick = () => { v = o.textContent; t.textContent = v; lb.hidden = true; t.setAttribute("aria-expanded", false) };`,
    ),
    fields: { ...NAME, "Start time": "14:30" },
  },
  "details as a dropdown": {
    html: around(
      `<div class=field><span>Country</span><details id=d><summary>Choose</summary><ul><li><a href="#">Sweden</a></li><li><a href="#">Norway</a></li></ul></details></div>`,
      `for (const a of d.querySelectorAll("a")) a.onclick = (e) => { e.preventDefault(); v = a.textContent; d.querySelector("summary").textContent = v; d.open = false };`,
    ),
    fields: { ...NAME, Country: "Norway" },
  },
  "rich text": {
    html: around(
      `<label id=rl>Message</label><div class=toolbar><button type=button aria-label=Bold>B</button></div><div class="ql-editor" contenteditable=true aria-labelledby=rl style="min-height:60px;border:1px solid"><p><br></p></div>`,
      `const ed = f.querySelector(".ql-editor"); ed.oninput = () => { v = { html: ed.innerHTML } };`,
    ),
    fields: { ...NAME, Message: "See you on Friday." },
  },
  "rich text of two paragraphs": {
    html: around(
      `<label id=rl>Message</label><div class="ql-editor" contenteditable=true aria-labelledby=rl style="min-height:60px;border:1px solid"><p><br></p></div>`,
      `const ed = f.querySelector(".ql-editor"); ed.oninput = () => { v = { html: ed.innerHTML } };`,
    ),
    fields: { ...NAME, Message: "See you & yours on Friday.\nAnn" },
  },
  "fields that a box opens": {
    html: `<form id=f method=post action=send><label>Name <input name=n></label><label><input type=checkbox id=o name=o> Ship elsewhere</label><label>Street <input name=s disabled></label><button>Send</button></form><script>o.onchange = () => { f.s.disabled = !o.checked }</script>`,
    fields: { Name: "Ann", "Ship elsewhere": true, Street: "Fern Road 2" },
  },
  "part drawn when scrolled to": {
    html: `<form id=f method=post action=send><label>Name <input name=n></label><div style="height:2000px">Long text</div><div id=s style="height:40px"></div><button>Send</button></form><script>new IntersectionObserver(([e]) => { if (e.isIntersecting && !s.firstChild) s.innerHTML = "<label>Age <input name=a></label>" }).observe(s)</script>`,
    fields: { Name: "Ann", Age: "41" },
  },
  "terms have to be read": {
    html: `<form id=f method=post action=send><label>Name <input name=n></label><div id=t style="height:60px;overflow:auto;border:1px solid">${"Terms. ".repeat(400)}</div><label><input type=checkbox name=ok id=ok disabled> I accept</label><button>Send</button></form><script>t.onscroll = () => { if (t.scrollTop + t.clientHeight >= t.scrollHeight - 5) ok.disabled = false }</script>`,
    fields: { Name: "Ann", "I accept": true },
  },
  "two thumbs": {
    html: around(
      `<div><span>Price</span><div style="width:200px;height:20px;background:#ccc;position:relative"><div role=slider tabindex=0 aria-label="Minimum price" aria-valuemin=0 aria-valuemax=500 aria-valuenow=0 id=s1 style="position:absolute;left:0;width:10px;height:20px;background:#333"></div><div role=slider tabindex=0 aria-label="Maximum price" aria-valuemin=0 aria-valuemax=500 aria-valuenow=500 id=s2 style="position:absolute;left:190px;width:10px;height:20px;background:#333"></div></div></div>`,
      `v = { min: 0, max: 500 }; const mv = (s, k) => { s.onkeydown = (e) => { const d = { ArrowRight: 10, ArrowUp: 10, ArrowLeft: -10, ArrowDown: -10, PageUp: 100, PageDown: -100 }[e.key]; if (!d) return; v[k] = Math.max(0, Math.min(500, v[k] + d)); s.setAttribute("aria-valuenow", v[k]); s.style.left = v[k] * 190 / 500 + "px" } }; mv(s1, "min"); mv(s2, "max");`,
    ),
    fields: { ...NAME, "Minimum price": 50, "Maximum price": 300 },
  },
  "listbox by keys": {
    html: around(
      `<span id=l>Seat</span><ul role=listbox aria-labelledby=l tabindex=0 id=lb><li role=option id=o0>Window</li><li role=option id=o1>Middle</li><li role=option id=o2>Aisle</li></ul>`,
      `let at = -1; lb.onkeydown = (e) => { if (e.key === "ArrowDown") at = Math.min(2, at + 1); else if (e.key === "ArrowUp") at = Math.max(0, at - 1); else return; [...lb.children].forEach((o, i) => o.setAttribute("aria-selected", i === at)); lb.setAttribute("aria-activedescendant", "o" + at); v = lb.children[at].textContent; };`,
    ),
    fields: { ...NAME, Seat: "Aisle" },
  },
  "radio group by keys": {
    html: around(
      `<div role=radiogroup aria-label=Pay id=g>${["Card", "Invoice"].map((x, i) => `<div role=radio aria-checked=false tabindex=${i ? -1 : 0}>${x}</div>`).join("")}</div>`,
      `const rs = [...g.children]; const set = (i) => { rs.forEach((r, k) => { r.setAttribute("aria-checked", k === i); r.tabIndex = k === i ? 0 : -1 }); v = rs[i].textContent }; g.onkeydown = (e) => { const i = rs.indexOf(document.activeElement); if (e.key === " ") set(i); if (e.key === "ArrowDown") { const k = (i + 1) % 2; rs[k].focus(); set(k) } };`,
    ),
    fields: { ...NAME, Pay: "Invoice" },
  },
  "picture cards": {
    html: `<form method=post action=send><label>Name <input name=n></label><fieldset><legend>Theme</legend><label><input type=radio name=t value=d style="display:none"><img alt=Dark width=40 height=40></label><label><input type=radio name=t value=l style="display:none"><img alt=Light width=40 height=40></label></fieldset><button>Send</button></form>`,
    fields: { Name: "Ann", Theme: "Light" },
  },
  "PIN pad": {
    html: around(
      `<label for=p>PIN</label><input id=p readonly><div class=pad>${[1, 2, 3, 4, 5, 6, 7, 8, 9, 0].map((n) => `<button type=button data-n=${n}>${n}</button>`).join("")}<button type=button id=cl>Clear</button></div>`,
      `v = ""; for (const b of f.querySelectorAll("[data-n]")) b.onclick = () => { v += b.dataset.n; p.value = v }; cl.onclick = () => { v = p.value = "" };`,
    ),
    fields: { ...NAME, PIN: "4071" },
  },
  "month picker": {
    html: around(
      `<label for=m>Expiry month</label><input id=m readonly placeholder="Select month"><div id=pop hidden><button type=button aria-label="Previous year">‹</button><b id=yy>2024</b><button type=button aria-label="Next year">›</button><div>${["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"].map((x) => `<button type=button class=mo>${x}</button>`).join("")}</div></div>`,
      `let y = 2024; m.onclick = () => { pop.hidden = false }; const [pv, nx] = pop.querySelectorAll("[aria-label]"); pv.onclick = () => { yy.textContent = --y }; nx.onclick = () => { yy.textContent = ++y }; [...pop.querySelectorAll(".mo")].forEach((b, i) => { b.onclick = () => { v = y + "-" + String(i + 1).padStart(2, "0"); m.value = v; pop.hidden = true } });`,
    ),
    fields: { ...NAME, "Expiry month": "2025-03" },
  },
  "select with a search inside": {
    html: around(
      `<label id=cl>Country</label><div class=ms><button type=button id=b aria-haspopup=listbox aria-expanded=false aria-labelledby=cl>Select country</button><div id=pop hidden><input type=search placeholder="Search..." aria-label="Search countries"><div role=listbox>${["Sweden", "Switzerland", "Spain"].map((x, i) => `<div role=option data-value=c${i}>${x}</div>`).join("")}</div></div></div>`,
      `b.onclick = () => { pop.hidden = !pop.hidden; b.setAttribute("aria-expanded", !pop.hidden) }; pop.querySelector("input").oninput = (e) => { for (const o of pop.querySelectorAll("[role=option]")) o.hidden = !o.textContent.toLowerCase().includes(e.target.value.toLowerCase()) }; for (const o of pop.querySelectorAll("[role=option]")) o.onclick = () => { v = o.dataset.value; b.textContent = o.textContent; pop.hidden = true; b.setAttribute("aria-expanded", false) };`,
    ),
    fields: { ...NAME, Country: "Spain" },
  },
  "phone with a flag button": {
    html: around(
      `<label for=ph>Phone</label><div class=iti><button type=button aria-haspopup=listbox aria-expanded=false aria-label="Selected country">+1</button><ul role=listbox hidden id=cl><li role=option data-c="+1">United States +1</li><li role=option data-c="+46">Sweden +46</li></ul><input id=ph type=tel></div>`,
      `const b = f.querySelector(".iti button"); let c = "+1"; b.onclick = () => { cl.hidden = !cl.hidden; b.setAttribute("aria-expanded", !cl.hidden) }; for (const o of cl.children) o.onclick = () => { c = o.dataset.c; b.textContent = c; cl.hidden = true; b.setAttribute("aria-expanded", false) }; f.addEventListener("submit", () => { v = c + ph.value.replace(/\\D/g, "") }, true);`,
    ),
    fields: { ...NAME, Phone: "(555) 010-0199" },
  },
  "stepper in a modal": {
    html: `<button id=o>New booking</button><dialog id=m><form id=f><h2>New booking</h2><label>Name <input name=n></label><div class=row><span>Guests</span><button type=button id=mi>−</button><output id=q>1</output><button type=button id=pl>+</button></div><button>Book</button></form></dialog><script>let v = 1; o.onclick = () => m.showModal(); mi.onclick = () => { q.textContent = --v }; pl.onclick = () => { q.textContent = ++v }; f.onsubmit = (e) => { e.preventDefault(); fetch("api", { method: "POST", body: JSON.stringify({ name: f.n.value, guests: v }) }).then(() => m.close()) }</script>`,
    fields: { Name: "Ann", Guests: 3 },
  },
  "address that completes itself": {
    html: around(
      `<label for=ad>Address</label><input id=ad autocomplete=off><ul id=lb hidden></ul><label>City <input id=ci></label><label>Postcode <input id=po></label>`,
      `const all = { "Moss Lane 3": ["Lund", "22100"], "Moss Lane 5": ["Oslo", "0150"] }; ad.oninput = () => { const h = Object.keys(all).filter((x) => ad.value.length > 2 && x.startsWith(ad.value)); lb.hidden = !h.length; lb.innerHTML = h.map((x) => "<li>" + x + "</li>").join(""); for (const o of lb.children) o.onmousedown = () => { ad.value = o.textContent; [ci.value, po.value] = all[o.textContent]; lb.hidden = true } }; f.addEventListener("submit", () => { v = { a: ad.value, c: ci.value, p: po.value } }, true);`,
    ),
    fields: { ...NAME, Address: "Moss Lane 3", City: "Lund", Postcode: "22100" },
  },
  "switch out of a native box": {
    html: `<form method=post action=send><label>Name <input name=n></label><label class=switch><span>Notify me</span><input type=checkbox role=switch name=s style="opacity:0;width:0;height:0"><span class=slider style="display:inline-block;width:30px;height:16px;background:#ccc"></span></label><button>Send</button></form>`,
    fields: { Name: "Ann", "Notify me": true },
  },
  "box with its text beside it": {
    html: around(
      `<div class=row><div class=cb id=b style="width:16px;height:16px;border:1px solid;cursor:pointer"></div><span>Gift wrap</span></div>`,
      `v = { giftWrap: false }; b.onclick = () => { v.giftWrap = !v.giftWrap; b.classList.toggle("on") };`,
    ),
    fields: { ...NAME, "Gift wrap": true },
  },
  "multi-select with chips and a native list behind": {
    html: around(
      `<div class=field><label>Interests</label><div class=ms id=ms style="border:1px solid;cursor:pointer;min-height:20px">Pick some</div><div id=op hidden>${["Moss", "Ferns", "Roofs"].map((x) => `<label style="display:block"><input type=checkbox value=${x}> ${x}</label>`).join("")}</div></div>`,
      `v = []; ms.onclick = () => { op.hidden = !op.hidden }; op.onchange = () => { v = [...op.querySelectorAll(":checked")].map((x) => x.value); ms.textContent = v.join(", ") };`,
    ),
    fields: { ...NAME, Interests: ["Moss", "Roofs"] },
  },
  "time in two lists": {
    html: around(
      `<fieldset><legend>Pick-up time</legend><select aria-label=Hour id=h>${Array.from({ length: 24 }, (_, i) => `<option>${String(i).padStart(2, "0")}</option>`).join("")}</select>:<select aria-label=Minute id=mi><option>00</option><option>15</option><option>30</option><option>45</option></select></fieldset>`,
      `f.onchange = () => { v = { hour: +h.value, minute: +mi.value } };`,
    ),
    fields: { ...NAME, "Pick-up time": "14:30" },
  },
  "card with expiry": {
    html: `<form id=f><label>Card number <input name=c inputmode=numeric autocomplete=cc-number></label><label>Expiry <input name=e placeholder="MM/YY"></label><label>CVC <input name=v></label><button>Pay</button></form><script>f.c.oninput = () => { f.c.value = f.c.value.replace(/\\D/g, "").replace(/(.{4})(?=.)/g, "$1 ").slice(0, 19) }; f.e.oninput = () => { const d = f.e.value.replace(/\\D/g, "").slice(0, 4); f.e.value = d.length > 2 ? d.slice(0, 2) + "/" + d.slice(2) : d }; f.onsubmit = (e) => { e.preventDefault(); fetch("pay", { method: "POST", body: JSON.stringify({ card: { number: f.c.value.replace(/ /g, ""), exp_month: +f.e.value.slice(0, 2), exp_year: 2000 + +f.e.value.slice(3), cvc: f.v.value } }) }) }</script>`,
    fields: { "Card number": "4242424242424242", Expiry: "04/27", CVC: "123" },
  },
};
