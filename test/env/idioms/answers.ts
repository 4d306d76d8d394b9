import { type Idioms, json, page, redirect, text } from "./idiom.js";

const FIELDS = { Name: "Ann Lee", Age: "41" };
const FORM = `<form id=f method=post action=send><label>Name <input name=n></label><label>Age <input name=a></label><button>Submit</button></form>`;
const onSubmit = (script: string, form = FORM): string =>
  `${form}<script>f.addEventListener("submit", async (e) => { e.preventDefault(); const d = Object.fromEntries(new FormData(f)); ${script} })</script>`;
const POST = `fetch("api", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(d) })`;

/** Pages that take a form and look as if they did not, bodies of frameworks, and forms among other things. */
export const TAKEN: Idioms = {
  "thanks with a hint of problems": {
    html: FORM,
    fields: FIELDS,
    answer: (r, s) =>
      r.method === "POST" &&
      page(
        s,
        `<h1>Thank you!</h1><p>If you have any problems or entered something wrong, please try again or contact us. Required documents must be sent by post.</p>`,
      ),
  },
  "summary that shows all again": {
    html: FORM,
    fields: FIELDS,
    answer: (r, s) =>
      r.method === "POST" &&
      page(s, `<h1>Person 12</h1><dl><dt>Name<dd>Ann Lee<dt>Age<dd>41</dl><a href=edit>Edit</a>`),
  },
  "list with the new one and an empty form": {
    html: FORM,
    fields: FIELDS,
    answer: (r, s) => r.method === "POST" && page(s, `<h1>People</h1><ul><li>Ann Lee (41)</ul>${FORM}`),
  },
  "edit form shown again after saving": {
    html: `<h1>Edit person</h1>${FORM}`,
    fields: FIELDS,
    answer: (r, s) =>
      r.method === "POST" &&
      page(
        s,
        `<h1>Edit person</h1><p class=notice>Person was successfully updated.</p>${FORM.replace("name=n>", `name=n value="Ann Lee">`).replace("name=a>", "name=a value=41>")}`,
      ),
  },
  "report about an error": {
    html: `<h1>Report an error</h1><form method=post action=send><label>Title <input name=t></label><label>Details <textarea name=d></textarea></label><button>Report</button></form>`,
    fields: { Title: "Login fails with an error", Details: "The page says: invalid password. Please try again." },
    answer: (r, s) =>
      r.method === "POST" &&
      page(
        s,
        `<h1>Report an error</h1><p>Report no. 7</p><h2>Login fails with an error</h2><p>The page says: invalid password. Please try again.</p>`,
      ),
  },
  "report about an error, by fetch": {
    html: `<h1>Report a problem</h1>${onSubmit(`const j = await (await ${POST}).json(); f.outerHTML = "<article><h3>" + j.title + "</h3><p>" + j.details + "</p></article>"`, `<form id=f><label>Title <input name=title></label><label>Details <textarea name=details></textarea></label><button>Report</button></form>`)}`,
    fields: { Title: "Login failed", Details: "It is not possible to sign in, error 500." },
    answer: (r, s) => r.method === "POST" && json(s, { id: 3, ...JSON.parse(r.body), state: "open" }, 201),
  },
  "fields required from the start": {
    html: `${onSubmit(
      `await ${POST}; f.reset(); m.textContent = "Message sent";`,
      FORM.replace("<input name=n>", '<input name=n required><span class="required error-hint">required</span>'),
    )}<p id=m></p>`,
    fields: FIELDS,
  },
  "cleared after sending, errors come up for empty fields": {
    html: `${onSubmit(
      `await ${POST}; f.reset(); f.n.setAttribute("aria-invalid", "true"); document.getElementById("m").textContent = "Thanks, we got it!";`,
    )}<p id=m></p>`,
    fields: FIELDS,
  },
  "spinner, then done after two seconds": {
    html: onSubmit(
      `b.disabled = true; b.textContent = "Sending..."; setTimeout(async () => { await ${POST}; b.textContent = "Sent"; }, 2000)`,
      FORM.replace("<button>", "<button id=b>"),
    ),
    fields: FIELDS,
  },
  "slow answer": {
    html: onSubmit(`const r = await ${POST}; f.outerHTML = "<h2>Done</h2>"`),
    fields: FIELDS,
    answer: (r, s) => {
      if (r.method !== "POST") return false;
      setTimeout(() => json(s, { ok: true }), 2500);
      return true;
    },
  },
  "once more after 429": {
    html: onSubmit(
      `const go = () => ${POST}.then((r) => { if (r.status === 429) setTimeout(go, 500); else f.outerHTML = "<p>Saved</p>" }); go();`,
    ),
    fields: FIELDS,
    answer: (r, s) => r.method === "POST" && json(s, {}, r.count % 2 === 1 ? 429 : 200),
  },
  "network fails once": {
    html: onSubmit(`const go = (n) => ${POST}.catch(() => n && setTimeout(() => go(n - 1), 400)); go(3);`),
    fields: FIELDS,
    answer: (r, s) => {
      if (r.method !== "POST") return false;
      if (r.count % 2 === 1) {
        s.destroy();
        return true;
      }
      return json(s, { ok: true });
    },
  },
  "autosave and a Done link": {
    html: `<div id=f><label>Name <input name=n></label><label>Age <input name=a></label></div><span id=st></span><a href=list class=button>Done</a><script>let t; f.oninput = () => { st.textContent = "Saving..."; clearTimeout(t); t = setTimeout(() => fetch("api/doc/7", { method: "PATCH", body: JSON.stringify({ name: f.children[0].lastChild.value, age: f.children[1].lastChild.value }) }).then(() => { st.textContent = "All changes saved" }), 800) }</script>`,
    more: { list: "<h1>Documents</h1>" },
    fields: FIELDS,
  },
  "tRPC batch": {
    html: onSubmit(
      `fetch("trpc/person.create?batch=1", { method: "POST", body: JSON.stringify({ 0: { json: { fullName: d.n, age: Number(d.a) }, meta: { values: {} } } }) })`,
    ),
    fields: FIELDS,
    answer: (r, s) => r.method === "POST" && json(s, [{ result: { data: { json: { id: 4 } } } }]),
  },
  "JSON-RPC": {
    html: onSubmit(
      `fetch("rpc", { method: "POST", body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "addPerson", params: [d.n, Number(d.a)] }) })`,
    ),
    fields: FIELDS,
    answer: (r, s) => r.method === "POST" && json(s, { jsonrpc: "2.0", id: 1, result: 12 }),
  },
  "server action": {
    html: onSubmit(
      `const b = new FormData(); b.append("1_name", d.n); b.append("1_age", d.a); b.append("0", '["$K1"]'); fetch("", { method: "POST", headers: { "Next-Action": "abc" }, body: b })`,
    ),
    fields: FIELDS,
    answer: (r, s) => r.method === "POST" && text(s, '0:["$@1",["dev",null]]\n1:{"ok":true}\n', "text/x-component"),
  },
  viewstate: {
    html: `<form id=f method=post action=""><input type=hidden name=__VIEWSTATE value="dDwtMTIz"><input type=hidden name=__EVENTTARGET><span>Name</span><input name="ctl00$Main$txtName"><span>Age</span><input name="ctl00$Main$txtAge"><a href="javascript:__doPostBack('ctl00$Main$btn')">Save</a></form><script>function __doPostBack(t) { f.__EVENTTARGET.value = t; f.submit(); }</script>`,
    fields: FIELDS,
    answer: (r, s) => r.method === "POST" && page(s, `<span id=lblMsg>Record saved.</span>`),
  },
  "encoded as a query in a header of the form": {
    html: onSubmit(`fetch("api?" + new URLSearchParams(d), { method: "POST" })`),
    fields: FIELDS,
  },
  "sent as lines of CSV": {
    html: onSubmit(
      `fetch("import", { method: "POST", headers: { "content-type": "text/csv" }, body: "name,age\\n" + d.n + "," + d.a })`,
    ),
    fields: FIELDS,
  },
  "enum and ISO codes": {
    html: `<form id=f><label>Name <input name=n></label><label>Country <select name=c><option value="">Choose</option><option value=0>Sweden</option><option value=1>Norway</option></select></label><label>Level <select name=l><option value=0>Beginner</option><option value=1>Expert</option></select></label><button>Save</button></form><script>f.onsubmit = (e) => { e.preventDefault(); fetch("api", { method: "POST", body: JSON.stringify({ name: f.n.value, country: { name: f.c.selectedOptions[0].text, code: ["SE", "NO"][f.c.value] }, level: ["BEGINNER", "EXPERT"][f.l.value] }) }) }</script>`,
    fields: { Name: "Ann", Country: "Norway", Level: "Expert" },
  },
  "birth date as age parts": {
    html: `<form id=f><label>Name <input name=n></label><label>Born <input type=date name=b></label><button>Save</button></form><script>f.onsubmit = (e) => { e.preventDefault(); const [y, m, d] = f.b.value.split("-").map(Number); fetch("api", { method: "POST", body: JSON.stringify({ name: f.n.value, dob: { y, m, d } }) }) }</script>`,
    fields: { Name: "Ann", Born: "1990-03-05" },
  },
  "terms box that is not sent": {
    html: `<form id=f><label>Name <input name=n></label><label><input type=checkbox id=t required> I accept the terms</label><button>Save</button></form><script>f.onsubmit = (e) => { e.preventDefault(); fetch("api", { method: "POST", body: JSON.stringify({ name: f.n.value, acceptedTermsAt: new Date().toISOString() }) }) }</script>`,
    fields: { Name: "Ann", "I accept the terms": true },
  },
  "password repeated": {
    html: `<form id=f><label>E-mail <input name=e></label><label>Password <input type=password name=p></label><label>Confirm password <input type=password name=q></label><button>Sign up</button></form><script>f.onsubmit = (e) => { e.preventDefault(); if (f.p.value !== f.q.value) return; fetch("users", { method: "POST", body: JSON.stringify({ user: { email: f.e.value, password: f.p.value } }) }) }</script>`,
    fields: { "E-mail": "ann@post.example", Password: "moss-77", "Confirm password": "moss-77" },
  },
  "two forms with the same labels": {
    html: `<section><h2>Newsletter</h2><form method=post action=news><label>Name <input name=n></label><button>Subscribe</button></form></section><section><h2>Contact</h2><form method=post action=contact><label>Name <input name=m></label><label>Message <textarea name=t></textarea></label><button>Send</button></form></section>`,
    fields: { Name: "Ann", Message: "Hello there" },
  },
  "login in the header": {
    html: `<header><form method=post action=login><input name=user placeholder=User><input type=password name=pw placeholder=Password><button>Log in</button></form></header><main><h1>Register</h1><form method=post action=register><label>Name <input name=n></label><label>E-mail <input name=e></label><button>Register</button></form></main>`,
    fields: { Name: "Ann", "E-mail": "ann@post.example" },
  },
  "delete beside save": {
    html: `<form method=post action=save><label>Name <input name=n></label><button formaction=delete>Delete</button><button>Save changes</button></form>`,
    fields: { Name: "Ann" },
    answer: (r, s) => r.method === "POST" && (r.path === "save" ? redirect(s, "ok") : page(s, "<h1>Deleted</h1>")),
    more: { ok: "<p>Changes saved</p>" },
  },
  "split button": {
    html: `<div id=f><label>Title <input id=t></label><div class=btn-group><button id=go>Publish</button><button aria-haspopup=menu aria-expanded=false>▾</button></div></div><script>go.onclick = () => fetch("posts", { method: "POST", body: JSON.stringify({ title: t.value, status: "published" }) })</script>`,
    fields: { Title: "Moss" },
  },
  "hold on: terms dialog": {
    html:
      onSubmit(`m.showModal(); ok.onclick = () => { m.close(); ${POST} };`) +
      `<dialog id=m><p>Do you accept our terms?</p><button>Decline</button><button id=ok>I agree</button></dialog>`,
    fields: FIELDS,
  },
  "press twice": {
    html: `<div id=f><label>Name <input id=n></label><button id=b>Send</button></div><script>let t = 0; b.onclick = () => { if (!t++) { b.textContent = "Click again to confirm"; return; } fetch("api", { method: "POST", body: JSON.stringify({ name: n.value }) }) }</script>`,
    fields: { Name: "Ann" },
  },
  "aria-disabled until valid": {
    html:
      onSubmit(
        `if (b.getAttribute("aria-disabled") === "true") return; ${POST}`,
        FORM.replace("<button>", "<button id=b aria-disabled=true>"),
      ) +
      `<script>f.addEventListener("input", () => b.setAttribute("aria-disabled", !(f.n.value && f.a.value)))</script>`,
    fields: FIELDS,
  },
  "checked with the server before the button comes": {
    html: `<div id=f><label>Name <input id=n></label><span id=s></span><button id=b disabled>Create</button></div><script>let t; n.oninput = () => { clearTimeout(t); b.disabled = true; t = setTimeout(async () => { const r = await (await fetch("check-name?name=" + n.value)).json(); s.textContent = r.free ? "Free" : "Taken"; b.disabled = !r.free }, 500) }; b.onclick = () => fetch("api", { method: "POST", body: JSON.stringify({ name: n.value }) })</script>`,
    fields: { Name: "mossy" },
    answer: (r, s) => r.path === "check-name" && json(s, { free: true }),
  },
  "open shadow form": {
    html: `<my-form></my-form><script>customElements.define("my-form", class extends HTMLElement { connectedCallback() { const r = this.attachShadow({ mode: "open" }); r.innerHTML = '<form><label for=n>Name</label><input id=n><label for=a>Age</label><input id=a><button>Save</button></form>'; r.querySelector("form").onsubmit = (e) => { e.preventDefault(); fetch("api", { method: "POST", body: JSON.stringify({ name: r.querySelector("#n").value, age: r.querySelector("#a").value }) }) } } })</script>`,
    fields: FIELDS,
  },
  "srcdoc frame": {
    html: `<iframe width=400 height=300 srcdoc='${FORM.replace("action=send", "action=/srcdoc-frame/send")}'></iframe>`,
    fields: FIELDS,
  },
  "repeated guests": {
    html: `<form id=f><div id=g></div><button type=button id=add>Add guest</button><button>Save</button></form><script>let k = 0; const more = () => { k++; g.insertAdjacentHTML("beforeend", "<fieldset><legend>Guest " + k + "</legend><label>Name <input class=n></label><label>Meal <select class=m><option>Meat</option><option>Fish</option></select></label></fieldset>") }; more(); add.onclick = more; f.onsubmit = (e) => { e.preventDefault(); fetch("api", { method: "POST", body: JSON.stringify({ guests: [...g.children].map((x) => ({ name: x.querySelector(".n").value, meal: x.querySelector(".m").value })) }) }) }</script>`,
    fields: { "Guest 1 Name": "Ann", "Guest 1 Meal": "Fish", "Guest 2 Name": "Bo", "Guest 2 Meal": "Meat" },
  },
  "form behind a login by cookie banner and tabs": {
    html: `<div role=tablist><button role=tab aria-selected=true aria-controls=p1 id=t1>About</button><button role=tab aria-selected=false aria-controls=p2 id=t2>Apply</button></div><div role=tabpanel id=p1>Text</div><div role=tabpanel id=p2 hidden>${FORM}</div><script>t2.onclick = () => { p1.hidden = true; p2.hidden = false }</script>`,
    fields: FIELDS,
  },
  "editor with a hidden textarea": {
    html: `<form id=f method=post action=send><label>Name <input name=n></label><label for=b>Body</label><textarea name=b id=b style="display:none"></textarea><div class=editor contenteditable=true style="border:1px solid;min-height:30px"></div><button>Save</button></form><script>const ed = f.querySelector(".editor"); ed.oninput = () => { f.b.value = "<p>" + ed.innerHTML + "</p>" }</script>`,
    fields: { Name: "Ann", Body: "About moss & stones" },
  },
};
