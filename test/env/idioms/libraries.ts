import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";
import { type Idioms, json, page, redirect } from "./idiom.js";

const require = createRequire(import.meta.url);
const file = (path: string): string => readFileSync(require.resolve(path), "utf8");

/** A component of a page, and a form around it that posts the state `v` and a plain field as JSON. */
const around = (component: string, script: string, more = ""): string =>
  `<form id=f><label>Name <input name=n></label>${component}<button type=submit>Submit</button></form>${more}<script>let v; const $ = (s, e = document) => e.querySelector(s), $$ = (s, e = document) => [...e.querySelectorAll(s)]; ${script}
  f.addEventListener("submit", (e) => { e.preventDefault(); fetch("api", { method: "POST", body: JSON.stringify({ who: f.n.value, v }) }); });</script>`;
const NAME = { Name: "Ann" };
const days = (cell: string): string =>
  `Array.from({ length: new Date(Date.UTC(y, m + 1, 0)).getUTCDate() }, (_, i) => i + 1).map((d) => ${cell}).join("")`;
const MONTHS = `const MN = ["January","February","March","April","May","June","July","August","September","October","November","December"]; const iso = (y, m, d) => new Date(Date.UTC(y, m, d)).toISOString().slice(0, 10);`;

/** Components in the markup that well-known libraries make, and ways of sending that go with them. */
export const LIBRARIES: Idioms = {
  "select of Material UI": {
    html: around(
      `<div class="MuiFormControl-root"><label class="MuiInputLabel-root" id=l>Country</label><div class="MuiInputBase-root MuiSelect-root"><div tabindex=0 role=combobox aria-controls=:r1: aria-expanded=false aria-haspopup=listbox aria-labelledby="l s" id=s class="MuiSelect-select"><span class=notranslate>&#8203;</span></div><input id=h aria-hidden=true tabindex=-1 value="" style="position:absolute;opacity:0;bottom:0;left:0;width:100%"></div></div>`,
      `s.onmousedown = (e) => { if (e.button) return; e.preventDefault(); s.setAttribute("aria-expanded", true); const p = document.createElement("div"); p.setAttribute("role", "presentation"); p.style = "position:fixed;inset:0;z-index:1300"; p.innerHTML = '<div class=MuiBackdrop-root style="position:fixed;inset:0"></div><div style="position:absolute;top:60px;left:10px;background:#fff"><ul role=listbox id=:r1: tabindex=-1>' + [["se", "Sweden"], ["no", "Norway"], ["fi", "Finland"]].map(([k, t]) => '<li role=option tabindex=-1 aria-selected=false data-value=' + k + '>' + t + '</li>').join("") + "</ul></div>"; document.body.append(p); const shut = () => { p.remove(); s.setAttribute("aria-expanded", false); s.focus() }; p.firstChild.onclick = shut; for (const o of $$("li", p)) o.onclick = () => { v = o.dataset.value; h.value = v; s.textContent = o.textContent; shut() } };`,
    ),
    fields: { ...NAME, Country: "Norway" },
  },
  "autocomplete of several, Material UI": {
    html: around(
      `<div class="MuiAutocomplete-root"><div class="MuiTextField-root"><label for=a id=al>Topics</label><div class="MuiInputBase-root" id=box><input id=a role=combobox autocomplete=off aria-autocomplete=list aria-expanded=false autocapitalize=none spellcheck=false><div class=MuiAutocomplete-endAdornment><button type=button tabindex=-1 aria-label=Open id=o>v</button></div></div></div></div>`,
      `v = []; const all = ["Art", "Music", "Tax", "Trains"]; let pop; const draw = () => { for (const c of $$(".MuiChip-root")) c.remove(); a.before(...v.map((t) => { const c = document.createElement("div"); c.className = "MuiChip-root"; c.setAttribute("role", "button"); c.innerHTML = "<span>" + t + "</span>"; return c })) }; const shut = () => { pop?.remove(); pop = undefined; a.setAttribute("aria-expanded", false) }; const open = () => { pop?.remove(); pop = document.createElement("div"); pop.className = "MuiAutocomplete-popper"; pop.innerHTML = "<ul role=listbox id=lb>" + all.filter((t) => t.toLowerCase().includes(a.value.toLowerCase())).map((t) => '<li role=option aria-selected=' + v.includes(t) + '>' + t + '</li>').join("") + "</ul>"; document.body.append(pop); a.setAttribute("aria-expanded", true); a.setAttribute("aria-controls", "lb"); pop.onmousedown = (e) => e.preventDefault(); for (const li of $$("li", pop)) li.onclick = () => { const t = li.textContent; v = v.includes(t) ? v.filter((x) => x !== t) : [...v, t]; a.value = ""; draw(); shut() } }; box.onclick = (e) => { a.focus(); pop ? shut() : open() }; a.oninput = open; a.onblur = () => { shut(); a.value = "" };`,
    ),
    fields: { ...NAME, Topics: ["Tax", "Art"] },
  },
  "slider of Material UI": {
    html: around(
      `<div><span id=vl>Volume</span><span class="MuiSlider-root" style="display:block;width:200px;height:20px;position:relative"><span class=MuiSlider-rail></span><span class=MuiSlider-thumb style="position:absolute;left:30%;width:20px;height:20px"><input id=r type=range min=0 max=100 step=1 value=30 aria-labelledby=vl aria-valuenow=30 aria-orientation=horizontal style="border:0;clip:rect(0 0 0 0);height:100%;margin:-1px;overflow:hidden;padding:0;position:absolute;white-space:nowrap;width:100%"></span></span></div>`,
      `v = 30; r.oninput = () => { v = +r.value; r.setAttribute("aria-valuenow", v) };`,
    ),
    fields: { ...NAME, Volume: 72 },
  },
  "select of Ant Design": {
    html: around(
      `<div class="ant-form-item"><div class="ant-form-item-label"><label for=city>City</label></div><div class="ant-select ant-select-single ant-select-show-arrow" id=sel><div class=ant-select-selector style="position:relative;width:200px;height:30px"><span class=ant-select-selection-search><input id=city type=search autocomplete=off role=combobox aria-haspopup=listbox aria-owns=city_list aria-autocomplete=list aria-controls=city_list aria-expanded=false readonly unselectable=on style="opacity:0"></span><span class=ant-select-selection-placeholder style="pointer-events:none">Please select</span></div></div></div>`,
      `let pop; const shut = () => { pop?.remove(); pop = undefined; city.setAttribute("aria-expanded", false) }; $(".ant-select-selector").onmousedown = (e) => { e.preventDefault(); city.focus(); if (pop) return shut(); pop = document.createElement("div"); pop.className = "ant-select-dropdown"; const all = [["osl", "Oslo"], ["lnd", "Lund"], ["ber", "Bergen"]]; pop.innerHTML = '<div role=listbox id=city_list style="height:0;width:0;overflow:hidden">' + all.slice(0, 2).map(([k, t], i) => '<div role=option id=city_list_' + i + ' aria-label=' + t + ' aria-selected=false>' + k + '</div>').join("") + '</div><div class=rc-virtual-list>' + all.map(([k, t]) => '<div class="ant-select-item ant-select-item-option" title=' + t + ' data-k=' + k + '><div class=ant-select-item-option-content>' + t + '</div></div>').join("") + "</div>"; document.body.append(pop); city.setAttribute("aria-expanded", true); pop.onmousedown = (e) => e.preventDefault(); for (const o of $$(".ant-select-item", pop)) o.onclick = () => { v = { city: o.dataset.k }; $(".ant-select-selection-placeholder").outerHTML = '<span class=ant-select-selection-placeholder title=' + o.title + '>' + o.title + '</span>'; shut() } };`,
    ),
    fields: { ...NAME, City: "Bergen" },
  },
  "date picker of Ant Design": {
    html: around(
      `<div class=ant-form-item><label for=d>Arrival</label><div class=ant-picker><div class=ant-picker-input><input id=d placeholder="Select date" autocomplete=off size=12></div></div></div>`,
      `${MONTHS} let y = 2024, m = 4, pop; const draw = () => { pop.innerHTML = '<div class=ant-picker-header><button type=button class=ant-picker-header-super-prev-btn>&laquo;</button><button type=button class=ant-picker-header-prev-btn>&lsaquo;</button><div class=ant-picker-header-view><button type=button class=ant-picker-month-btn>' + MN[m].slice(0, 3) + '</button><button type=button class=ant-picker-year-btn>' + y + '</button></div><button type=button class=ant-picker-header-next-btn>&rsaquo;</button><button type=button class=ant-picker-header-super-next-btn>&raquo;</button></div><table class=ant-picker-content><tbody><tr>' + ${days(`'<td title="' + iso(y, m, d) + '" class="ant-picker-cell ant-picker-cell-in-view"><div class=ant-picker-cell-inner>' + d + '</div></td>' + (d % 7 ? '' : '</tr><tr>')`)} + "</tr></tbody></table>"; const go = (c, by) => { $(c, pop).onclick = () => { m += by; while (m > 11) { m -= 12; y++ } while (m < 0) { m += 12; y-- } draw() } }; go(".ant-picker-header-super-prev-btn", -12); go(".ant-picker-header-prev-btn", -1); go(".ant-picker-header-next-btn", 1); go(".ant-picker-header-super-next-btn", 12); for (const c of $$("td", pop)) c.onclick = () => { v = { at: c.title }; d.value = c.title; pop.remove(); pop = undefined; d.blur() } }; const open = () => { if (pop) return; pop = document.createElement("div"); pop.className = "ant-picker-dropdown"; pop.onmousedown = (e) => e.preventDefault(); document.body.append(pop); draw() }; d.onmousedown = open; d.onfocus = open; d.onblur = () => { if (/^\\d{4}-\\d\\d-\\d\\d$/.test(d.value) && v?.at === d.value) return; d.value = v?.at ?? ""; pop?.remove(); pop = undefined };`,
    ),
    fields: { ...NAME, Arrival: "2025-08-19" },
  },
  "cascader of Ant Design": {
    html: around(
      `<div class=ant-form-item><label for=c>Region</label><div class="ant-select ant-cascader"><div class=ant-select-selector><input id=c role=combobox readonly aria-expanded=false aria-haspopup=listbox placeholder="Please select"></div></div></div>`,
      `const tree = { Skane: ["Lund", "Malmo"], Uppland: ["Uppsala", "Enkoping"] }; let pop; const shut = () => { pop.remove(); pop = undefined; c.setAttribute("aria-expanded", false) }; c.onclick = () => { if (pop) return; pop = document.createElement("div"); pop.className = "ant-cascader-dropdown"; document.body.append(pop); c.setAttribute("aria-expanded", true); pop.innerHTML = "<ul class=ant-cascader-menu role=menu></ul>"; for (const k of Object.keys(tree)) { const li = document.createElement("li"); li.setAttribute("role", "menuitemcheckbox"); li.className = "ant-cascader-menu-item ant-cascader-menu-item-expand"; li.textContent = k; pop.firstChild.append(li); li.onclick = () => { pop.querySelectorAll("ul")[1]?.remove(); const ul = document.createElement("ul"); ul.className = "ant-cascader-menu"; ul.setAttribute("role", "menu"); for (const t of tree[k]) { const i = document.createElement("li"); i.setAttribute("role", "menuitemcheckbox"); i.className = "ant-cascader-menu-item"; i.textContent = t; i.onclick = () => { v = [k, t]; c.value = k + " / " + t; shut() }; ul.append(i) } pop.append(ul) } } };`,
    ),
    fields: { ...NAME, Region: "Uppland / Uppsala" },
  },
  "select of Radix": {
    html: around(
      `<label for=s>Plan</label><button type=button role=combobox id=s aria-controls=rc aria-expanded=false aria-autocomplete=none dir=ltr data-state=closed data-placeholder><span style="pointer-events:none">Choose a plan</span><span aria-hidden=true>v</span></button><select aria-hidden=true tabindex=-1 id=ns style="position:absolute;border:0;width:1px;height:1px;padding:0;margin:-1px;overflow:hidden;clip:rect(0,0,0,0)"><option value=""></option><option value=basic>Basic</option><option value=pro>Pro</option></select>`,
      `let pop, at = 0; const shut = () => { pop.remove(); pop = undefined; document.body.style.pointerEvents = ""; f.removeAttribute("aria-hidden"); s.setAttribute("aria-expanded", false) }; s.onpointerdown = (e) => { if (e.button || pop) return; e.preventDefault(); document.body.style.pointerEvents = "none"; f.setAttribute("aria-hidden", true); pop = document.createElement("div"); pop.style = "position:fixed;left:8px;top:8px;pointer-events:auto;background:#eee"; pop.innerHTML = '<div role=listbox id=rc data-state=open tabindex=-1>' + [["basic", "Basic"], ["pro", "Pro"]].map(([k, t]) => '<div role=option aria-selected=false data-state=unchecked tabindex=-1 data-k=' + k + ' data-radix-collection-item><span id=t-' + k + '>' + t + '</span></div>').join("") + "</div>"; document.body.append(pop); s.setAttribute("aria-expanded", true); for (const o of $$("[role=option]", pop)) { o.onpointermove = () => o.focus(); o.onpointerup = () => { if (document.activeElement !== o) return; v = ns.value = o.dataset.k; s.firstChild.textContent = o.textContent; shut() } } };`,
    ),
    fields: { ...NAME, Plan: "Pro" },
  },
  "toggle group of Radix": {
    html: around(
      `<div><span id=tl>Alignment</span><div role=group dir=ltr aria-labelledby=tl tabindex=0>${["Left", "Center", "Right"].map((t) => `<button type=button role=radio aria-checked=false data-state=off aria-label="${t} aligned" data-k=${t.toLowerCase()}><svg width=15 height=15></svg></button>`).join("")}</div></div>`,
      `for (const b of $$("[role=radio]")) b.onclick = () => { const on = b.dataset.state === "on"; for (const o of $$("[role=radio]")) { o.dataset.state = "off"; o.setAttribute("aria-checked", false) } if (!on) { b.dataset.state = "on"; b.setAttribute("aria-checked", true) } v = on ? "" : b.dataset.k };`,
    ),
    fields: { ...NAME, Alignment: "Center aligned" },
  },
  "radio group of Headless UI": {
    html: around(
      `<div role=radiogroup aria-labelledby=hl id=rg><label id=hl role=none>Server size</label><div role=none>${["Startup", "Business", "Enterprise"].map((t, i) => `<div role=radio aria-checked=false tabindex=${i ? -1 : 0} aria-labelledby=h${i} aria-describedby=d${i} data-k=${i + 1}><p id=h${i}>${t}</p><span id=d${i}><span>${(i + 1) * 6} cores</span></span></div>`).join("")}</div></div>`,
      `for (const o of $$("[role=radio]")) o.onclick = () => { for (const x of $$("[role=radio]")) { x.setAttribute("aria-checked", x === o); x.tabIndex = x === o ? 0 : -1 } v = { plan_id: +o.dataset.k } };`,
    ),
    fields: { ...NAME, "Server size": "Business" },
  },
  "combobox of Downshift": {
    html: around(
      `<label id=dl for=di>Element</label><div><input id=di aria-activedescendant="" aria-autocomplete=list aria-controls=dm aria-expanded=false aria-labelledby=dl autocomplete=off role=combobox value=""><button type=button aria-label="toggle menu" tabindex=-1 aria-controls=dm aria-expanded=false id=tg>v</button></div><ul id=dm role=listbox aria-labelledby=dl></ul>`,
      `const all = ["Neptunium", "Plutonium", "Americium", "Curium"]; let hi = -1; const shut = () => { dm.innerHTML = ""; di.setAttribute("aria-expanded", false) }; const draw = () => { dm.innerHTML = all.filter((t) => t.toLowerCase().startsWith(di.value.toLowerCase())).map((t, i) => "<li role=option id=dm-" + i + " aria-selected=" + (i === hi) + ">" + t + "</li>").join(""); di.setAttribute("aria-expanded", true); $$("li", dm).forEach((li, i) => { li.onmousemove = () => { hi = i; di.setAttribute("aria-activedescendant", "dm-" + i) }; li.onclick = () => { v = { symbol: li.textContent }; di.value = li.textContent; shut() } }) }; tg.onclick = () => { dm.innerHTML ? shut() : draw(); di.focus() }; di.oninput = draw; dm.onmousedown = (e) => e.preventDefault(); di.onblur = () => { shut(); if (di.value !== v?.symbol) di.value = v?.symbol ?? "" };`,
    ),
    fields: { ...NAME, Element: "Americium" },
  },
  "creatable react-select": {
    html: around(
      `<label for=rs>Tag</label><div class="css-b62m3t-container"><span id=live aria-live=polite class=a11yText></span><div class="select__control" id=ct style="border:1px solid;min-height:30px"><div class=select__value-container><div class=select__placeholder id=ph>Select...</div><div class=select__input-container data-value=""><input class=select__input id=rs autocapitalize=none autocomplete=off type=text aria-autocomplete=list aria-expanded=false aria-haspopup=true role=combobox style="opacity:1;width:60px;border:0"></div></div></div></div>`,
      `const all = ["red", "green"]; let menu; const shut = () => { menu?.remove(); menu = undefined; rs.setAttribute("aria-expanded", false) }; const pick = (t) => { v = { tag: t }; ph.textContent = t; rs.value = ""; shut() }; const draw = () => { menu?.remove(); menu = document.createElement("div"); menu.className = "select__menu"; const hits = all.filter((t) => t.includes(rs.value)); const rows = hits.map((t) => [t, t]); if (rs.value && !all.includes(rs.value)) rows.push(['Create "' + rs.value + '"', rs.value]); menu.innerHTML = '<div class=select__menu-list role=listbox id=ml></div>'; for (const [t, k] of rows) { const o = document.createElement("div"); o.className = "select__option"; o.setAttribute("role", "option"); o.textContent = t; o.onclick = () => pick(k); menu.firstChild.append(o) } ct.after(menu); menu.onmousedown = (e) => e.preventDefault(); rs.setAttribute("aria-expanded", true); rs.setAttribute("aria-controls", "ml") }; ct.onmousedown = (e) => { if (e.target !== rs) e.preventDefault(); rs.focus(); menu ? shut() : draw() }; rs.oninput = draw; rs.onkeydown = (e) => { if (e.key === "Enter" && menu) { e.preventDefault(); if (rs.value) pick(rs.value) } if (e.key === "Escape") shut() }; rs.onblur = () => { rs.value = ""; shut() };`,
    ),
    fields: { ...NAME, Tag: "blue" },
  },
  "select of Angular Material": {
    html: around(
      `<mat-form-field><div><label id=ml>Food</label><mat-select role=combobox aria-haspopup=listbox tabindex=0 aria-labelledby=ml aria-expanded=false id=ms style="display:block;width:200px;min-height:24px"><div class=mat-mdc-select-trigger><div class=mat-mdc-select-value><span class=mat-mdc-select-placeholder></span></div></div></mat-select></div></mat-form-field>`,
      `ms.onclick = () => { if ($(".cdk-overlay-container")) return; const p = document.createElement("div"); p.className = "cdk-overlay-container"; p.innerHTML = '<div class=cdk-overlay-backdrop style="position:fixed;inset:0;z-index:9"></div><div style="position:fixed;top:90px;left:8px;z-index:10;background:#fff"><div role=listbox id=mp aria-labelledby=ml>' + ["Steak", "Pizza", "Tacos"].map((t, i) => '<mat-option role=option aria-selected=false id=mo' + i + ' tabindex=0 style="display:block"><span class=mdc-list-item__primary-text> ' + t + ' </span></mat-option>').join("") + "</div></div>"; document.body.append(p); ms.setAttribute("aria-expanded", true); ms.setAttribute("aria-controls", "mp"); const shut = () => { setTimeout(() => p.remove(), 80); ms.setAttribute("aria-expanded", false) }; p.firstChild.onclick = shut; for (const o of $$("mat-option", p)) o.onclick = () => { v = { food: o.id.at(-1) }; $(".mat-mdc-select-placeholder").textContent = o.textContent.trim(); shut() } };`,
    ),
    fields: { ...NAME, Food: "Tacos" },
  },
  "select and spinner of jQuery UI": {
    html: around(
      `<label for=sp>Speed</label><select id=sp style="display:none"><option value=1>Slow</option><option value=2 selected>Medium</option><option value=3>Fast</option></select><span tabindex=0 id=sb role=combobox aria-expanded=false aria-autocomplete=list aria-owns=sm aria-haspopup=true class=ui-selectmenu-button><span class=ui-selectmenu-text>Medium</span></span><br><label for=ct>Copies</label><span class="ui-spinner ui-widget"><input id=ct value=1 autocomplete=off role=spinbutton aria-valuenow=1 class=ui-spinner-input><a tabindex=-1 aria-hidden=true class="ui-spinner-button ui-spinner-up ui-button" role=button style="display:inline-block;width:9px;height:9px"></a><a tabindex=-1 aria-hidden=true class="ui-spinner-button ui-spinner-down ui-button" role=button style="display:inline-block;width:9px;height:9px"></a></span>`,
      `v = { speed: 2, copies: 1 }; const m = document.createElement("div"); m.className = "ui-selectmenu-menu"; m.style = "display:none;position:absolute;top:0;left:300px"; m.innerHTML = '<ul role=listbox id=sm aria-hidden=true tabindex=0>' + [...sp.options].map((o, i) => '<li class=ui-menu-item><div id=ui-' + i + ' tabindex=-1 role=option class=ui-menu-item-wrapper>' + o.text + '</div></li>').join("") + "</ul>"; document.body.append(m); sb.onclick = () => { m.style.display = m.style.display === "none" ? "" : "none"; sb.setAttribute("aria-expanded", m.style.display === "") }; $$("[role=option]", m).forEach((o, i) => { o.onclick = () => { sp.selectedIndex = i; v.speed = +sp.value; sb.firstChild.textContent = o.textContent; m.style.display = "none"; sb.setAttribute("aria-expanded", false) } }); const set = (x) => { v.copies = x; ct.value = x; ct.setAttribute("aria-valuenow", x) }; $(".ui-spinner-up").onmousedown = () => set(v.copies + 1); $(".ui-spinner-down").onmousedown = () => set(v.copies - 1); ct.onblur = () => set(+ct.value || 1);`,
    ),
    fields: { ...NAME, Speed: "Fast", Copies: 3 },
  },
  "Tom Select over a native list": {
    html: `<form method=post action=send><label>Name <input name=n></label><label for=st-ts-control id=stl>State</label><select id=st name=state class=tomselected tabindex=-1 style="clip:rect(0 0 0 0);height:1px;overflow:hidden;padding:0;position:absolute;width:1px"><option value=""></option><option value=CA>California</option><option value=WY>Wyoming</option></select><div class="ts-wrapper single"><div class=ts-control id=tc style="border:1px solid;min-height:24px"><input type=text autocomplete=off size=1 tabindex=0 role=combobox aria-haspopup=listbox aria-expanded=false aria-controls=st-dd id=st-ts-control></div><div class="ts-dropdown single" id=dd style="display:none"><div role=listbox tabindex=-1 id=st-dd aria-labelledby=stl><div data-selectable data-value=CA class=option role=option>California</div><div data-selectable data-value=WY class=option role=option>Wyoming</div></div></div></div><button>Send</button></form><script>const i = document.querySelector("#st-ts-control"), dd = document.querySelector("#dd"), st = document.querySelector("#st"); document.querySelector("#tc").onmousedown = (e) => { setTimeout(() => i.focus()); dd.style.display = ""; i.setAttribute("aria-expanded", true) }; for (const o of dd.querySelectorAll(".option")) o.onclick = () => { st.value = o.dataset.value; st.dispatchEvent(new Event("change")); const it = document.createElement("div"); it.className = "item"; it.textContent = o.textContent; i.before(it); dd.style.display = "none"; i.setAttribute("aria-expanded", false) }; dd.onmousedown = (e) => e.preventDefault();</script>`,
    fields: { ...NAME, State: "Wyoming" },
  },
  "flatpickr itself": {
    html: `<style>${file("flatpickr/dist/flatpickr.min.css")}</style><script src=flatpickr.js></script>${around(
      `<label for=d>Check-in</label><input id=d class=flatpickr-input>`,
      `v = {}; flatpickr("#d", { defaultDate: "2024-05-01", onChange: (_, text) => { v.date = text } });`,
    )}`,
    more: { "flatpickr.js": file("flatpickr/dist/flatpickr.min.js") },
    fields: { ...NAME, "Check-in": "2025-02-14" },
  },
  "flatpickr with another notation and a time": {
    html: `<style>${file("flatpickr/dist/flatpickr.min.css")}</style><script src=flatpickr.js></script><form method=post action=send><label>Name <input name=n></label><label>Arrival <input id=d name=d></label><label>Time <input id=t name=t></label><button>Send</button></form><script>flatpickr("#d", { altInput: true, altFormat: "F j, Y", dateFormat: "Y-m-d", defaultDate: "2024-11-05" }); flatpickr("#t", { enableTime: true, noCalendar: true, time_24hr: true, dateFormat: "H:i", defaultDate: "09:00" });</script>`,
    more: { "flatpickr.js": file("flatpickr/dist/flatpickr.min.js") },
    fields: { ...NAME, Arrival: "2024-12-24", Time: "14:35" },
  },
  "calendar of react-day-picker": {
    html: around(
      `<div><div id=cl>Delivery day</div><div class=rdp-root data-mode=single id=cal></div></div>`,
      `${MONTHS} let y = 2024, m = 4; const WD = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]; const draw = () => { cal.innerHTML = '<nav aria-label=""><button type=button aria-label="Go to the Previous Month"><svg width=9></svg></button><button type=button aria-label="Go to the Next Month"><svg width=9></svg></button></nav><div><span role=status aria-live=polite>' + MN[m] + " " + y + '</span><table role=grid aria-multiselectable=false aria-label="' + MN[m] + " " + y + '"><tbody><tr>' + ${days(`'<td role=gridcell data-day="' + iso(y, m, d) + '"><button type=button tabindex=-1 aria-label="' + WD[new Date(Date.UTC(y, m, d)).getUTCDay()] + ", " + MN[m] + " " + d + 'th, ' + y + '">' + d + '</button></td>' + (d % 7 ? '' : '</tr><tr>')`)} + "</tr></tbody></table></div>"; const [p, n] = $$("nav button", cal); p.onclick = () => { if (--m < 0) { m = 11; y-- } draw() }; n.onclick = () => { if (++m > 11) { m = 0; y++ } draw() }; for (const b of $$("td button", cal)) b.onclick = () => { v = { day: b.parentElement.dataset.day }; for (const o of $$("td", cal)) o.removeAttribute("aria-selected"); b.parentElement.setAttribute("aria-selected", true) } }; draw();`,
    ),
    fields: { ...NAME, "Delivery day": "2024-07-09" },
  },
  "react-datepicker": {
    html: around(
      `<div class=form-group><label for=rd>Due date</label><div class=react-datepicker-wrapper><div class=react-datepicker__input-container><input id=rd class=form-control placeholder="Click to select a date" autocomplete=off></div></div></div>`,
      `${MONTHS} let y = 2024, m = 4, pop; const us = (y, m, d) => String(m + 1).padStart(2, "0") + "/" + String(d).padStart(2, "0") + "/" + y; const shut = () => { pop?.remove(); pop = undefined }; const draw = () => { pop.innerHTML = '<div class=react-datepicker role=dialog aria-label="Choose Date" aria-modal=true><button type=button class="react-datepicker__navigation react-datepicker__navigation--previous" aria-label="Previous Month"></button><button type=button class="react-datepicker__navigation react-datepicker__navigation--next" aria-label="Next Month"></button><h2 class=react-datepicker__current-month>' + MN[m] + " " + y + '</h2><div class=react-datepicker__month role=listbox aria-label="Month ' + MN[m] + ", " + y + '">' + ${days(`'<div class="react-datepicker__day react-datepicker__day--0' + String(d).padStart(2, "0") + '" tabindex=-1 role=option aria-label="Choose ' + MN[m] + " " + d + ", " + y + '" style="display:inline-block;width:24px">' + d + '</div>'`)} + "</div></div>"; const [p, n] = $$("button", pop); p.onclick = () => { if (--m < 0) { m = 11; y-- } draw() }; n.onclick = () => { if (++m > 11) { m = 0; y++ } draw() }; for (const o of $$("[role=option]", pop)) o.onclick = () => { v = { due: iso(y, m, +o.textContent) + "T00:00:00.000Z" }; rd.value = us(y, m, +o.textContent); shut() } }; rd.onfocus = rd.onclick = () => { if (pop) return; pop = document.createElement("div"); pop.className = "react-datepicker-popper"; rd.parentElement.after(pop); draw() }; rd.oninput = () => { const g = /^(\\d\\d)\\/(\\d\\d)\\/(\\d{4})$/.exec(rd.value); if (g) { v = { due: g[3] + "-" + g[1] + "-" + g[2] + "T00:00:00.000Z" }; y = +g[3]; m = g[1] - 1; if (pop) draw() } }; rd.onblur = (e) => setTimeout(() => { if (v) { const [a, b, c] = v.due.slice(0, 10).split("-"); rd.value = b + "/" + c + "/" + a } else rd.value = ""; if (!pop?.contains(document.activeElement)) shut() }, 50);`,
    ),
    fields: { ...NAME, "Due date": "2024-06-21" },
  },
  "select of Element Plus": {
    html: around(
      `<div class=el-form-item><label class=el-form-item__label for=el>Zone</label><div class=el-form-item__content><div class=el-select><div class=el-select__wrapper tabindex=-1 id=ew style="border:1px solid"><div class=el-select__selection><div class="el-select__selected-item el-select__input-wrapper"><input id=el class=el-select__input role=combobox readonly spellcheck=false aria-controls=ed aria-expanded=false aria-autocomplete=none aria-haspopup=listbox style="min-width:11px;opacity:0;position:absolute"></div><div class="el-select__selected-item el-select__placeholder" style="pointer-events:none"><span>Activity zone</span></div></div></div></div></div></div>`,
      `const pop = document.createElement("div"); pop.className = "el-popper"; pop.style = "display:none;position:absolute;top:120px;left:8px"; pop.setAttribute("aria-hidden", true); pop.innerHTML = '<ul class=el-select-dropdown__list role=listbox id=ed>' + ["Zone one", "Zone two"].map((t, i) => '<li class=el-select-dropdown__item role=option aria-selected=false id=ei' + i + '><span>' + t + '</span></li>').join("") + "</ul>"; document.body.append(pop); const show = (on) => { pop.style.display = on ? "" : "none"; pop.setAttribute("aria-hidden", !on); el.setAttribute("aria-expanded", on) }; ew.onclick = () => { el.focus(); show(pop.style.display === "none") }; $$("li", pop).forEach((li, i) => { li.onclick = (e) => { e.stopPropagation(); v = { region: ["shanghai", "beijing"][i] }; $(".el-select__placeholder span").textContent = li.textContent; show(false) } });`,
    ),
    fields: { ...NAME, Zone: "Zone two" },
  },
  "dialog whose form closes it": {
    html: `<button id=o>Edit profile</button><p id=s></p><dialog id=d><form method=dialog id=f><label>City <input id=c></label><label><input type=checkbox id=k> Public</label><button value=cancel>Cancel</button><button value=ok>Save</button></form></dialog><script>o.onclick = () => d.showModal(); d.onclose = () => { if (d.returnValue !== "ok") return; fetch("profile", { method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify({ city: c.value, public: k.checked }) }).then((r) => { s.textContent = r.ok ? "Saved" : "Failed" }) }</script>`,
    fields: { City: "Lund", Public: true },
  },
  "answer that sets a cookie, and a page that needs it": {
    html: `<form method=post action=order><label>Name <input name=n></label><button>Send</button></form>`,
    fields: NAME,
    answer: ({ path, method, cookie }, response) => {
      if (path === "order" && method === "POST") {
        response.setHeader("set-cookie", ["flash=done; HttpOnly; Path=/", "seen=1; Path=/"]);
        return redirect(response, "receipt");
      }
      if (path !== "receipt") return undefined;
      return /flash=done/.test(cookie ?? "") && /seen=1/.test(cookie ?? "")
        ? page(response, "<h1>Thank you</h1>")
        : redirect(response, "/login");
    },
  },
  "answer that is compressed, and says no": {
    html: around("", ""),
    fields: NAME,
    accepted: false,
    answer: ({ method }, response) => {
      if (method !== "POST") return undefined;
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
      response.end(gzipSync('{"success":false,"errors":["taken"]}'));
      return true;
    },
  },
  "answer as a stream of events": {
    html: `<form id=f><label>Name <input name=n></label><button>Send</button><p id=s></p></form><script>f.onsubmit = async (e) => { e.preventDefault(); const r = await fetch("run", { method: "POST", body: new FormData(f) }); for await (const c of r.body.pipeThrough(new TextDecoderStream())) if (/done/.test(c)) s.textContent = "Thank you"; }</script>`,
    fields: NAME,
    answer: ({ path }, response) => {
      if (path !== "run") return undefined;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"state":"running"}\n\n');
      response.end('data: {"state":"done"}\n\n');
      return true;
    },
  },
  "loader and action of one address": {
    html: `<form id=f><label>Name <input name=n></label><label>Mail <input name=m type=email></label><button name=_action value=create>Create</button></form><script>fetch("?_data=loader"); f.onsubmit = async (e) => { e.preventDefault(); const d = new FormData(f, e.submitter); const r = await fetch("?_data=action", { method: "POST", body: new URLSearchParams(d) }); const to = r.headers.get("x-redirect"); if (to) { history.pushState({}, "", to); document.body.innerHTML = "<h1>Created</h1>" } }</script>`,
    fields: { Name: "Ann", Mail: "ann@post.example" },
    answer: ({ method }, response) => {
      if (method !== "POST") return undefined;
      response.writeHead(204, { "x-redirect": "done" }).end();
      return true;
    },
  },
  "values added as the form is sent": {
    html: `<form id=f method=post action=send><label>Name <input name=n></label><label>Town <input id=t></label><button>Send</button></form><script>f.addEventListener("formdata", (e) => { e.formData.append("address[town]", t.value); e.formData.append("ts", Date.now()) })</script>`,
    fields: { Name: "Ann", Town: "Lund" },
  },
  "sent, and gone at once": {
    html: `<form id=f><label>Name <input name=n></label><button>Send</button></form><script>f.onsubmit = (e) => { e.preventDefault(); fetch("api", { method: "POST", keepalive: true, headers: { "content-type": "application/json" }, body: JSON.stringify({ n: f.n.value }) }); location.assign("done") }</script>`,
    fields: NAME,
    more: { done: "<h1>Thank you</h1>" },
  },
  "rows of a table that can be edited": {
    html: `<table><thead><tr><th>Item</th><th>Amount</th></tr></thead><tbody><tr><td contenteditable=true aria-label="Item" id=a>Bread</td><td contenteditable=true aria-label="Amount" id=b>1</td></tr></tbody></table><button id=s>Save changes</button><script>s.onclick = () => fetch("rows/1", { method: "PATCH", body: JSON.stringify({ item: a.textContent, amount: +b.textContent }) })</script>`,
    fields: { Item: "Rye bread", Amount: 12 },
  },
  "the server says no by a header": {
    html: `<form id=f><label>Name <input name=n></label><button>Send</button></form><p role=alert id=s></p><script>f.onsubmit = async (e) => { e.preventDefault(); const r = await fetch("api", { method: "POST", body: JSON.stringify({ n: f.n.value }) }); s.textContent = r.headers.get("x-error") ?? "" }</script>`,
    fields: NAME,
    accepted: false,
    answer: ({ method }, response) => {
      if (method !== "POST") return undefined;
      response.setHeader("x-error", "The name is taken");
      return json(response, {});
    },
  },
};
