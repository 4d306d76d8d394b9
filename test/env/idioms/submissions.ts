import { type Idioms, json, page, redirect, xml } from "./idiom.js";

const FIELDS = { Name: "Ann Lee", Age: "41" };
const FORM = `<form id=f method=post action=send><label>Name <input name=n></label><label>Age <input name=a></label><button>Submit</button></form>`;
/** The form, whose submit runs this script instead; `d` is its data. */
const onSubmit = (script: string, form = FORM): string =>
  `${form}<script>f.addEventListener("submit", async (e) => { e.preventDefault(); const d = Object.fromEntries(new FormData(f)); ${script} })</script>`;
const before = (script: string, form = FORM): string => `<script>${script}</script>${form}`;
const POST = `fetch("api", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(d) })`;
const NAMELESS = `<div id=f><label>Name <input id=x1></label><label>Age <input id=x2></label><button id=go>Submit</button></div>`;
const onClick = (script: string, form = NAMELESS): string =>
  `${form}<script>go.onclick = async () => { const name = x1.value, age = x2.value; ${script} }</script>`;
const SERVER_PAGE = `<h1>Thank you</h1><p>We have received your form.</p>`;

/** Ways in which a form's values reach its server. */
export const SUBMISSIONS: Idioms = {
  "plain post answered with JSON": { html: FORM, fields: FIELDS },
  "plain post answered with a page": {
    html: FORM,
    fields: FIELDS,
    answer: (r, s) => r.method === "POST" && page(s, SERVER_PAGE),
  },
  "post, redirect, get": {
    html: FORM,
    fields: FIELDS,
    answer: (r, s) => r.method === "POST" && redirect(s, "thanks", 302),
    more: { thanks: SERVER_PAGE },
  },
  "post back to the same page with a flash": {
    html: FORM.replace("action=send", ""),
    fields: FIELDS,
    answer: (r, s) => r.method === "POST" && page(s, `<div class="alert alert-success" role=alert>Saved.</div>${FORM}`),
  },
  "get form": {
    html: FORM.replace("method=post action=send", "action=results"),
    fields: FIELDS,
    more: { results: "<h1>2 results</h1>" },
  },
  multipart: { html: FORM.replace("method=post", `method=post enctype="multipart/form-data"`), fields: FIELDS },
  "text/plain": { html: FORM.replace("method=post", "method=post enctype=text/plain"), fields: FIELDS },
  "button with its own action": {
    html: FORM.replace("<button", "<button formaction=elsewhere formmethod=post"),
    fields: FIELDS,
  },
  "button outside of its form": {
    html: `${FORM.replace("<button>Submit</button>", "")}<footer><button form=f>Save</button></footer>`,
    fields: FIELDS,
  },
  "image button": {
    html: FORM.replace(
      "<button>Submit</button>",
      `<input type=image alt="Send it" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" width=40 height=20>`,
    ),
    fields: FIELDS,
  },
  "link that submits": {
    html: `${FORM.replace("<button>Submit</button>", "")}<a href="#" onclick="f.submit(); return false" class="btn">Send</a>`,
    fields: FIELDS,
  },
  "post into a new window": { html: FORM.replace("<form", "<form target=_blank"), fields: FIELDS },
  "post into a hidden frame": {
    html: `${FORM.replace("<form", "<form target=sink")}<iframe name=sink hidden></iframe>`,
    fields: FIELDS,
  },
  "Enter in a form without a button": {
    html: `<form method=post action=send><label>City <input name=c></label></form>`,
    fields: { City: "Lund" },
  },
  "fetch with JSON": { html: onSubmit(POST), fields: FIELDS },
  "fetch with FormData": { html: onSubmit(`fetch("api", { method: "POST", body: new FormData(f) })`), fields: FIELDS },
  "fetch by PUT to an id": {
    html: onSubmit(`fetch("api/people/42", { method: "PUT", body: JSON.stringify(d) })`),
    fields: FIELDS,
  },
  "fetch by PATCH": {
    html: onSubmit(
      `fetch("api/people", { method: "PATCH", body: JSON.stringify([{ op: "replace", path: "/name", value: d.n }, { op: "replace", path: "/age", value: d.a }]) })`,
    ),
    fields: FIELDS,
  },
  "fetch by GET": {
    html: onSubmit(`fetch("find?" + new URLSearchParams(d)).then((r) => r.text())`),
    fields: FIELDS,
    more: { find: "[]" },
  },
  "XHR after a timer": {
    html: onSubmit(
      `setTimeout(() => { const x = new XMLHttpRequest(); x.open("POST", "api"); x.send(new URLSearchParams(d)); }, 900);`,
    ),
    fields: FIELDS,
  },
  "beacon as the only post": {
    html: onSubmit(`navigator.sendBeacon("api/answers", JSON.stringify(d)); f.remove();`),
    fields: FIELDS,
  },
  "WebSocket message": {
    html: `<script>const ws = new WebSocket("ws://" + location.host + "/s");</script>${onSubmit(`ws.send(JSON.stringify({ type: "submit", payload: d }));`)}`,
    fields: FIELDS,
  },
  "post by a worker": {
    html: onSubmit(`new Worker("w.js").postMessage(d);`),
    fields: FIELDS,
    more: { "w.js": `onmessage = (e) => fetch("api", { method: "POST", body: JSON.stringify(e.data) });` },
  },
  "token first, then the post": {
    html: onSubmit(`const t = await (await fetch("csrf", { method: "POST", body: "{}" })).json(); ${POST}`),
    fields: FIELDS,
    answer: (r, s) => r.path === "csrf" && json(s, { token: "t" }),
  },
  "validated by post, then sent": {
    html: onSubmit(
      `const r = await fetch("validate", { method: "POST", body: JSON.stringify(d) }); if (r.ok) f.submit();`,
    ),
    fields: FIELDS,
    answer: (r, s) => r.path === "validate" && json(s, { valid: true }),
  },
  "click analytics before the post": {
    html: before(
      `addEventListener("click", (e) => fetch("collect", { method: "POST", keepalive: true, body: JSON.stringify({ click: e.target.tagName }) }), true);`,
    ),
    fields: FIELDS,
  },
  "focus and mouse logging": {
    html: before(
      `for (const t of ["focusin", "mousemove", "input"]) addEventListener(t, (e) => navigator.sendBeacon("ux", JSON.stringify({ t, v: e.target.value })), true);`,
      onSubmit(POST),
    ),
    fields: FIELDS,
  },
  "keepalive every moment": {
    html: before(
      `setInterval(() => fetch("alive", { method: "POST", body: "x=1" }), 200);`,
      onSubmit(`await new Promise((r) => setTimeout(r, 700)); ${POST}`),
    ),
    fields: FIELDS,
  },
  "draft saved while typing, then sent": {
    html: before(
      `addEventListener("input", () => fetch("draft", { method: "PUT", body: JSON.stringify({ n: f.n.value, a: f.a.value }) }));`,
      onSubmit(POST),
    ),
    fields: FIELDS,
  },
  "once more after a 503": {
    html: onSubmit(`const go = () => ${POST}.then((r) => { if (r.status === 503) setTimeout(go, 600); }); go();`),
    fields: FIELDS,
    answer: (r, s) => r.method === "POST" && json(s, {}, r.count % 2 === 1 ? 503 : 200),
  },
  "autosave without a submit": {
    html: `<h1>Profile</h1><div id=f><label>Name <input name=n></label><label>Age <input name=a></label></div><script>let timer; f.oninput = () => { clearTimeout(timer); timer = setTimeout(() => fetch("api/profile", { method: "PUT", body: JSON.stringify({ n: document.querySelector("[name=n]").value, a: document.querySelector("[name=a]").value }) }), 400); }</script>`,
    fields: FIELDS,
  },
  "each field saved when it is left": {
    html: `<div id=f><label>Name <input name=n></label><label>Age <input name=a></label></div><script>for (const e of f.querySelectorAll("input")) e.onchange = () => fetch("api/me/" + e.name, { method: "PATCH", body: JSON.stringify({ value: e.value }) });</script>`,
    fields: FIELDS,
  },
  "controls without names": {
    html: onClick(
      `fetch("api", { method: "POST", body: JSON.stringify({ person: { fullName: name, years: Number(age) } }) });`,
    ),
    fields: FIELDS,
  },
  "other keys": {
    html: onSubmit(
      `fetch("api", { method: "POST", body: JSON.stringify({ q1: d.n, q2: d.a }) })`,
      FORM.replace("name=n", "name=first").replace("name=a", "name=second").replace("d.n", "d.first"),
    ).replace("q1: d.n, q2: d.a", "q1: d.first, q2: d.second"),
    fields: FIELDS,
  },
  "GraphQL variables": {
    html: onClick(
      `fetch("graphql", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ query: "mutation Join($p: P!) { join(p: $p) { id } }", variables: { p: { displayName: name, age: +age } } }) });`,
    ),
    fields: FIELDS,
    answer: (r, s) => r.method === "POST" && json(s, { data: { join: { id: 3 } } }),
  },
  "JSON in a string": {
    html: onClick(
      `fetch("api", { method: "POST", body: new URLSearchParams({ action: "save", payload: JSON.stringify({ name, meta: { age } }) }) });`,
    ),
    fields: FIELDS,
  },
  "list of names and values": {
    html: onSubmit(
      `fetch("api", { method: "POST", body: JSON.stringify({ fields: [...new FormData(f)].map(([name, value]) => ({ name, value })) }) })`,
    ),
    fields: FIELDS,
  },
  "XML body": {
    html: onClick(
      `fetch("soap", { method: "POST", headers: { "content-type": "text/xml" }, body: "<Envelope><Body><name>" + name + "</name><age>" + age + "</age></Body></Envelope>" });`,
    ),
    fields: FIELDS,
    answer: (r, s) => r.method === "POST" && xml(s, "<Envelope><Body><status>ok</status></Body></Envelope>"),
  },
  "JSON part of a multipart body": {
    html: onClick(
      `const d = new FormData(); d.append("data", new Blob([JSON.stringify({ name, age })], { type: "application/json" })); fetch("api", { method: "POST", body: d });`,
    ),
    fields: FIELDS,
  },
  "hidden mirrors": {
    html: `<form id=f method=post action=send><input type=hidden name=real_name><input type=hidden name=real_age>${NAMELESS.replace("id=f", "").replace("id=go", "")}</form><script>x1.oninput = () => { f.real_name.value = x1.value; }; x2.onchange = () => { f.real_age.value = x2.value; };</script>`,
    fields: FIELDS,
  },
  "hidden empty twin": {
    html: FORM.replace("<label>Name", "<input type=hidden name=n value=''><label>Name"),
    fields: FIELDS,
  },
  "modal's form": {
    html: `<button id=o>Contact us</button><dialog id=m><h2>Contact</h2>${FORM}</dialog><script>o.onclick = () => m.showModal();</script>`,
    fields: FIELDS,
  },
  "form in a frame": {
    html: `<h1>Join</h1><p>Please fill in the form.</p><iframe src=inner width=400 height=300></iframe>`,
    fields: FIELDS,
    more: { inner: FORM },
  },
  "form in a frame, sent by script": {
    html: `<h1>Join</h1><iframe src=inner width=400 height=300></iframe>`,
    fields: FIELDS,
    more: { inner: onSubmit(POST) },
  },
  "the right one of two forms": {
    html: `<header><form action=search role=search><input name=q placeholder="Search"><button>Search</button></form></header>${FORM}<footer><form method=post action=subscribe><label>Name <input name=news></label><button>Subscribe</button></form></footer>`,
    fields: FIELDS,
  },
  "not the draft": {
    html: FORM.replace(
      "<button>Submit</button>",
      `<button name=do value=draft>Save draft</button><button type=button>Preview</button><button name=do value=send>Send</button>`,
    ),
    fields: FIELDS,
  },
  "asks again in a dialog": {
    html: `${FORM}<div id=ask role=alertdialog hidden><p>Are you sure?</p><button id=no>Cancel</button><button id=yes>Yes, send it</button></div><script>f.onsubmit = (e) => { e.preventDefault(); ask.hidden = false; }; yes.onclick = () => f.submit();</script>`,
    fields: FIELDS,
  },
  "asks again with confirm()": {
    html: FORM.replace("<form", `<form onsubmit="return confirm('Sure?')"`),
    fields: FIELDS,
  },
  "summary to confirm": {
    html: FORM,
    fields: FIELDS,
    answer: (r, s) =>
      r.path === "send" && r.method === "POST"
        ? page(
            s,
            `<h1>Please check your answers</h1><dl><dt>Name</dt><dd>Ann Lee</dd></dl><form method=post action=confirm><input type=hidden name=id value=9><button>Confirm and send</button></form>`,
          )
        : r.path === "confirm" && page(s, SERVER_PAGE),
  },
  "steps in one page": {
    html: `<form id=f method=post action=send><section id=s1><label>Name <input name=n required></label><button type=button id=b1>Next</button></section><section id=s2 hidden><label>Age <input name=a></label><button type=button id=b0>Back</button><button>Finish</button></section></form><script>b1.onclick = () => { s1.hidden = true; s2.hidden = false; }; b0.onclick = () => { s1.hidden = false; s2.hidden = true; };</script>`,
    fields: FIELDS,
  },
  "steps over several pages": {
    html: `<h1>1 of 2</h1><form method=post action=one><label>Name <input name=n></label><button>Continue</button></form>`,
    fields: FIELDS,
    answer: (r, s) => r.method === "POST" && redirect(s, r.path === "one" ? "two" : "thanks"),
    more: {
      two: `<h1>2 of 2</h1><form method=post action=two-post><label>Age <input name=a></label><button>Send</button></form>`,
      thanks: SERVER_PAGE,
    },
  },
  "steps posted one by one, then finished": {
    html: `<div id=f><label>Name <input id=x1></label><button id=b>Next</button></div><script>b.onclick = async () => { const r = await (await fetch("applications", { method: "POST", body: JSON.stringify({ name: x1.value }) })).json(); f.innerHTML = "<label>Age <input id=x2></label><button id=c>Submit</button>"; c.onclick = async () => { await fetch("applications/" + r.id, { method: "PATCH", body: JSON.stringify({ age: x2.value }) }); await fetch("applications/" + r.id + "/submit", { method: "POST" }); f.textContent = "Thank you"; }; };</script>`,
    fields: FIELDS,
    answer: (r, s) => r.method !== "GET" && json(s, { id: 31 }),
  },
  "sent, then another page by script": {
    html: onSubmit(`${POST}.then(() => { location = "thanks"; })`),
    fields: FIELDS,
    more: { thanks: SERVER_PAGE },
  },
  "success marker": {
    html: onSubmit(`${POST}.then(() => { f.outerHTML = "<p id=ok>Error-free as ever: number 12</p>"; })`),
    fields: FIELDS,
    success: { selector: "#ok", text: "number 12" },
  },
  "key map": {
    html: onClick(`fetch("api", { method: "POST", body: JSON.stringify({ k1: age, k2: name }) });`),
    fields: { Name: "41", Age: "41" },
    keys: { Name: "k2", Age: "k1" },
  },
  "button enabled when all is right": {
    html: `<form id=f method=post action=send><label>Name <input name=n></label><label>Age <input name=a></label><button disabled>Submit</button></form><script>f.addEventListener("keyup", () => { f.querySelector("button").disabled = !(f.n.value && f.a.value); });</script>`,
    fields: FIELDS,
  },
  "re-rendered at every key": {
    html: `<div id=r></div><script>const s = { n: "", a: "" }; function draw() { r.innerHTML = '<form id=f><label>Name <input name=n></label><label>Age <input name=a></label><button>Submit</button></form>'; for (const k in s) { f[k].value = s[k]; f[k].onchange = () => { s[k] = f[k].value; draw(); }; } f.onsubmit = (e) => { e.preventDefault(); fetch("api", { method: "POST", body: JSON.stringify(s) }); }; } draw();</script>`,
    fields: FIELDS,
  },
};

