import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Rng } from "../../src/core/rng.js";
import type { FieldKind, RunningSite, Task } from "../../src/env/site.js";
import { FORMS, fieldKinds } from "../../src/env/sites/embedded/catalog.js";
import { createApp } from "../../src/env/sites/embedded/server.js";
import { embeddedTasks } from "../../src/env/sites/embedded/tasks.js";
import { splitHash } from "../../src/env/sites/parts/split-hash.js";

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
  storage: `onload = () => { for (let i = 0; i < 100; i++) localStorage["k" + i] = "x".repeat(1000); setInterval(() => localStorage.t = Date.now(), 5); }`,
  nodes: `onload = () => { const d = document.createElement("div"); d.innerHTML = "<p>x</p>".repeat(2000); document.body.append(d); }`,
};

export interface FaultSite extends RunningSite {
  /** Faults and nuisances served so far, by kind. */
  injected(): ReadonlyMap<string, number>;
  kinds(task: Task): Readonly<Record<string, FieldKind>>;
}

/** The embedded site's starter forms, with a share `rate` of the requests failed or spoilt, by a seeded stream. */
export async function serveWithFaults(rng: Rng, rate: number): Promise<FaultSite> {
  const tasks = embeddedTasks("starter", 1, { train: 8, val: 0, test: 0, heldout: 8 });
  const { app } = createApp(FORMS, 0);
  const injected = new Map<string, number>();
  const draw = <T>(from: Readonly<Record<string, T>>): T => {
    const [name, value] = rng.pick(Object.entries(from));
    injected.set(name, (injected.get(name) ?? 0) + 1);
    return value;
  };
  const pass = async (request: IncomingMessage, response: ServerResponse, body: Buffer, script: string) => {
    const { method = "GET", url = "/", headers } = request;
    const type = headers["content-type"];
    const answer = await app.request(url, {
      method,
      ...(type === undefined ? {} : { headers: { "content-type": type } }),
      ...(method === "POST" ? { body: Uint8Array.from(body) } : {}),
    });
    const text = await answer.text();
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
    response.end(script === "" ? text : text.replace("</body>", `<script>${script}</script></body>`));
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const page = request.method === "GET" && tasks.some((task) => task.url === request.url);
      const spoilt = (page || request.method === "POST") && rng.uniform() < rate;
      const kind = rng.uniform();
      if (spoilt && (!page || kind < 0.4)) draw(SERVER_FAULTS)(response);
      else
        void pass(request, response, Buffer.concat(chunks), spoilt ? draw(kind < 0.7 ? PAGE_FAULTS : NUISANCES) : "");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    name: "faulty",
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tasks: () => tasks,
    splitHash: () => splitHash(tasks),
    injected: () => injected,
    kinds: (task) => fieldKinds(task.form, task.tier),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
