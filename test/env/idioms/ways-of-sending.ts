import { type Idioms, json, page, redirect, text } from "./idiom.js";

const FIELDS = { Name: "Ann Lee", Age: "41" };
const FORM = `<form id=f method=post action=send><label>Name <input name=n></label><label>Age <input name=a></label><button>Submit</button></form>`;
const onSubmit = (script: string, form = FORM): string =>
  `${form}<script>f.addEventListener("submit", async (e) => { e.preventDefault(); const d = Object.fromEntries(new FormData(f)); ${script} })</script>`;
const POST = `fetch("api", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(d) })`;
const THANKS = "<h1>Thank you</h1>";

/** Further ways in which a form is sent: what its values become, what the page does before, and what leads to it. */
export const WAYS: Idioms = {
  "chain of redirects": {
    html: FORM,
    fields: FIELDS,
    answer: (r, s) =>
      r.path === "send"
        ? redirect(s, "two", 302)
        : r.path === "two"
          ? redirect(s, "three", 303)
          : r.path === "three"
            ? redirect(s, "done", 302)
            : false,
    more: { done: THANKS },
  },
  "redirect that keeps the method": {
    html: FORM,
    fields: FIELDS,
    answer: (r, s) =>
      r.path === "send" ? redirect(s, "v2/send", 307) : r.path === "v2/send" ? page(s, THANKS) : false,
  },
  "answered with 204": {
    html: FORM,
    fields: FIELDS,
    answer: (r, s) => {
      if (r.method !== "POST") return false;
      s.writeHead(204).end();
      return true;
    },
  },
  "answered with a file": {
    html: FORM,
    fields: FIELDS,
    answer: (r, s) =>
      r.method === "POST" &&
      text(s, "%PDF-1.4 ticket", "application/pdf", { "content-disposition": "attachment; filename=ticket.pdf" }),
  },
  "answered with bare OK": { html: FORM, fields: FIELDS, answer: (r, s) => r.method === "POST" && text(s, "OK") },
  "answered with nothing": {
    html: FORM,
    fields: FIELDS,
    answer: (r, s) => r.method === "POST" && text(s, "", "text/html"),
  },
  "beacon when the page is left": {
    html: onSubmit(
      `addEventListener("pagehide", () => navigator.sendBeacon("api/answers", JSON.stringify(d))); location.href = "thanks";`,
    ),
    more: { thanks: THANKS },
    fields: FIELDS,
  },
  "kept in the session, sent from the review page": {
    html: onSubmit(
      `sessionStorage.draft = JSON.stringify(d); location.href = "review";`,
      FORM.replace("Submit", "Continue"),
    ),
    fields: FIELDS,
    more: {
      review: `<h1>Review your answers</h1><dl id=l></dl><button id=go>Confirm and send</button><script>const d = JSON.parse(sessionStorage.draft); l.textContent = d.n + ", " + d.a; go.onclick = () => fetch("api", { method: "POST", body: JSON.stringify(d) }).then(() => { document.body.innerHTML = "<h1>Thanks</h1>" })</script>`,
    },
  },
  "kept in the session, the second page sends": {
    html: onSubmit(
      `sessionStorage.n = d.n; location.href = "two";`,
      `<form id=f><label>Name <input name=n></label><button>Next</button></form>`,
    ),
    fields: FIELDS,
    more: {
      two: `<form id=g><label>Age <input name=a></label><button>Finish</button></form><script>g.onsubmit = (e) => { e.preventDefault(); fetch("api", { method: "POST", body: JSON.stringify({ name: sessionStorage.n, age: g.a.value }) }) }</script>`,
    },
  },
  "hash routes": {
    html: `<nav><a href="#/">Home</a> <a href="#/form">Form</a></nav><div id=app></div><script>const draw = () => { app.innerHTML = location.hash === "#/form" ? ${JSON.stringify(FORM.replace("action=send", ""))} : location.hash === "#/done" ? "<h1>Thanks</h1>" : "<h1>Welcome</h1><p>Choose something.</p>"; const f = document.getElementById("f"); if (f) f.onsubmit = async (e) => { e.preventDefault(); await fetch("api", { method: "POST", body: JSON.stringify({ name: f.n.value, age: f.a.value }) }); location.hash = "#/done"; }; }; onhashchange = draw; draw();</script>`,
    fields: FIELDS,
  },
  "history routes": {
    html: `<div id=app>${FORM}</div><script>f.onsubmit = async (e) => { e.preventDefault(); await fetch("api", { method: "POST", body: new FormData(f) }); history.pushState({}, "", "done"); app.innerHTML = "<h2>Your request was sent</h2>"; }</script>`,
    fields: FIELDS,
  },
  "service worker is registered": {
    html: `<script>navigator.serviceWorker?.register("sw.js").then((r) => r.update());</script>${onSubmit(POST)}`,
    more: { "sw.js": "onfetch = () => {}" },
    fields: FIELDS,
  },
  "honeypot of the same label": {
    html: `<form id=f method=post action=send><div style="position:absolute;left:-9999px"><label for=h>Name</label><input id=h name=name tabindex=-1 autocomplete=off></div><label for=r>Name</label><input id=r name=real><label>Age <input name=a></label><button>Submit</button></form>`,
    fields: FIELDS,
    answer: (r, s) =>
      r.method === "POST" && (/(?:^|&)name=[^&]/.test(r.body) ? json(s, { ok: false }) : json(s, { ok: true })),
  },
  "JSONP as mailing lists do": {
    html: onSubmit(
      `window.cb = (x) => { f.outerHTML = "<p>" + x.msg + "</p>" }; const s = document.createElement("script"); s.src = "subscribe/post-json?" + new URLSearchParams({ ...d, c: "cb" }); document.body.append(s);`,
    ),
    fields: FIELDS,
    answer: (r, s) =>
      r.path.startsWith("subscribe") &&
      text(s, `cb({"result":"success","msg":"Thank you for subscribing!"})`, "text/javascript"),
  },
  "image request": {
    html: onSubmit(`new Image().src = "save.gif?" + new URLSearchParams(d); f.outerHTML = "<p>Saved, thank you.</p>";`),
    fields: FIELDS,
    answer: (r, s) => r.path === "save.gif" && text(s, "", "image/gif"),
  },
  "login form at /login": {
    html: `<h1>Log in</h1><form method=post action="login"><label>User name <input name=u></label><label>Password <input type=password name=p></label><button>Log in</button></form>`,
    fields: { "User name": "ann", Password: "moss-7" },
    answer: (r, s) =>
      r.method === "POST" && page(s, "<title>Dashboard</title><h1>Hello Ann</h1><a href=logout>Log out</a>"),
  },
  "sign-up below /auth": {
    html: `<h1>Create account</h1><form id=f><label>E-mail <input name=e type=email></label><label>Password <input type=password name=p></label><button>Create account</button></form><script>f.onsubmit = async (e) => { e.preventDefault(); const r = await fetch("auth/register", { method: "POST", body: JSON.stringify(Object.fromEntries(new FormData(f))) }); if (r.ok) f.outerHTML = "<p>Check your inbox to verify your address.</p>" }</script>`,
    fields: { "E-mail": "ann@post.example", Password: "moss-7" },
    answer: (r, s) => r.method === "POST" && json(s, { user: { id: 3 } }, 201),
  },
  "login answered with a redirect": {
    html: `<form method=post action="sessions"><label>User name <input name=u></label><label>Password <input type=password name=p></label><button>Sign in</button></form>`,
    fields: { "User name": "ann", Password: "moss-7" },
    answer: (r, s) => r.method === "POST" && redirect(s, "dashboard", 302),
    more: { dashboard: "<h1>Your projects</h1>" },
  },
  "Enter without a form": {
    html: `<label>Task <input id=t></label><ul id=l></ul><script>t.onkeydown = async (e) => { if (e.key === "Enter") { const r = await fetch("todos", { method: "POST", body: JSON.stringify({ title: t.value, completed: false }) }); l.innerHTML += "<li>" + t.value; t.value = ""; } }</script>`,
    fields: { Task: "Buy moss" },
  },
  "search form": {
    html: `<header><a href=home>Home</a></header><form action=search><label>Keywords <input name=q></label><label>Category <select name=c><option value="">All</option><option value=3>Books</option></select></label><button>Search</button></form>`,
    more: { search: "<h1>12 results</h1>" },
    fields: { Keywords: "stone walls", Category: "Books" },
  },
  "button in German": {
    html: `<div id=f><label>Vorname <input id=a></label><label>Nachname <input id=b></label></div><p><button type=button id=back>Abbrechen</button> <button type=button id=go>Absenden</button></p><script>go.onclick = () => fetch("api", { method: "POST", body: JSON.stringify({ vorname: a.value, nachname: b.value }) })</script>`,
    fields: { Vorname: "Ann", Nachname: "Lee" },
  },
  "icon button": {
    html: `<div class=composer><textarea id=m placeholder="Write a message"></textarea><button type=button id=go aria-label=Send><svg width=20 height=20><path d="M0 0h9v9z"/></svg></button></div><script>go.onclick = () => fetch("messages", { method: "POST", body: JSON.stringify({ text: m.value }) })</script>`,
    fields: { "Write a message": "See you on Friday" },
  },
  "icon button without a name": {
    html: `<div class=composer><textarea id=m placeholder="Write a message"></textarea><button type=button id=go><svg width=20 height=20><path d="M0 0h9v9z"/></svg></button></div><script>go.onclick = () => fetch("messages", { method: "POST", body: JSON.stringify({ text: m.value }) })</script>`,
    fields: { "Write a message": "See you on Friday" },
  },
  "preview before publish": {
    html: `<form method=post action=send><label>Title <input name=t></label><label>Body <textarea name=b></textarea></label><button name=do value=preview>Preview</button><button name=do value=publish>Publish</button></form>`,
    fields: { Title: "Moss", Body: "About moss." },
    answer: (r, s) =>
      r.method === "POST" && (/publish/.test(r.body) ? redirect(s, "posted") : page(s, "<h1>Preview</h1>")),
    more: { posted: "<h1>Moss</h1><p>Published just now</p>" },
  },
  "coupon beside the order": {
    html: `<form method=post action=order id=f><label>Full name <input name=n></label><label>Street <input name=s></label><p><label>Coupon <input name=c></label> <button type=button onclick='fetch("coupon", { method: "POST", body: f.c.value })'>Apply</button></p><button>Place order</button></form>`,
    fields: { "Full name": "Ann Lee", Street: "Moss Lane 3" },
    answer: (r, s) => r.method === "POST" && r.path === "order" && page(s, "<h1>Order received</h1>"),
  },
  "coupon that submits beside the order": {
    html: `<form method=post action=order id=f><label>Full name <input name=n></label><label>Street <input name=s></label><p><label>Coupon <input name=c></label> <button name=apply value=1>Apply</button></p><button name=order value=1>Place order</button></form>`,
    fields: { "Full name": "Ann Lee", Street: "Moss Lane 3" },
    answer: (r, s) =>
      r.method === "POST" &&
      (/apply=1/.test(r.body)
        ? page(s, "<p class=error>This coupon is not valid</p>")
        : page(s, "<h1>Order received</h1>")),
  },
  "full name sent in two": {
    html: onSubmit(
      `const [first, ...rest] = d.n.split(" "); fetch("api", { method: "POST", body: JSON.stringify({ firstName: first, lastName: rest.join(" "), age: +d.a }) })`,
    ),
    fields: FIELDS,
  },
  "two names sent as one": {
    html: `<form id=f><label>First name <input name=x></label><label>Last name <input name=y></label><label>City <input name=z></label><button>Send</button></form><script>f.onsubmit = (e) => { e.preventDefault(); fetch("api", { method: "POST", body: JSON.stringify({ name: f.x.value + " " + f.y.value, city: f.z.value }) }) }</script>`,
    fields: { "First name": "Ann", "Last name": "Lee", City: "Lund" },
  },
  "date and time sent as one moment": {
    html: `<form id=f><label>Date <input type=date name=d></label><label>Time <input type=time name=t></label><label>Topic <input name=s></label><button>Book</button></form><script>f.onsubmit = (e) => { e.preventDefault(); fetch("api", { method: "POST", body: JSON.stringify({ startsAt: f.d.value + "T" + f.t.value + ":00.000Z", topic: f.s.value }) }) }</script>`,
    fields: { Date: "2024-04-17", Time: "14:30", Topic: "Moss" },
  },
  "code and number sent as one": {
    html: `<form id=f><label>Country code <select name=c><option value="+1">US +1</option><option value="+46">Sweden +46</option></select></label><label>Phone <input type=tel name=t></label><button>Send</button></form><script>f.onsubmit = (e) => { e.preventDefault(); fetch("api", { method: "POST", body: JSON.stringify({ phone: f.c.value + f.t.value }) }) }</script>`,
    fields: { "Country code": "Sweden +46", Phone: "701234567" },
  },
  "price in cents": {
    html: `<form id=f><label>Product <input name=n></label><label>Price <input name=p inputmode=decimal></label><button>Save</button></form><script>f.p.onblur = () => { f.p.value = "$" + Number(f.p.value.replace(/[$,]/g, "")).toLocaleString("en-US", { minimumFractionDigits: 2 }) }; f.onsubmit = (e) => { e.preventDefault(); fetch("api", { method: "POST", body: JSON.stringify({ title: f.n.value, priceCents: Math.round(100 * Number(f.p.value.replace(/[$,]/g, ""))) }) }) }</script>`,
    fields: { Product: "Lamp", Price: "1234.50" },
  },
  "currency format": {
    html: `<form id=f method=post action=send><label>Product <input name=n></label><label>Price <input name=p></label><button>Save</button></form><script>f.p.oninput = () => { const x = f.p.value.replace(/[^\\d.]/g, ""); f.p.value = x === "" ? "" : "$" + Number(x.split(".")[0]).toLocaleString("en-US") + (x.includes(".") ? "." + x.split(".")[1] : ""); }</script>`,
    fields: { Product: "Lamp", Price: "1234.50" },
  },
  "native inputs of time": {
    html: `<form method=post action=send><label>Month <input type=month name=m></label><label>Week <input type=week name=w></label><label>Start <input type=datetime-local name=s></label><label>Colour <input type=color name=c></label><label>At <input type=time name=t></label><button>Save</button></form>`,
    fields: { Month: "2024-03", Week: "2024-W15", Start: "2024-03-05T14:30", Colour: "#ff8800", At: "09:15" },
  },
  "native inputs of time with a script": {
    html: `<form id=f method=post action=send><label>Month <input type=month name=m></label><label>Week <input type=week name=w></label><label>Start <input type=datetime-local name=s></label><label>Colour <input type=color name=c></label><label>At <input type=time name=t></label><button>Save</button></form><script>const m = {}; f.addEventListener("input", (e) => { m[e.target.name] = e.target.value }); f.onsubmit = (e) => { e.preventDefault(); fetch("api", { method: "POST", body: JSON.stringify(m) }) }</script>`,
    fields: { Month: "2024-03", Week: "2024-W15", Start: "2024-03-05T14:30", Colour: "#ff8800", At: "09:15" },
  },
  "select of several": {
    html: `<form method=post action=send><label>Name <input name=n></label><label>Topics <select multiple name="t[]"><optgroup label=Garden><option value=1>Moss</option><option value=2>Ferns</option></optgroup><optgroup label=House><option value=3>Roofs</option></optgroup></select></label><button>Send</button></form>`,
    fields: { Name: "Ann", Topics: ["Moss", "Roofs"] },
  },
  "nested shadow form element": {
    html: `<form id=f method=post action=send><my-field name=n label=Name></my-field><my-field name=a label=Age></my-field><button>Submit</button></form><script>customElements.define("my-field", class extends HTMLElement { static formAssociated = true; constructor() { super(); this.i = this.attachInternals(); const r = this.attachShadow({ mode: "open" }); r.innerHTML = "<label>" + this.getAttribute("label") + " <input></label>"; r.querySelector("input").oninput = (e) => this.i.setFormValue(e.target.value); } })</script>`,
    fields: FIELDS,
  },
  "fields outside of their form": {
    html: `<form id=f method=post action=send></form><table><tr><td>Name</td><td><input form=f name=n></td></tr><tr><td>Age</td><td><input form=f name=a></td></tr></table><button form=f>Save</button>`,
    fields: FIELDS,
  },
  "fields in a frame, button outside": {
    html: `<iframe id=i src=inner width=400 height=200></iframe><button id=go>Submit</button><script>go.onclick = () => { const d = i.contentDocument; fetch("api", { method: "POST", body: JSON.stringify({ name: d.getElementById("n").value, age: d.getElementById("a").value }) }) }</script>`,
    more: { inner: `<label>Name <input id=n></label><label>Age <input id=a></label>` },
    fields: FIELDS,
  },
  "file sent first": {
    html: `<form id=f><label>Name <input name=n></label><label>CV <input type=file name=c></label><button>Apply</button></form><script>f.onsubmit = async (e) => { e.preventDefault(); const file = f.c.files[0]; const up = await (await fetch("uploads?name=" + file.name, { method: "PUT", body: file })).json(); await fetch("applications", { method: "POST", body: JSON.stringify({ name: f.n.value, attachment: { id: up.id, fileName: file.name } }) }); }</script>`,
    fields: { Name: "Ann Lee", CV: "cv.pdf" },
    answer: (r, s) => r.path === "uploads" && json(s, { id: "u1" }),
  },
  "file as data": {
    html: `<form id=f><label>Name <input name=n></label><label>Photo <input type=file name=c></label><button>Apply</button></form><script>f.onsubmit = (e) => { e.preventDefault(); const r = new FileReader(); r.onload = () => fetch("api", { method: "POST", body: JSON.stringify({ name: f.n.value, photo: { name: f.c.files[0].name, data: r.result } }) }); r.readAsDataURL(f.c.files[0]); }</script>`,
    fields: { Name: "Ann Lee", Photo: "me.png" },
  },
  "file as soon as it is chosen": {
    html: `<form id=f><label>Name <input name=n></label><label>CV <input type=file name=c></label><span id=st></span><button>Apply</button></form><script>let id; f.c.onchange = async () => { const d = new FormData(); d.append("file", f.c.files[0]); st.textContent = "Uploading"; id = (await (await fetch("uploads", { method: "POST", body: d })).json()).id; st.textContent = "Uploaded"; }; f.onsubmit = (e) => { e.preventDefault(); fetch("applications", { method: "POST", body: JSON.stringify({ name: f.n.value, cvId: id }) }) }</script>`,
    fields: { Name: "Ann Lee", CV: "cv.pdf" },
    answer: (r, s) => r.path === "uploads" && json(s, { id: "u1" }),
  },
  "created, then completed": {
    html: onSubmit(
      `const { id } = await (await fetch("people", { method: "POST", body: JSON.stringify({ name: d.n }) })).json(); await fetch("people/" + id, { method: "PATCH", body: JSON.stringify({ age: d.a }) });`,
    ),
    fields: FIELDS,
    answer: (r, s) => r.method === "POST" && json(s, { id: 5 }, 201),
  },
  "accepted, then polled": {
    html: onSubmit(
      `const { job } = await (await ${POST}).json(); let x; do { await new Promise((r) => setTimeout(r, 300)); x = await (await fetch("jobs/" + job)).json(); } while (x.state !== "done"); f.outerHTML = "<p>All done</p>";`,
    ),
    fields: FIELDS,
    answer: (r, s) =>
      r.method === "POST"
        ? json(s, { job: 7, state: "pending" }, 202)
        : r.path === "jobs/7" && json(s, { state: r.count > 2 ? "done" : "running" }),
  },
  "cookie wall": {
    html: `${FORM}<div id=c style="position:fixed;inset:0;background:#0008"><div style="background:#fff;padding:20px;margin:100px">We use cookies. <button onclick="c.remove()">Accept all</button> <button>Settings</button></div></div>`,
    fields: FIELDS,
  },
  "cookie wall with a script": {
    html: `${onSubmit(POST)}<div id=c style="position:fixed;inset:0;background:#0008"><div style="background:#fff;padding:20px;margin:100px">We use cookies. <button onclick="c.remove()">Accept all</button> <button>Settings</button></div></div>`,
    fields: FIELDS,
  },
  "newsletter pops up": {
    html: `${onSubmit(POST)}<script>setTimeout(() => { document.body.insertAdjacentHTML("beforeend", '<div id=p role=dialog aria-modal=true style="position:fixed;inset:0;background:#fffe"><h2>Stay in touch</h2><label>E-mail <input></label><button>Subscribe</button><button onclick="p.remove()" aria-label=Close>x</button></div>') }, 400)</script>`,
    fields: FIELDS,
  },
  "age gate": {
    html: `<div id=g><p>Are you over 18?</p><button onclick="g.remove(); w.hidden = false">Yes</button><button>No</button></div><div id=w hidden>${FORM}</div>`,
    fields: FIELDS,
  },
  "drawn late beside a search box": {
    html: `<header><form action=search><input name=q placeholder="Search the site"><button>Go</button></form><button>Menu</button></header><main id=m>Loading ...</main><script>setTimeout(() => { m.innerHTML = ${JSON.stringify(FORM)} }, 1500)</script>`,
    fields: FIELDS,
  },
  "brought to life late": {
    html: `<div id=m>${FORM.replace("method=post action=send", "")}</div><script>setTimeout(() => { const html = m.innerHTML; m.innerHTML = html; const f = document.getElementById("f"); f.onsubmit = (e) => { e.preventDefault(); fetch("api", { method: "POST", body: JSON.stringify(Object.fromEntries(new FormData(f))) }) } }, 600)</script>`,
    fields: FIELDS,
  },
  "code that sends itself": {
    html: `<h1>Enter the code</h1><fieldset id=g><legend>Code</legend>${Array.from({ length: 4 }, (_, i) => `<input maxlength=1 aria-label="Digit ${i + 1}">`).join("")}</fieldset><script>const all = [...g.querySelectorAll("input")]; all.forEach((e, i) => { e.oninput = () => { if (e.value) all[i + 1]?.focus(); const code = all.map((x) => x.value).join(""); if (code.length === 4) fetch("verify", { method: "POST", body: JSON.stringify({ code }) }).then(() => { g.outerHTML = "<h2>Welcome</h2>" }) } })</script>`,
    fields: { Code: "4071" },
  },
  "poll that sends itself": {
    html: `<form id=f method=post action=vote><fieldset><legend>Best moss</legend><label><input type=radio name=m value=1 onchange="f.requestSubmit()"> Sphagnum</label><label><input type=radio name=m value=2 onchange="f.requestSubmit()"> Cushion</label></fieldset></form>`,
    fields: { "Best moss": "Cushion" },
    answer: (r, s) => r.method === "POST" && page(s, "<h1>Thanks for voting</h1>"),
  },
  "list that sends itself": {
    html: `<form id=f method=post action=lang><label>Language <select name=l onchange="this.form.submit()"><option value=en>English</option><option value=sv>Swedish</option></select></label></form>`,
    fields: { Language: "Swedish" },
    answer: (r, s) => r.method === "POST" && page(s, "<h1>Språk sparat</h1>"),
  },
  "filter that searches itself": {
    html: `<form id=f action=""><label>Colour <select name=c onchange="this.form.submit()"><option value="">Any</option><option value=r>Red</option></select></label></form><ul><li>Lamp</ul>`,
    fields: { Colour: "Red" },
  },
  "poll by clicks and fetch": {
    html: `<h2 id=q>Which is best?</h2><div role=radiogroup aria-labelledby=q>${["Moss", "Fern"].map((x) => `<button role=radio aria-checked=false type=button>${x}</button>`).join("")}</div><script>for (const b of document.querySelectorAll("[role=radio]")) b.onclick = () => { b.setAttribute("aria-checked", true); fetch("votes", { method: "POST", body: JSON.stringify({ choice: b.textContent }) }) }</script>`,
    fields: { "Which is best?": "Fern" },
  },
};
