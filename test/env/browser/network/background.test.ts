import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import type { EpisodeOptions } from "../../../../src/env/browser/episode.js";
import { taskFor, using } from "../../page-site.js";

const FORM = `<form method=post><label>Name <input name=n></label><button>Submit</button></form>`;
const PLAN = "fill Name | Ann\nsubmit";
const FIELDS = { Name: "Ann" };

type Fail = (response: ServerResponse) => void;
const error: Fail = (r) => void r.writeHead(503).end();
const half: Fail = (r) => {
  r.writeHead(200, { "content-type": "text/javascript", "content-length": 5000 });
  r.write(`/* the first half */`, () => r.destroy());
};
const silence: Fail = () => undefined;

/** Forms that are complete only with data that their script requests, by the kind of request. */
const PAGES: Record<string, { page: string; part: string; ok: string; fail: Fail; fault: RegExp }> = {
  "/script-503": {
    page: `${FORM}<script src="/s1.js"></script>`,
    part: "/s1.js",
    ok: ";",
    fail: error,
    fault: /HTTP 503 for GET \/s1.js/,
  },
  "/script-half": {
    page: `${FORM}<script async src="/s2.js"></script>`,
    part: "/s2.js",
    ok: ";",
    fail: half,
    fault: /no answer to GET \/s2.js/,
  },
  "/fetch-503": {
    page: `${FORM}<script>fetch("/f1?x=1").then((r) => r.text()).catch(() => 0)</script>`,
    part: "/f1",
    ok: "{}",
    fail: error,
    fault: /HTTP 503 for GET \/f1$/,
  },
  "/xhr-half": {
    page: `${FORM}<script>const x = new XMLHttpRequest(); x.open("POST", "/x1"); x.send("q")</script>`,
    part: "/x1",
    ok: "{}",
    fail: half,
    fault: /no answer to POST \/x1/,
  },
  "/check-503": {
    page: `${FORM}<script>document.forms[0].onsubmit = (e) => { e.preventDefault();
      fetch("/c1").then((r) => { if (r.ok) fetch("", { method: "POST", body: new FormData(document.forms[0]) }); }); }</script>`,
    part: "/c1",
    ok: "{}",
    fail: error,
    fault: /HTTP 503 for GET \/c1/,
  },
  "/check-silent": {
    page: `${FORM}<script>document.forms[0].onsubmit = (e) => { e.preventDefault();
      fetch("/c2").then(() => document.forms[0].submit()); }</script>`,
    part: "/c2",
    ok: "{}",
    fail: silence,
    fault: /no answer to GET \/c2/,
  },
};

test("a page whose own script or request the server fails is tried again, and then scored", async () => {
  const failed = new Set<string>();
  const answer = ({ url }: { url: string }, response: ServerResponse): boolean => {
    const path = url.split("?")[0];
    const page = Object.values(PAGES).find(({ part }) => part === path);
    if (page === undefined) return false;
    if (failed.has(page.part)) response.setHeader("content-type", "text/javascript").end(page.ok);
    else page.fail(response);
    failed.add(page.part);
    return true;
  };
  const faults: string[] = [];
  const log = { warn: ({ fault }: { fault: string }) => faults.push(fault) } as unknown as NonNullable<
    EpisodeOptions["log"]
  >;
  await using(
    Object.fromEntries(Object.entries(PAGES).map(([k, { page }]) => [k, page])),
    { answer, actionTimeoutMs: 6000, log },
    async (runner) => {
      for (const [path, { fault }] of Object.entries(PAGES)) {
        const episode = await runner.run(taskFor(path, FIELDS), PLAN);
        assert.match(faults.at(-1) ?? "none", fault, path);
        assert.deepEqual([path, episode.fault, episode.reward, episode.attempts], [path, undefined, 1, 2]);
      }
    },
  );
});

test("a background request that stays without an answer leaves the episode without a reward", async () => {
  const answer = ({ url }: { url: string }, response: ServerResponse): boolean => {
    if (url !== "/options") return false;
    response.writeHead(500).end();
    return true;
  };
  await using({ "/a": `${FORM}<script>fetch("/options")</script>` }, { answer }, async (runner) => {
    const episode = await runner.run(taskFor("/a", FIELDS), PLAN);
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
    const refused = await runner.run(taskFor("/refused", FIELDS), PLAN);
    assert.deepEqual([refused.fault, refused.accepted, refused.attempts], [undefined, false, 1]);
  });
});
