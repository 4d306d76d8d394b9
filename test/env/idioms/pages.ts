import { type Idioms, json, page } from "./idiom.js";

const FIELDS = { Name: "Ann Lee", Age: "41" };
const FORM = `<form id=f method=post action=send><label>Name <input name=n></label><label>Age <input name=a></label><button>Submit</button></form>`;
/** The form, whose submit runs this script instead; `d` is its data. */
const onSubmit = (script: string, form = FORM): string =>
  `${form}<script>f.addEventListener("submit", async (e) => { e.preventDefault(); const d = Object.fromEntries(new FormData(f)); ${script} })</script>`;
const SERVER_PAGE = `<h1>Thank you</h1><p>We have received your form.</p>`;
const around = (component: string, script: string): string =>
  `<form id=f><label>Name <input name=n></label>${component}<button>Submit</button></form><script>let v; ${script}
  f.addEventListener("submit", (e) => { e.preventDefault(); fetch("api", { method: "POST", body: JSON.stringify({ who: f.n.value, v }) }); });</script>`;
const NAME = { Name: "Ann" };

/** Pages of one idiom each: ways of sending, sites, components and names of controls. */
export const PAGES: Idioms = {
  "plain post answered with JSON": { html: FORM, fields: FIELDS },
  "validated by post, then sent": {
    html: onSubmit(
      `const r = await fetch("validate", { method: "POST", body: JSON.stringify(d) }); if (r.ok) f.submit();`,
    ),
    fields: FIELDS,
    answer: (r, s) => r.path === "validate" && json(s, { valid: true }),
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
  "login form at /login": {
    html: `<h1>Log in</h1><form method=post action="login"><label>User name <input name=u></label><label>Password <input type=password name=p></label><button>Log in</button></form>`,
    fields: { "User name": "ann", Password: "moss-7" },
    answer: (r, s) =>
      r.method === "POST" && page(s, "<title>Dashboard</title><h1>Hello Ann</h1><a href=logout>Log out</a>"),
  },
  "file as data": {
    html: `<form id=f><label>Name <input name=n></label><label>Photo <input type=file name=c></label><button>Apply</button></form><script>f.onsubmit = (e) => { e.preventDefault(); const r = new FileReader(); r.onload = () => fetch("api", { method: "POST", body: JSON.stringify({ name: f.n.value, photo: { name: f.c.files[0].name, data: r.result } }) }); r.readAsDataURL(f.c.files[0]); }</script>`,
    fields: { Name: "Ann Lee", Photo: "me.png" },
  },
  "wordpress admin-ajax": {
    html: `<form id=f><label for=w1>Phone</label><input id=w1 name=phone type=tel><label for=w2>Best time</label><input id=w2 name=when type=time><button class=elementor-button>Book a call</button></form>
      <script>f.onsubmit = (e) => { e.preventDefault(); fetch("wp-admin/admin-ajax.php", { method: "POST", body: new URLSearchParams({ action: "book", nonce: "ab", data: new URLSearchParams(new FormData(f)).toString() }) }); }</script>`,
    fields: { Phone: "555 010 7788", "Best time": "14:30" },
    answer: (r, s) => r.method === "POST" && json(s, { success: true, data: null }),
  },
  "cards without roles": {
    html: around(
      `<div class=g><h3>Delivery</h3><div class=cards><div class=card style="cursor:pointer" data-id=std>Standard</div><div class=card style="cursor:pointer" data-id=exp>Express</div></div></div>`,
      `for (const c of f.querySelectorAll(".card")) c.onclick = () => { v = { delivery: c.dataset.id }; c.classList.add("active"); };`,
    ),
    fields: { ...NAME, Delivery: "Express" },
  },
  "typeahead without roles": {
    html: around(
      `<label for=t>Airport</label><div class=autocomplete><input id=t autocomplete=off><div id=hits></div></div>`,
      `t.oninput = () => { v = undefined; setTimeout(() => { hits.innerHTML = ["Oslo", "Lima", "Rome"].filter((x) => t.value && x.startsWith(t.value[0])).map((x) => "<div class=hit style='cursor:pointer'>" + x + "</div>").join(""); for (const h of hits.children) h.onclick = () => { t.value = h.textContent; v = { code: "X-" + h.textContent.toUpperCase() , name: h.textContent }; hits.innerHTML = ""; }; }, 300); };`,
    ),
    fields: { ...NAME, Airport: "Lima" },
  },
  "dropdown of a library without roles, in a portal": {
    html: around(
      `<div class=form-group><label>Team</label><div class="select__control" tabindex=0><span class=select__placeholder>Select team</span></div></div>`,
      `const ctl = document.querySelector(".select__control"); ctl.addEventListener("mousedown", () => { const p = document.createElement("div"); p.className = "portal"; p.innerHTML = "<div class=menu>" + ["Blue team", "Red team"].map((x) => "<div class=item>" + x + "</div>").join("") + "</div>"; document.body.append(p); for (const i of p.querySelectorAll(".item")) i.addEventListener("click", () => { v = { team: i.textContent }; ctl.innerHTML = "<span>" + i.textContent + "</span>"; p.remove(); }); });`,
    ),
    fields: { ...NAME, Team: "Red team" },
  },
  "values added as the form is sent": {
    html: `<form id=f method=post action=send><label>Name <input name=n></label><label>Town <input id=t></label><button>Send</button></form><script>f.addEventListener("formdata", (e) => { e.formData.append("address[town]", t.value); e.formData.append("ts", Date.now()) })</script>`,
    fields: { Name: "Ann", Town: "Lund" },
  },
  "picture cards": {
    html: `<form method=post action=send><label>Name <input name=n></label><fieldset><legend>Theme</legend><label><input type=radio name=t value=d style="display:none"><img alt=Dark width=40 height=40></label><label><input type=radio name=t value=l style="display:none"><img alt=Light width=40 height=40></label></fieldset><button>Send</button></form>`,
    fields: { Name: "Ann", Theme: "Light" },
  },
  "columns of a grid": {
    html: `<form method=post action=send><div class=row><div class=col><label>Name</label></div><div class=col><input name=a></div></div><div class=row><div class=col><label>Age</label></div><div class=col><input name=b></div></div><button>Send</button></form>`,
    fields: { Name: "Ann", Age: "41" },
  },
};
