import type { ServerResponse } from "node:http";
import type { Rng } from "../../../src/core/rng.js";
import { splitHash } from "../../../src/env/forms/split-hash.js";
import { FORMS } from "../../../src/features/embedded/catalog.js";
import { createApp } from "../../../src/features/embedded/server.js";
import { declarationOf } from "../../../src/features/embedded/sites/embedded.js";
import { embeddedTasks } from "../../../src/features/embedded/tasks.js";
import { servePages } from "../../env/page-site.js";

/** Ways for the server to fail a request. */
const SERVER_FAULTS: Record<string, (response: ServerResponse) => void> = {
  broken: (r) => void r.writeHead(500).end("{}"),
  busy: (r) => void r.writeHead(503).end(),
  silent: () => undefined,
  reset: (r) => void r.destroy(),
  half: (r) => {
    r.writeHead(200, { "content-type": "text/html", "content-length": 100_000 });
    r.write(`<form method="post"><label>Half <input name="h"></label><button>Submit</button></form>`, () =>
      r.destroy(),
    );
  },
};

/** Scripts that break a page. */
const PAGE_FAULTS: Record<string, string> = {
  loop: `onload = () => { for (;;); }`,
  "loop-on-submit": `addEventListener("submit", () => { for (;;); }, true)`,
  dialogs: `for (;;) alert("again")`,
  windows: `setInterval(() => open("/"), 1)`,
  leaving: `location = "/"`,
  gone: `addEventListener("input", () => { location = "about:blank"; })`,
};

/** Scripts that disturb a page and must not affect the episode. */
const NUISANCES: Record<string, string> = {
  console: `for (let i = 0; i < 500; i++) console.log("noise".repeat(50), i)`,
  storage: `addEventListener("load", () => { for (let i = 0; i < 100; i++) localStorage["k" + i] = "x".repeat(1000); setInterval(() => localStorage.t = Date.now(), 5); })`,
  nodes: `addEventListener("load", () => { const d = document.createElement("div"); d.innerHTML = "<p>x</p>".repeat(2000); document.body.append(d); })`,
};

/** Chooses the fault of a request, or none: the server fails, or the page that it sends ends with a script. */
function drawFault(rng: Rng, rate: number, isPage: boolean): string | undefined {
  const spoilt = rng.uniform() < rate;
  const kind = rng.uniform();
  if (!spoilt) return undefined;
  return rng.pick(Object.keys(!isPage || kind < 0.4 ? SERVER_FAULTS : kind < 0.7 ? PAGE_FAULTS : NUISANCES));
}

/** Serves the embedded site's starter forms; a share `rate` of pages and posts is faulty, by a seeded stream, once it is started. */
export async function serveWithFaults(rng: Rng, rate: number) {
  const tasks = embeddedTasks("starter", 1, { train: 8, val: 0, test: 0, heldout: 8 });
  const pages = new Set(tasks.map((task) => task.url));
  const app = createApp(FORMS);
  const injected = new Map<string, number>();
  let started = false;
  const site = await servePages({}, (request, response) => {
    site.received.length = 0; // unused here, and a growing list would look like a leak
    const { method, url, headers, body } = request;
    const isPage = method === "GET" && pages.has(url);
    const fault = started && (isPage || method === "POST") ? drawFault(rng, rate, isPage) : undefined;
    if (fault !== undefined) injected.set(fault, (injected.get(fault) ?? 0) + 1);
    const fail = SERVER_FAULTS[fault ?? ""];
    fail?.(response);
    if (fail !== undefined) return true;
    const script = PAGE_FAULTS[fault ?? ""] ?? NUISANCES[fault ?? ""];
    if (script !== undefined) append(response, `<script>${script}</script>`);
    const type = headers["content-type"];
    const sent = { ...(type === undefined ? {} : { headers: { "content-type": type } }) };
    void (async () => {
      const reply = await app.request(url, { method, ...sent, ...(method === "POST" ? { body } : {}) });
      response.writeHead(reply.status, { "content-type": reply.headers.get("content-type") ?? "text/plain" });
      response.end(await reply.text());
    })();
    return true;
  });
  return {
    ...site,
    name: "faulty",
    tasks: () => tasks,
    declaredForm: declarationOf,
    splitHash: () => splitHash(tasks),
    /** Faults and nuisances served so far, by kind. */
    injected: (): ReadonlyMap<string, number> => injected,
    start: () => {
      started = true;
    },
  };
}

/** Appends a script to a page. */
function append(response: ServerResponse, script: string): void {
  const end = response.end.bind(response) as (text: string) => ServerResponse;
  response.end = ((text: string) => end(`${text}${script}`)) as typeof response.end;
}
