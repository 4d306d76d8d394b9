import type { ServerResponse } from "node:http";
import type { Rng } from "../../src/core/rng.js";
import type { RunningSite, Task } from "../../src/env/site.js";
import { FORMS } from "../../src/env/sites/embedded/catalog.js";
import { createApp } from "../../src/env/sites/embedded/server.js";
import { embeddedTasks } from "../../src/env/sites/embedded/tasks.js";
import { splitHash } from "../../src/env/sites/parts/split-hash.js";
import type { Idioms } from "./idioms/idiom.js";
import { acceptSocket, answerIdioms, idiomTask } from "./idioms/play.js";
import { servePages } from "./page-site.js";

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

/** Scripts that make a good page a bad one. */
const PAGE_FAULTS: Record<string, string> = {
  loop: `onload = () => { for (;;); }`,
  "loop-on-submit": `addEventListener("submit", () => { for (;;); }, true)`,
  dialogs: `for (;;) alert("again")`,
  windows: `setInterval(() => open("/"), 1)`,
  leaving: `location = "/"`,
  gone: `addEventListener("input", () => { location = "about:blank"; })`,
};

/** Scripts that bother and must not matter. */
const NUISANCES: Record<string, string> = {
  console: `for (let i = 0; i < 500; i++) console.log("noise".repeat(50), i)`,
  storage: `addEventListener("load", () => { for (let i = 0; i < 100; i++) localStorage["k" + i] = "x".repeat(1000); setInterval(() => localStorage.t = Date.now(), 5); })`,
  nodes: `addEventListener("load", () => { const d = document.createElement("div"); d.innerHTML = "<p>x</p>".repeat(2000); document.body.append(d); })`,
};

export interface FaultSite extends RunningSite {
  /** Faults and nuisances served so far, by kind. */
  injected(): ReadonlyMap<string, number>;
  /** From now on a share of the requests fails. */
  start(): void;
}

/**
 * The embedded site's starter forms and hand-written pages; once started, a share `rate` of the requests for pages and
 * of the submissions is failed or spoilt, by a seeded stream.
 */
export async function serveWithFaults(rng: Rng, rate: number, idioms: Idioms = {}): Promise<FaultSite> {
  const forms = embeddedTasks("starter", 1, { train: 8, val: 0, test: 0, heldout: 8 });
  const written = Object.entries(idioms).map(([name, idiom]) => idiomTask(name, idiom));
  const tasks: Task[] = [...forms, ...written];
  const pages = new Set(tasks.map((task) => task.url));
  const { app } = createApp(FORMS, 0);
  const answer = answerIdioms(idioms);
  const injected = new Map<string, number>();
  let started = false;
  const draw = <T>(from: Readonly<Record<string, T>>): T => {
    const [name, value] = rng.pick(Object.entries(from));
    injected.set(name, (injected.get(name) ?? 0) + 1);
    return value;
  };
  const site = await servePages(
    {},
    (request, response) => {
      site.received.length = 0; // nobody reads them, and they would look like a leak
      const { method, url, headers, body } = request;
      const isPage = method === "GET" && pages.has(url);
      const spoilt = started && (isPage || method === "POST") && rng.uniform() < rate;
      const kind = rng.uniform();
      if (spoilt && (!isPage || kind < 0.4)) {
        draw(SERVER_FAULTS)(response);
        return true;
      }
      if (spoilt) append(response, `<script>${draw(kind < 0.7 ? PAGE_FAULTS : NUISANCES)}</script>`);
      if (answer(request, response)) return true;
      if (written.some((task) => url.startsWith(task.url))) return false;
      const type = headers["content-type"];
      const sent = { ...(type === undefined ? {} : { headers: { "content-type": type } }) };
      void (async () => {
        const reply = await app.request(url, { method, ...sent, ...(method === "POST" ? { body } : {}) });
        response.writeHead(reply.status, { "content-type": reply.headers.get("content-type") ?? "text/plain" });
        response.end(await reply.text());
      })();
      return true;
    },
    undefined,
    acceptSocket,
  );
  return {
    ...site,
    name: "faulty",
    tasks: () => tasks,
    splitHash: () => splitHash(tasks),
    injected: () => injected,
    start: () => {
      started = true;
    },
  };
}

/** Lets a page end with a script of ours. */
function append(response: ServerResponse, script: string): void {
  const end = response.end.bind(response) as (text: string) => ServerResponse;
  response.end = ((text: string) => end(`${text}${script}`)) as typeof response.end;
}
