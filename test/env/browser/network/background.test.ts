import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { type Fail, FIELDS, FORM, PLAN, playFailing, playForm, taskFor, using } from "../../page-site.js";

const error: Fail = (r) => void r.writeHead(503).end();
const half: Fail = (r) => {
  r.writeHead(200, { "content-type": "text/javascript", "content-length": 5000 });
  r.write(`/* the first half */`, () => r.destroy());
};
const silence: Fail = () => undefined;
const onSubmit = (script: string): string =>
  `<script>document.forms[0].onsubmit = (e) => { e.preventDefault(); ${script} }</script>`;

const POST = `fetch("", { method: "POST", body: new FormData(document.forms[0]) })`;
const XHR = `<script>const x = new XMLHttpRequest(); x.open("POST", "/x1"); x.send("q")</script>`;

// forms that are complete only with data that their script requests, by the kind of request
test("a page whose own script or request the server fails is tried again, and then scored", () =>
  playFailing([
    ["/script-503", error, /HTTP 503 for GET \/s1.js/, "/s1.js", `<script src="/s1.js"></script>`],
    ["/script-half", half, /no answer to GET \/s2.js/, "/s2.js", `<script async src="/s2.js"></script>`],
    ["/fetch-503", error, /HTTP 503 for GET \/f1$/, "/f1", `<script>fetch("/f1?x=1").catch(() => 0)</script>`],
    ["/xhr-half", half, /no answer to POST \/x1/, "/x1", XHR],
    ["/check-503", error, /HTTP 503 for GET \/c1/, "/c1", onSubmit(`fetch("/c1").then((r) => { if (r.ok) ${POST} })`)],
    ["/check-silent", silence, /no answer to GET \/c2/, "/c2", onSubmit(`fetch("/c2").then(() => ${POST})`)],
  ]));

test("a background request that stays without an answer leaves the episode without a reward", async () => {
  const answer = ({ url }: { url: string }, response: ServerResponse): boolean => {
    if (url !== "/options") return false;
    response.writeHead(500).end();
    return true;
  };
  await using({ "/a": `${FORM}<script>fetch("/options")</script>` }, { answer }, async (runner) => {
    const episode = await playForm(runner, "/a");
    assert.deepEqual([episode.fault, episode.attempts], ["HTTP 500 for GET /options", 3]);
    assert.ok(Number.isNaN(episode.reward));
    await assert.rejects(runner.snapshot(taskFor("/a")), /HTTP 500 for GET \/options/);
  });
});

/** Pages with events that resemble a server failure but are none. */
const SOUND: Record<string, string> = {
  missing: `${FORM}<script src="/nowhere.js"></script><script>fetch("/nowhere"); fetch("//127.0.0.1:9/abroad").catch(() => 0)</script>`,
  "long-poll": `${FORM}<script>fetch("/open")</script>`,
  "taken-back": `${FORM}<script>const c = new AbortController(); fetch("/open", { signal: c.signal }).catch(() => 0); setTimeout(() => c.abort(), 5)</script>`,
  again: `${FORM}<script>const ask = () => fetch("/busy-once").then((r) => r.ok || ask()); ask()</script>`,
  "on-input": `${FORM}<script>document.forms[0].n.oninput = () => fetch("/open")</script>`,
  "while-leaving": `${FORM}<script>document.forms[0].onsubmit = (e) => { e.preventDefault();
    fetch("", { method: "POST", body: new FormData(document.forms[0]) }).then(() => fetch("/always-busy")); }</script>`,
  "late-options": `${FORM.replace("<button", `<label>Colour <select name=c></select></label><button`)}<script>
    fetch("/slow").then((r) => r.text()).then((t) => requestAnimationFrame(() => {
      for (const o of t.split(",")) document.forms[0].c.add(new Option(o)); }))</script>`,
};

test("no failure: what is missing, kept open, taken back, asked again, or asked for after the post", async () => {
  let busy = 1;
  const answer = ({ url }: { url: string }, response: ServerResponse): boolean => {
    if (url === "/open") return true;
    if (url === "/busy-once" || url === "/always-busy") {
      response.writeHead(url === "/always-busy" || busy-- > 0 ? 503 : 200).end("{}");
      return true;
    }
    if (url !== "/slow") return false;
    setTimeout(() => response.end("Blue,Red"), 100);
    return true;
  };
  const pages = Object.fromEntries(Object.entries(SOUND).map(([name, page]) => [`/${name}`, page]));
  // the page's script refuses the form while a request stays open: a failure of the policy, not of the server
  pages["/refused"] =
    `${FORM}<script>setInterval(() => fetch("/open"), 300); document.forms[0].onsubmit = () => false; fetch("/open")</script>`;
  await using(pages, { answer }, async (runner) => {
    for (const name of Object.keys(SOUND)) {
      const late = name === "late-options" ? { Colour: "Red" } : {};
      const plan = name === "late-options" ? `select Colour | Red\n${PLAN}` : PLAN;
      const episode = await runner.run(taskFor(`/${name}`, { ...FIELDS, ...late }), plan);
      assert.deepEqual([name, episode.fault, episode.reward, episode.attempts], [name, undefined, 1, 1]);
    }
    const refused = await playForm(runner, "/refused");
    assert.deepEqual([refused.fault, refused.accepted, refused.attempts], [undefined, false, 1]);
  });
});
