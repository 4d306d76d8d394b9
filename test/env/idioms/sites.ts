import { type Idioms, json, page, redirect } from "./idiom.js";

/** Pages in the manner of frameworks, form services and component libraries, as their users write them. */

const VUE_LIKE = `<div id=app><h1>Request a quote</h1><div class=field><label>Company</label><input data-m=company></div>
  <div class=field><label>Seats</label><input type=number data-m=seats></div>
  <div class=field><label><input type=checkbox data-m=trial> Start with a trial</label></div>
  <button class="btn btn-primary" id=go>Request quote</button><p id=out></p></div>
  <script>const model = { company: "", seats: 0, trial: false };
  for (const e of document.querySelectorAll("[data-m]")) e.addEventListener(e.type === "checkbox" ? "change" : "input", () => { model[e.dataset.m] = e.type === "checkbox" ? e.checked : e.type === "number" ? Number(e.value) : e.value; });
  go.onclick = async () => { const r = await fetch("quotes", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ quote: { companyName: model.company, seatCount: model.seats, wantsTrial: model.trial } }) }); out.textContent = r.ok ? "We will be in touch." : "Failed"; }</script>`;

export const SITES: Idioms = {
  "vue-like model": { html: VUE_LIKE, fields: { Company: "Fern Ltd", Seats: 12, "Start with a trial": true } },
  "react-hook-form with zod": {
    html: `<form id=f novalidate><label for=r1>Full name</label><input id=r1><span class=error-slot></span><label for=r2>E-mail</label><input id=r2 type=email><button type=submit>Sign up</button></form><div id=done></div>
      <script>const state = {}; document.addEventListener("input", (e) => { if (e.target.id) state[e.target.id] = e.target.value; });
      f.addEventListener("submit", async (e) => { e.preventDefault(); if (!/@/.test(state.r2 ?? "")) { f.querySelector(".error-slot").innerHTML = '<p class="text-red error" role=alert>E-mail is required</p>'; return; }
      await new Promise((r) => setTimeout(r, 120)); const res = await fetch("api/signup", { method: "POST", body: JSON.stringify({ user: { fullName: state.r1, email: state.r2 } }), headers: { "Content-Type": "application/json" } }); if (res.status === 201) { f.remove(); done.innerHTML = "<h2>Thanks!</h2>"; } })</script>`,
    fields: { "Full name": "Ann Lee", "E-mail": "ann@post.example" },
    answer: (r, s) => r.method === "POST" && json(s, { id: 7 }, 201),
  },
  "htmx fragment": {
    html: `<div id=box><form id=f><label>Name <input name=name></label><label>Topic <select name=topic><option value="">Choose</option><option value=b>Billing</option><option value=s>Support</option></select></label><button>Send</button></form></div>
      <script>f.onsubmit = async (e) => { e.preventDefault(); const r = await fetch("contact", { method: "POST", headers: { "HX-Request": "true" }, body: new URLSearchParams(new FormData(f)) }); box.outerHTML = await r.text(); }</script>`,
    fields: { Name: "Bo Fern", Topic: "Support" },
    answer: (r, s) => r.method === "POST" && page(s, `<div id=box><p>Your message has been sent.</p></div>`),
  },
  "htmx fragment with errors": {
    html: `<div id=box><form id=f><label>Name <input name=name></label><label>Age <input name=age></label><button>Send</button></form></div>
      <script>f.onsubmit = async (e) => { e.preventDefault(); const r = await fetch("contact", { method: "POST", body: new URLSearchParams(new FormData(f)) }); box.outerHTML = await r.text(); }</script>`,
    fields: { Name: "Bo Fern", Age: "12" },
    accepted: false,
    answer: (r, s) =>
      r.method === "POST" &&
      page(
        s,
        `<div id=box><form><label>Name <input name=name value="Bo Fern"></label><label>Age <input name=age value=12 aria-invalid=true></label><p class=field-error>You have to be 18.</p><button>Send</button></form></div>`,
      ),
  },
  "livewire-like updates": {
    html: `<form id=f><label>Title <input name=title></label><label>Body <textarea name=body></textarea></label><button>Publish</button></form><p id=out></p>
      <script>const call = (method, data) => fetch("livewire/update", { method: "POST", body: JSON.stringify({ components: [{ snapshot: JSON.stringify({ data: {} }), updates: data, calls: method ? [{ method, params: [] }] : [] }] }) });
      for (const e of f.elements) e.addEventListener("blur", () => e.name && call("", { [e.name]: e.value }));
      f.onsubmit = (e) => { e.preventDefault(); call("save", Object.fromEntries(new FormData(f))).then(() => { out.textContent = "Published"; }); }</script>`,
    fields: { Title: "Moss", Body: "A short text about moss." },
    answer: (r, s) => r.method === "POST" && json(s, { components: [{ effects: { returns: [null] } }] }),
  },
  "angular-like touched validation": {
    html: `<form id=f class=ng-pristine><mat-form-field><mat-label><label for=mat-input-0>City</label></mat-label><input id=mat-input-0 class="ng-untouched"></mat-form-field><mat-form-field><label for=mat-input-1>Postcode</label><input id=mat-input-1 inputmode=numeric></mat-form-field><button type=submit disabled>Continue</button></form>
      <script>const a = document.getElementById("mat-input-0"), b = document.getElementById("mat-input-1"), go = f.querySelector("button"); const check = () => { go.disabled = !(a.value && /^\\d{5}$/.test(b.value)); };
      for (const e of [a, b]) { e.addEventListener("keyup", check); e.addEventListener("blur", () => { e.className = "ng-touched"; }); }
      f.onsubmit = (e) => { e.preventDefault(); const x = new XMLHttpRequest(); x.open("PUT", "rest/addresses/42"); x.setRequestHeader("content-type", "application/json"); x.send(JSON.stringify({ address: { city: a.value, zip: b.value } })); }</script>`,
    fields: { City: "Lund", Postcode: "22100" },
  },
  "jquery-validate style": {
    html: `<form id=f method=post action=save novalidate><p><label for=u>User name</label> <input id=u name=username></p><p><label for=b>Birthday</label> <input id=b name=birthday placeholder="dd/mm/yyyy"></p><input type=submit value="Save changes"></form>
      <script>f.addEventListener("submit", (e) => { const bad = [...f.elements].filter((x) => x.name && !x.value); if (bad.length) { e.preventDefault(); for (const x of bad) x.insertAdjacentHTML("afterend", '<label class=error>This field is required.</label>'); } })</script>`,
    fields: { "User name": "fern", Birthday: "1990-03-05" },
    answer: (r, s) => r.method === "POST" && redirect(s, "done"),
    more: { done: "<h1>Saved</h1><p>Your changes have been saved.</p>" },
  },
  "rails scaffold": {
    html: `<form action=posts method=post accept-charset=UTF-8><input type=hidden name=utf8 value="✓"><input type=hidden name=authenticity_token value=tok123><div class=field><label for=post_title>Title</label><input type=text name="post[title]" id=post_title></div><div class=field><label for=post_public>Public</label><input name="post[public]" type=hidden value=0><input type=checkbox value=1 name="post[public]" id=post_public></div><div class=actions><input type=submit name=commit value="Create Post" data-disable-with="Create Post"></div></form>`,
    fields: { Title: "Lichen", Public: true },
    answer: (r, s) => r.method === "POST" && redirect(s, "posts-1", 302),
    more: {
      "posts-1": `<p id=notice style="color: green">Post was successfully created.</p><p><strong>Title:</strong> Lichen</p><a href="edit">Edit</a>`,
    },
  },
  "rails scaffold with errors": {
    html: `<form action=posts method=post><div class=field><label for=post_title>Title</label><input type=text name="post[title]" id=post_title></div><input type=submit value="Create Post"></form>`,
    fields: { Title: "Lichen" },
    accepted: false,
    answer: (r, s) =>
      r.method === "POST" &&
      page(
        s,
        `<form action=posts method=post><div id=error_explanation><h2>1 error prohibited this post from being saved:</h2><ul><li>Title has already been taken</li></ul></div><div class=field><div class=field_with_errors><label for=post_title>Title</label></div><div class=field_with_errors><input type=text value=Lichen name="post[title]" id=post_title></div></div><input type=submit value="Create Post"></form>`,
      ),
  },
  "django admin": {
    html: `<div id=content><h1>Add book</h1><form method=post id=book_form><input type=hidden name=csrfmiddlewaretoken value=x><fieldset class=module><div class="form-row field-name"><div><label class=required for=id_name>Name:</label> <input type=text name=name id=id_name></div></div><div class="form-row"><label for=id_pages>Pages:</label> <input type=number name=pages id=id_pages></div></fieldset><div class=submit-row><input type=submit value=Save class=default name=_save><input type=submit value="Save and add another" name=_addanother><input type=submit value="Save and continue editing" name=_continue></div></form></div>`,
    fields: { Name: "Ferns", Pages: 210 },
    answer: (r, s) => r.method === "POST" && redirect(s, "list", 302),
    more: {
      list: `<ul class=messagelist><li class=success>The book “Ferns” was added successfully.</li></ul><h1>Select book to change</h1><form><input name=q><button>Search</button></form>`,
    },
  },
  "contact form 7": {
    html: `<div class=wpcf7><form class=wpcf7-form method=post action="#wpcf7-f5"><input type=hidden name=_wpcf7 value=5><p><label> Your name<br><span class=wpcf7-form-control-wrap><input size=40 class="wpcf7-form-control" name=your-name></span></label></p><p><label> Your message<br><textarea name=your-message></textarea></label></p><p><input class="wpcf7-form-control wpcf7-submit" type=submit value=Send></p><div class=wpcf7-response-output aria-hidden=true></div></form></div>
      <script>document.querySelector(".wpcf7-form").addEventListener("submit", (e) => { e.preventDefault(); fetch("wp-json/contact-form-7/v1/contact-forms/5/feedback", { method: "POST", body: new FormData(e.target) }).then((r) => r.json()).then((j) => { document.querySelector(".wpcf7-response-output").textContent = j.message; }); })</script>`,
    fields: { "Your name": "Cy Brook", "Your message": "Please call me back." },
    answer: (r, s) =>
      r.method === "POST" &&
      json(s, {
        contact_form_id: 5,
        status: "mail_sent",
        message: "Thank you for your message. It has been sent.",
        posted_data_hash: "a",
        invalid_fields: [],
      }),
  },
  "contact form 7 taken for spam": {
    html: `<form class=wpcf7-form method=post><p><label> Your name <input name=your-name></label></p><p><input type=submit value=Send></p><div class=wpcf7-response-output></div></form>
      <script>document.querySelector("form").addEventListener("submit", (e) => { e.preventDefault(); fetch("feedback", { method: "POST", body: new FormData(e.target) }).then((r) => r.json()).then((j) => { document.querySelector(".wpcf7-response-output").textContent = j.message; }); })</script>`,
    fields: { "Your name": "Cy Brook" },
    accepted: false,
    answer: (r, s) =>
      r.method === "POST" &&
      json(s, {
        status: "spam",
        message: "There was an error trying to send your message. Please try again later.",
        invalid_fields: [],
      }),
  },
  "wordpress admin-ajax": {
    html: `<form id=f><label for=w1>Phone</label><input id=w1 name=phone type=tel><label for=w2>Best time</label><input id=w2 name=when type=time><button class=elementor-button>Book a call</button></form>
      <script>f.onsubmit = (e) => { e.preventDefault(); fetch("wp-admin/admin-ajax.php", { method: "POST", body: new URLSearchParams({ action: "book", nonce: "ab", data: new URLSearchParams(new FormData(f)).toString() }) }); }</script>`,
    fields: { Phone: "555 010 7788", "Best time": "14:30" },
    answer: (r, s) => r.method === "POST" && json(s, { success: true, data: null }),
  },
  "formspree-like service": {
    html: `<form action="f/abc" method=POST><label>Email: <input type=email name=email></label><label>Message: <textarea name=message></textarea></label><input type=text name=_gotcha style="display:none"><button type=submit>Send</button></form>`,
    fields: { Email: "dee@post.example", Message: "Is the hall free in May?" },
    answer: (r, s) => r.method === "POST" && redirect(s, "../thanks", 302),
    more: { thanks: "<h1>Thanks!</h1><p>The form was submitted successfully.</p><a href=..>Go back</a>" },
  },
  "typeform-like one at a time": {
    html: `<div id=app></div><script>const asks = [["What is your name?", "text", "name"], ["What is your email?", "email", "email"], ["What do you want to tell us?", "text", "note"]]; const got = {}; let at = -1;
      function draw() { if (at < 0) { app.innerHTML = "<h1>Hello</h1><button id=s>Start</button>"; s.onclick = () => { at = 0; draw(); }; return; }
        if (at === asks.length) { app.innerHTML = "<button id=e>Submit</button>"; e.onclick = () => fetch("responses", { method: "POST", body: JSON.stringify({ answers: asks.map(([q, t, k]) => ({ field: k, type: t, text: got[k] })) }) }).then(() => { app.innerHTML = "<h2>Done. Thank you!</h2>"; }); return; }
        const [q, t, k] = asks[at]; app.innerHTML = '<label for=x></label><input id=x><button id=o>OK</button><button id=n>Next</button>'; app.querySelector("label").textContent = q; x.type = t; o.remove(); n.onclick = () => { got[k] = x.value; at++; draw(); }; } draw();</script>`,
    fields: {
      "What is your name?": "Eve Hill",
      "What is your email?": "eve@post.example",
      "What do you want to tell us?": "Nothing much.",
    },
  },
  "google-forms-like": {
    html: `<form id=f action=formResponse method=post><input type=hidden name=entry.1><input type=hidden name=entry.2><div role=listitem><div role=heading aria-level=3 id=i1><span>Team name</span> <span aria-label="Required question">*</span></div><input aria-labelledby=i1 id=a></div>
      <div role=listitem><div role=heading aria-level=3 id=i2>Meal</div><div role=radiogroup aria-labelledby=i2><label><div role=radio aria-checked=false aria-label=Fish data-value=Fish tabindex=0>o</div>Fish</label><label><div role=radio aria-checked=false aria-label=Soup data-value=Soup tabindex=0>o</div>Soup</label></div></div><div role=button tabindex=0 id=go><span>Submit</span></div></form>
      <script>a.oninput = () => { f.elements["entry.1"].value = a.value; }; for (const r of f.querySelectorAll("[role=radio]")) r.onclick = () => { for (const o of f.querySelectorAll("[role=radio]")) o.setAttribute("aria-checked", o === r); f.elements["entry.2"].value = r.dataset.value; };
      go.onclick = () => f.submit();</script>`,
    fields: { "Team name": "Moss", Meal: "Soup" },
    answer: (r, s) =>
      r.method === "POST" &&
      page(s, "<title>Party</title><div>Your response has been recorded.</div><a href=#>Submit another response</a>"),
  },
  "mui text fields and select": {
    html: `<form id=f><div class=MuiFormControl-root><label class=MuiInputLabel-root for=:r1: id=:r1:-label>Nickname</label><div><input id=:r1: aria-invalid=false></div></div>
      <div class=MuiFormControl-root><label id=lab>Country</label><div class=MuiSelect-root><div tabindex=0 role=combobox aria-controls=menu-list aria-expanded=false aria-haspopup=listbox aria-labelledby="lab sel" id=sel><span>&#8203;</span></div><input aria-hidden=true tabindex=-1 class=MuiSelect-nativeInput value="" style="opacity:0;position:absolute;pointer-events:none"></div></div>
      <span class=MuiSwitch-root><label><input type=checkbox role=switch id=sw> Public profile</label></span><button class="MuiButton-root" type=submit>Save</button></form>
      <script>let chosen = ""; sel.addEventListener("mousedown", () => { if (document.getElementById("menu-list")) return; const p = document.createElement("div"); p.innerHTML = '<div class=MuiBackdrop style="position:fixed;inset:0"></div><ul role=listbox id=menu-list style="position:absolute;top:80px;background:#fff">' + ["Sweden", "Norway", "Peru"].map((c) => '<li role=option tabindex=-1 data-value=' + c.slice(0, 2).toUpperCase() + '>' + c + '</li>').join("") + "</ul>"; document.body.append(p); sel.setAttribute("aria-expanded", true);
      p.onclick = (e) => { const v = e.target.dataset.value; if (v) { chosen = v; sel.textContent = e.target.textContent; f.querySelector(".MuiSelect-nativeInput").value = v; } p.remove(); sel.setAttribute("aria-expanded", false); }; });
      f.onsubmit = (e) => { e.preventDefault(); fetch("graphql", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ operationName: "Save", query: "mutation Save($input: In!) { save(input: $input) { id } }", variables: { input: { nick: document.getElementById(":r1:").value, countryCode: chosen, isPublic: sw.checked } } }) }); }</script>`,
    fields: { Nickname: "moss", Country: "Norway", "Public profile": true },
    answer: (r, s) => r.method === "POST" && json(s, { data: { save: { id: 1 } } }),
  },
  "graphql errors with status 200": {
    html: `<form id=f><label>Handle <input id=h></label><button>Create account</button></form><p id=o></p><script>f.onsubmit = (e) => { e.preventDefault(); fetch("graphql", { method: "POST", body: JSON.stringify({ query: "mutation{}", variables: { handle: h.value } }) }).then((r) => r.json()).then((j) => { o.textContent = j.data ? "Created" : "x"; }); }</script>`,
    fields: { Handle: "moss-eater" },
    accepted: false,
    answer: (r, s) =>
      r.method === "POST" &&
      json(s, { data: { createAccount: { account: null, userErrors: [{ field: ["handle"], message: "is taken" }] } } }),
  },
  "antd select and date": {
    html: `<form id=f><div class=ant-form-item><label for=who>Owner</label><input id=who class=ant-input></div><div class=ant-form-item><div class=ant-form-item-label><label for=prio title=Priority>Priority</label></div><div class="ant-select"><div class=ant-select-selector style="border:1px solid;height:24px;position:relative"><span class=ant-select-selection-search><input type=search id=prio role=combobox aria-haspopup=listbox aria-owns=prio_list aria-controls=prio_list aria-expanded=false readonly style="opacity:0;width:100%"></span><span class=ant-select-selection-placeholder>Please select</span></div></div></div><button class="ant-btn ant-btn-primary"><span>Submit</span></button></form><div id=pop></div>
      <script>let prio; const opts = [["low", "Low"], ["high", "High"], ["top", "Top most"]]; document.querySelector(".ant-select-selector").addEventListener("mousedown", (e) => { e.preventDefault(); document.getElementById("prio").setAttribute("aria-expanded", true);
      pop.innerHTML = '<div class=ant-select-dropdown><div role=listbox id=prio_list style="height:0;width:0;overflow:hidden"><div role=option aria-label=Low>low</div></div><div class=rc-virtual-list>' + opts.map(([v, t]) => '<div class=ant-select-item title="' + t + '"><div class=ant-select-item-option-content>' + t + '</div></div>').join("") + "</div></div>";
      for (const it of pop.querySelectorAll(".ant-select-item")) it.onclick = () => { prio = opts.find(([, t]) => t === it.title)[0]; const s = document.querySelector(".ant-select-selector"); s.querySelector(".ant-select-selection-placeholder,.ant-select-selection-item").outerHTML = '<span class=ant-select-selection-item title="' + it.title + '">' + it.title + "</span>"; pop.innerHTML = ""; document.getElementById("prio").setAttribute("aria-expanded", false); }; });
      f.onsubmit = (e) => { e.preventDefault(); if (!prio) return; fetch("tickets", { method: "POST", body: JSON.stringify({ owner: who.value, priority: prio }) }); }</script>`,
    fields: { Owner: "Gus", Priority: "Top most" },
  },
  "headless ui listbox": {
    html: `<form id=f method=post action=assign><label id=hl>Assigned to</label><button type=button id=hb aria-haspopup=listbox aria-expanded=false aria-labelledby="hl hb">Wade Cooper</button><div id=hp></div><input type=hidden name=person[id] value=1><input type=hidden name=person[name] value="Wade Cooper"><label>Note <input name=note></label><button>Assign</button></form>
      <script>const people = ["Wade Cooper", "Tom Cook", "Tanya Fox"]; hb.onclick = () => { const open = hb.getAttribute("aria-expanded") === "true"; hb.setAttribute("aria-expanded", !open); hp.innerHTML = open ? "" : '<ul role=listbox tabindex=0>' + people.map((p, i) => '<li role=option id=o' + i + ' aria-selected=' + (hb.textContent === p) + '><span>' + p + "</span></li>").join("") + "</ul>"; for (const li of hp.querySelectorAll("li")) li.onclick = () => { hb.textContent = li.textContent; f.elements["person[name]"].value = li.textContent; f.elements["person[id]"].value = Number(li.id.slice(1)) + 1; hp.innerHTML = ""; hb.setAttribute("aria-expanded", false); }; }</script>`,
    fields: { "Assigned to": "Tanya Fox", Note: "as agreed" },
  },
  "radix checkbox and radio cards": {
    html: `<form id=f><div role=radiogroup aria-label=Plan><button type=button role=radio aria-checked=true value=free class=card><h3>Free</h3><p>One project</p></button><button type=button role=radio aria-checked=false value=pro class=card aria-label=Pro><h3>Pro</h3><p>Ten projects</p></button></div><div><button type=button role=checkbox aria-checked=false id=c1></button><input type=checkbox aria-hidden=true tabindex=-1 style="position:absolute;opacity:0;pointer-events:none"><label for=c1>I accept the terms</label></div><button type=submit>Start</button></form>
      <script>let plan = "free", ok = false; for (const b of f.querySelectorAll("[role=radio]")) b.onclick = () => { plan = b.value; for (const o of f.querySelectorAll("[role=radio]")) o.setAttribute("aria-checked", o === b); }; c1.onclick = () => { ok = !ok; c1.setAttribute("aria-checked", ok); };
      f.onsubmit = (e) => { e.preventDefault(); fetch("subscriptions", { method: "POST", body: JSON.stringify({ plan, acceptedTerms: ok }) }); }</script>`,
    fields: { Plan: "Pro", "I accept the terms": true },
  },
  "stripe-like checkout": {
    html: `<form id=f><label for=em>Email</label><input id=em autocomplete=email><fieldset><legend>Card information</legend><input id=cn aria-label="Card number" inputmode=numeric placeholder="1234 1234 1234 1234"><input id=ex aria-label=Expiration placeholder="MM / YY"><input id=cv aria-label=CVC></fieldset><button type=submit><span>Pay</span> <span>$20.00</span></button></form>
      <script>cn.oninput = () => { cn.value = cn.value.replace(/\\D/g, "").slice(0, 16).replace(/(.{4})(?=.)/g, "$1 "); }; ex.oninput = () => { const d = ex.value.replace(/\\D/g, "").slice(0, 4); ex.value = d.length > 2 ? d.slice(0, 2) + " / " + d.slice(2) : d; };
      f.onsubmit = async (e) => { e.preventDefault(); navigator.sendBeacon("track", JSON.stringify({ event: "pay_click" })); const t = await (await fetch("tokens", { method: "POST", body: new URLSearchParams({ key: "pk" }) })).json(); await fetch("charges", { method: "POST", body: new URLSearchParams({ token: t.id, "card[number]": cn.value.replace(/ /g, ""), "card[exp]": ex.value.replace(/\\s/g, ""), "card[cvc]": cv.value, receipt_email: em.value }) }); }</script>`,
    fields: { Email: "hal@post.example", "Card number": "4242424242424242", Expiration: "0429", CVC: "123" },
    answer: (r, s) => r.method === "POST" && json(s, { id: "tok_1", status: "succeeded" }),
  },
  "bootstrap modal form": {
    html: `<h1>Rooms</h1><form action=search role=search><input name=q placeholder=Search><button>Search</button></form><button class="btn btn-primary" data-bs-toggle=modal data-bs-target=#m>Book a room</button><div class=modal id=m style="display:none" role=dialog aria-modal=true aria-labelledby=mt><h5 id=mt>Book a room</h5><form id=f><label for=g>Guest</label><input id=g name=guest><label for=n>Nights</label><input id=n name=nights type=number><button type=button class="btn btn-secondary" data-bs-dismiss=modal>Close</button><button class="btn btn-primary">Book</button></form></div>
      <script>document.querySelector("[data-bs-toggle]").onclick = () => { m.style.display = "block"; }; f.onsubmit = (e) => { e.preventDefault(); fetch("bookings", { method: "POST", body: new FormData(f) }).then(() => { m.style.display = "none"; }); }</script>`,
    fields: { Guest: "Ida Moor", Nights: 3 },
  },
  "turbo form answered with 303": {
    html: `<form id=f action=notes method=post><label>Note <input name="note[text]"></label><button>Add note</button></form><script>f.onsubmit = async (e) => { e.preventDefault(); const r = await fetch(f.action, { method: "POST", body: new URLSearchParams(new FormData(f)), headers: { accept: "text/vnd.turbo-stream.html, text/html" } }); if (r.redirected) document.body.innerHTML = await r.text(); }</script>`,
    fields: { Note: "Water the fern" },
    answer: (r, s) => r.method === "POST" && redirect(s, "list"),
    more: { list: "<h1>Notes</h1><ul><li>Water the fern</li></ul>" },
  },
  "session that has expired on the way": {
    html: `<form method=post action=save><label>Name <input name=n></label><button>Save</button></form>`,
    fields: { Name: "Jo" },
    accepted: false,
    answer: (r, s) => r.method === "POST" && redirect(s, "login?next=/", 302),
    more: {
      login:
        "<h1>Sign in</h1><form method=post><label>User <input name=u></label><label>Password <input type=password name=p></label><button>Sign in</button></form>",
    },
  },
  "phoenix live view socket": {
    html: `<form id=f phx-submit=save><label>Room <input name=room></label><label>Seats <input name=seats type=number></label><button>Reserve</button></form><script>const ws = new WebSocket("ws://" + location.host + "/live"); f.onsubmit = (e) => { e.preventDefault(); ws.send(JSON.stringify(["4", "12", "lv:phx-1", "event", { type: "form", event: "save", value: new URLSearchParams(new FormData(f)).toString() }])); }</script>`,
    fields: { Room: "Green", Seats: 8 },
  },
  "gov.uk date and radios": {
    html: `<form method=post action=apply novalidate><div class=govuk-form-group><label class=govuk-label for=fn>Full name</label><input class=govuk-input id=fn name=fullName></div><div class=govuk-form-group><fieldset class=govuk-fieldset role=group><legend class=govuk-fieldset__legend>Date of birth</legend><div class=govuk-hint>For example, 27 3 1984</div><div class=govuk-date-input><label for=d1>Day</label><input id=d1 name=dob-day inputmode=numeric><label for=d2>Month</label><input id=d2 name=dob-month inputmode=numeric><label for=d3>Year</label><input id=d3 name=dob-year inputmode=numeric></div></fieldset></div><fieldset><legend>Do you live in the area?</legend><input type=radio id=y1 name=area value=y><label for=y1>Yes</label><input type=radio id=y2 name=area value=n><label for=y2>No</label></fieldset><button class=govuk-button>Continue</button></form>`,
    fields: { "Full name": "Kai Stone", "Date of birth": "1984-03-27", "Do you live in the area?": "Yes" },
    answer: (r, s) => r.method === "POST" && redirect(s, "done"),
    more: { done: "<h1>Application complete</h1>" },
  },
  "shoelace-like web components": {
    html: `<form id=f><sl-input label="First name" name=first></sl-input><sl-input label="Last name" name=last></sl-input><sl-button>Save</sl-button></form><script>
      customElements.define("sl-input", class extends HTMLElement { connectedCallback() { const r = this.attachShadow({ mode: "open" }); r.innerHTML = '<label part=l for=input></label><input id=input class=input__control>'; r.querySelector("label").textContent = this.getAttribute("label"); } get value() { return this.shadowRoot.querySelector("input").value; } });
      customElements.define("sl-button", class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: "open" }).innerHTML = "<button type=button><slot></slot></button>"; } });
      f.querySelector("sl-button").onclick = () => fetch("people", { method: "POST", body: JSON.stringify(Object.fromEntries([...f.querySelectorAll("sl-input")].map((e) => [e.getAttribute("name"), e.value]))) });</script>`,
    fields: { "First name": "Lea", "Last name": "Sand" },
  },
  "optimistic save with a failing server": {
    html: `<form id=f><label>Amount <input id=a></label><button>Transfer</button></form><div id=toasts aria-live=polite></div><script>f.onsubmit = (e) => { e.preventDefault(); fetch("transfers", { method: "POST", body: JSON.stringify({ amount: a.value }) }).then((r) => r.json()).then((j) => { toasts.textContent = j.result === "E17" ? "Your transfer could not be completed." : "Sent."; }); }</script>`,
    fields: { Amount: "250" },
    accepted: false,
    answer: (r, s) => r.method === "POST" && json(s, { result: "E17" }),
  },
  "server wizard": {
    html: `<h1>Step 1 of 2</h1><form method=post action=step1><label>Name <input name=name></label><button>Next</button></form>`,
    fields: { Name: "Mia Vale", Colour: "Green" },
    answer: (r, s) => (r.method === "POST" ? (r.path === "step1" ? redirect(s, "two") : redirect(s, "end")) : false),
    more: {
      two: "<h1>Step 2 of 2</h1><form method=post action=step2><label>Colour <select name=colour><option value=''>-</option><option value=g>Green</option><option value=r>Red</option></select></label><button>Finish</button></form>",
      end: "<h1>All done</h1>",
    },
  },
};
