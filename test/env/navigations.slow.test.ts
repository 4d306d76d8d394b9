import assert from "node:assert/strict";
import { test } from "node:test";
import { FIELDS as NAME, taskFor, using } from "./page-site.js";

const FORM = `<form method=post><label>Name <input name=n></label><label>Age <input name=a></label><button>Submit</button></form>`;
const FIELDS = { ...NAME, Age: "41" };
const PLAN = "fill Name | Ann\nfill Age | 41\nsubmit";
/** Makes a form that runs a script at submission and is sent a moment later. */
const before = (form: string, script: string): string => `${form}<script>const f = document.forms[0];
  f.onsubmit = (e) => { e.preventDefault(); ${script}; setTimeout(() => f.submit(), 150); }</script>`;
const GET = FORM.replace("method=post", "method=get");

/** Pages whose requests between the click and the form's post must not be taken for the post. */
const framed = (inputs: string): string =>
  before(
    `${FORM}<iframe srcdoc="<form method=post action=/frame>${inputs}</form>"></iframe>`,
    "frames[0].document.forms[0].submit()",
  );
const IMPOSTORS: Record<string, string> = {
  "a frame's form with the same names": framed("<input name=n value=Bo><input name=a value=1>"),
  "a frame's form": framed("<input name=q value=1>"),
};

/** Pages that send the values of their form in different ways. */
const WAYS: Record<string, string> = {
  "a post": FORM,
  "a query": GET,
  "a post to where the button says": FORM.replace("<button", "<button formaction=/there formmethod=post"),
  "many parts": FORM.replace("<form", `<form enctype="multipart/form-data"`),
  "a new window": FORM.replace("<form", "<form target=_blank"),
  "a hidden frame": `${FORM.replace("<form", "<form target=sink")}<iframe name=sink hidden></iframe>`,
  "a script's own form": `${FORM}<script>document.forms[0].onsubmit = (e) => { e.preventDefault();
    const own = Object.assign(document.createElement("form"), { method: "post", action: "/own" });
    for (const [name, value] of new FormData(e.target)) own.append(Object.assign(document.createElement("input"), { name, value }));
    document.body.append(own); own.submit(); }</script>`,
  "a script's address": `${FORM}<script>document.forms[0].onsubmit = (e) => { e.preventDefault();
    location = "/found?" + new URLSearchParams(new FormData(e.target)); }</script>`,
  "fetch with JSON": `${FORM}<script>document.forms[0].onsubmit = (e) => { e.preventDefault();
    fetch("/api", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ data: Object.fromEntries(new FormData(e.target)) }) }); }</script>`,
  "fetch, and away": `${FORM}<script>document.forms[0].onsubmit = (e) => { e.preventDefault();
    fetch("/api", { method: "POST", body: new FormData(e.target) }).then(() => { location = "about:blank"; }); }</script>`,
  "XHR without a form": `<label>Name <input id=n></label><label>Age <input id=a></label><button>Submit</button><script>
    document.querySelector("button").onclick = () => { const x = new XMLHttpRequest(); x.open("PUT", "/api"); x.send(JSON.stringify({ n: n.value, a: a.value })); }</script>`,
  "controls named as the form's own parts": `<form method=post><label>Name <input name=elements></label><label>Age <input name=action></label>
    <input type=hidden name=method><input type=hidden name=getAttribute><button>Submit</button></form>`,
};

test("the form's post is the one that carries the form, whatever else navigates; each way of posting counts", async () => {
  const all = { ...IMPOSTORS, ...WAYS };
  const pathOf = (name: string): string => `/${name.replaceAll(/\W+/g, "-")}`;
  // the page to which a script navigates with the values
  const pages = Object.fromEntries(Object.entries({ ...all, found: "Found." }).map(([k, page]) => [pathOf(k), page]));
  const boxes = `<form><label>Fine <input type=checkbox name=b></label><button>Submit</button></form>`;
  await using({ ...pages, "/boxes": boxes }, {}, async (runner) => {
    for (const name of Object.keys(all)) {
      const episode = await runner.run(taskFor(pathOf(name), FIELDS), PLAN);
      assert.deepEqual([name, episode.fault, episode.attempts], [name, undefined, 1]);
      assert.deepEqual([name, episode.accepted, episode.reward], [name, true, 1]);
    }
    // an unticked box sends no name, so nothing identifies the form's request
    const { fault, accepted, posted } = await runner.run(taskFor("/boxes", { Fine: false }), "submit");
    assert.deepEqual([fault, accepted, posted], [undefined, true, []]);
  });
});

test("a page that only goes elsewhere with a query has posted nothing", async () => {
  const away = `${FORM}<script>document.forms[0].onsubmit = (e) => { e.preventDefault(); location = "/elsewhere?ok=1"; }</script>`;
  await using({ "/away": away }, { actionTimeoutMs: 2000 }, async (runner) => {
    const episode = await runner.run(taskFor("/away", FIELDS), PLAN);
    assert.deepEqual([episode.fault, episode.accepted, episode.posted], [undefined, false, []]);
    assert.equal(episode.actions.at(-1)?.detail, "the page posted nothing");
  });
});