/** Pages whose server does not take what is sent, or whose script does not send it. */
export const REFUSALS: Idioms = {
  "status error with 200": {
    html: onSubmit(POST),
    fields: FIELDS,
    accepted: false,
    answer: (r, s) => r.method === "POST" && json(s, { status: "error", message: "nope" }),
  },
  "ok false": {
    html: onSubmit(POST),
    fields: FIELDS,
    accepted: false,
    answer: (r, s) => r.method === "POST" && json(s, { ok: false }),
  },
  "nested errors": {
    html: onSubmit(POST),
    fields: FIELDS,
    accepted: false,
    answer: (r, s) => r.method === "POST" && json(s, { data: { create: { person: null, errors: [{ path: "age" }] } } }),
  },
  "problem details": {
    html: onSubmit(POST),
    fields: FIELDS,
    accepted: false,
    answer: (r, s) => r.method === "POST" && json(s, { type: "about:blank", title: "Unprocessable", status: 422 }),
  },
  "error page with 200": {
    html: FORM,
    fields: FIELDS,
    accepted: false,
    answer: (r, s) =>
      r.method === "POST" && page(s, "<title>Oops</title><h1>Something went wrong</h1><p>Please try again later.</p>"),
  },
  "form again with messages": {
    html: FORM,
    fields: FIELDS,
    accepted: false,
    answer: (r, s) =>
      r.method === "POST" &&
      page(
        s,
        FORM.replace("name=n>", `name=n value="Ann Lee" aria-invalid=true><em role=alert>This name is taken</em>`),
      ),
  },
  "form again as it was sent": {
    html: FORM,
    fields: FIELDS,
    accepted: false,
    answer: (r, s) =>
      r.method === "POST" &&
      page(s, FORM.replace("name=n>", `name=n value="Ann Lee">`).replace("name=a>", "name=a value=41>")),
  },
  "redirect to a login": {
    html: FORM,
    fields: FIELDS,
    accepted: false,
    answer: (r, s) => r.method === "POST" && redirect(s, "login", 302),
    more: { login: "<h1>Log in</h1><form><input type=password name=p></form>" },
  },
  "script told to log in": {
    html: onSubmit(`const r = await (${POST}); location = (await r.json()).redirect;`),
    fields: FIELDS,
    accepted: false,
    answer: (r, s) => r.method === "POST" && json(s, { redirect: "login" }),
    more: { login: "<h1>Log in</h1><form><input type=password name=p></form>" },
  },
  "page says so": {
    html: onSubmit(
      `await (${POST}); f.insertAdjacentHTML("beforeend", '<p class="form-error">Your card was declined.</p>')`,
    ),
    fields: FIELDS,
    accepted: false,
  },
  "only validated": {
    html: onSubmit(
      `const r = await (await fetch("validate", { method: "POST", body: JSON.stringify(d) })).json(); if (r.fine) f.submit();`,
    ),
    fields: FIELDS,
    accepted: false,
    answer: (r, s) => r.path === "validate" && json(s, { fine: 0 }),
  },
  "only a draft": {
    html: before(
      `addEventListener("input", () => fetch("draft", { method: "PUT", body: JSON.stringify({ n: f.n.value, a: f.a.value }) }));`,
      onSubmit(`f.insertAdjacentHTML("beforeend", "<p role=alert>You have to be 67.</p>");`),
    ),
    fields: FIELDS,
    accepted: false,
  },
  "only analytics": {
    html: onSubmit(`navigator.sendBeacon("analytics", JSON.stringify({ event: "submit", ...d }));`),
    fields: FIELDS,
    accepted: false,
  },
  "missing success marker": {
    html: onSubmit(POST),
    fields: FIELDS,
    accepted: false,
    success: { text: "Order number" },
  },
};
