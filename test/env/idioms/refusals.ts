import { type Idioms, json, page, redirect } from "./idiom.js";

const FIELDS = { Name: "Ann Lee", Age: "41" };
const FORM = `<form id=f method=post action=send><label>Name <input name=n></label><label>Age <input name=a></label><button>Submit</button></form>`;
const onSubmit = (script: string, form = FORM): string =>
  `${form}<script>f.addEventListener("submit", async (e) => { e.preventDefault(); const d = Object.fromEntries(new FormData(f)); ${script} })</script>`;
const POST = `fetch("api", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(d) })`;

/** Further ways in which a server, or its page, says no. */
export const NOS: Idioms = {
  "toast of an error": {
    html: onSubmit(
      `await ${POST}; const t = document.createElement("div"); t.className = "Toastify__toast toast"; t.textContent = "Could not save your changes"; document.body.append(t);`,
    ),
    fields: FIELDS,
    accepted: false,
  },
  "optimistic, then taken back": {
    html: onSubmit(
      `f.insertAdjacentHTML("afterend", '<p id=o>Saved</p>'); const r = await ${POST}; if (!r.ok) { o.textContent = "Not saved: the name is taken"; }`,
    ),
    fields: FIELDS,
    accepted: false,
    answer: (r, s) => r.method === "POST" && json(s, { message: "conflict" }, 409),
  },
  "422 with errors": {
    html: FORM,
    fields: FIELDS,
    accepted: false,
    answer: (r, s) => r.method === "POST" && page(s, `${FORM}<ul class=errors><li>Age is too low</ul>`, 422),
  },
  "redirect back with a flash of an error": {
    html: FORM,
    fields: FIELDS,
    accepted: false,
    answer: (r, s) => (r.method === "POST" ? redirect(s, "again", 302) : false),
    more: { again: `<div class="flash alert-danger">Your age must be at least 67.</div>${FORM}` },
  },
  "redirect back with ?error": {
    html: FORM,
    fields: FIELDS,
    accepted: false,
    answer: (r, s) =>
      r.method === "POST"
        ? redirect(s, "./?error=1", 302)
        : r.url.includes("error=1") && page(s, `<p class="msg msg-error">Something went wrong</p>${FORM}`),
  },
  "captcha page": {
    html: FORM,
    fields: FIELDS,
    accepted: false,
    answer: (r, s) =>
      r.method === "POST" &&
      page(
        s,
        `<title>Security check</title><h1>Please verify that you are human</h1><form><div class=captcha></div><button>Verify</button></form>`,
      ),
  },
  maintenance: {
    html: FORM,
    fields: FIELDS,
    accepted: false,
    answer: (r, s) =>
      r.method === "POST" &&
      page(s, `<title>Maintenance</title><h1>We will be back soon</h1><p>The site is under maintenance.</p>`),
  },
  "session is over": {
    html: FORM,
    fields: FIELDS,
    accepted: false,
    answer: (r, s) => r.method === "POST" && page(s, `<h1>Your session has expired</h1><a href=login>Log in again</a>`),
  },
  "403 page": {
    html: FORM,
    fields: FIELDS,
    accepted: false,
    answer: (r, s) => r.method === "POST" && page(s, `<h1>Forbidden</h1>`, 403),
  },
  "failed login": {
    html: `<h1>Log in</h1><form method=post action=""><label>User name <input name=u></label><label>Password <input type=password name=p></label><button>Log in</button></form>`,
    fields: { "User name": "ann", Password: "moss-7" },
    accepted: false,
    answer: (r, s) =>
      r.method === "POST" &&
      page(
        s,
        `<h1>Log in</h1><p>Wrong user name or password</p><form method=post action=""><label>User name <input name=u></label><label>Password <input type=password name=p></label><button>Log in</button></form>`,
      ),
  },
  "failed login that says nothing": {
    html: `<h1>Log in</h1><form method=post action=""><label>User name <input name=u></label><label>Password <input type=password name=p></label><button>Log in</button></form>`,
    fields: { "User name": "ann", Password: "moss-7" },
    accepted: false,
    answer: (r, s) => r.method === "POST" && redirect(s, "./", 302),
  },
  "meta refresh to a login": {
    html: FORM,
    fields: FIELDS,
    accepted: false,
    answer: (r, s) => r.method === "POST" && page(s, `<meta http-equiv=refresh content="0; url=login">`),
    more: { login: `<h1>Sign in</h1><form><input type=password></form>` },
  },
  "fails after polling": {
    html: onSubmit(
      `const { job } = await (await ${POST}).json(); let x; do { await new Promise((r) => setTimeout(r, 200)); x = await (await fetch("jobs/" + job)).json(); } while (x.state === "running"); f.outerHTML = "<p>" + x.text + "</p>";`,
    ),
    fields: FIELDS,
    accepted: false,
    answer: (r, s) =>
      r.method === "POST"
        ? json(s, { job: 7, state: "pending" }, 202)
        : r.path === "jobs/7" &&
          json(s, r.count > 2 ? { state: "failed", text: "Your order failed" } : { state: "running" }),
  },
  "dialog of an error": {
    html: onSubmit(
      `await ${POST}; document.body.insertAdjacentHTML("beforeend", "<dialog id=x><h2>Error</h2><p>We could not process your request.</p></dialog>"); x.showModal();`,
    ),
    fields: FIELDS,
    accepted: false,
  },
  "alert() of an error": {
    html: onSubmit(`await ${POST}; alert("Error: this name is already taken");`),
    fields: FIELDS,
    accepted: false,
  },
  "message in a span": {
    html: `${onSubmit(`await ${POST}; m.textContent = "Please enter a valid age";`)}<span id=m></span>`,
    fields: FIELDS,
    accepted: false,
  },
  "red text below the field": {
    html: onSubmit(
      `await ${POST}; f.a.style.borderColor = "red"; f.a.insertAdjacentHTML("afterend", '<span style="color:red">Age must be at least 67</span>');`,
    ),
    fields: FIELDS,
    accepted: false,
  },
  "stopped by the page": {
    html: onSubmit(`if (+d.a < 67) { f.insertAdjacentHTML("afterend", "<p>You must be 67.</p>"); return; } ${POST}`),
    fields: FIELDS,
    accepted: false,
  },
  "own validity": {
    html: `${FORM}<script>f.a.setCustomValidity("Too young")</script>`,
    fields: FIELDS,
    accepted: false,
  },
  "GraphQL user errors": {
    html: onSubmit(
      `fetch("graphql", { method: "POST", body: JSON.stringify({ query: "mutation M($i: I!) { m(input: $i) { user { id } userErrors { message } } }", variables: { i: d } }) })`,
    ),
    fields: FIELDS,
    accepted: false,
    answer: (r, s) =>
      r.method === "POST" &&
      json(s, { data: { m: { user: null, userErrors: [{ field: ["age"], message: "too low" }] } } }),
  },
  quota: {
    html: onSubmit(
      `const r = await ${POST}; const j = await r.json(); f.insertAdjacentHTML("afterend", "<p class=note>" + j.notice + "</p>")`,
    ),
    fields: FIELDS,
    accepted: false,
    answer: (r, s) => r.method === "POST" && json(s, { created: false, notice: "All places are taken" }),
  },
  "socket says no": {
    html: `<script>const ws = new WebSocket("ws://" + location.host + "/s"); ws.onmessage = () => { f.insertAdjacentHTML("afterend", '<p role=alert class=error>Rejected</p>') }</script>${onSubmit(`ws.send(JSON.stringify({ type: "submit", payload: d }));`)}`,
    fields: FIELDS,
    accepted: false,
  },
};
