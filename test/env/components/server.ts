import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { missingLabels } from "./judge.js";
import type { ComponentPage } from "./page.js";

/** A page's parts as the server sends them. */
export interface Built {
  readonly body: string;
  readonly script: string;
  readonly style: string;
  /** chunks and fonts by path under `/assets/` */
  asset(path: string): Uint8Array | undefined;
}

/** One form that the server received: its values by key, and whether it was accepted. */
export interface Receipt {
  readonly method: string;
  readonly body: unknown;
  readonly accepted: boolean;
}

const TYPES: Record<string, string> = { js: "text/javascript", css: "text/css", svg: "image/svg+xml" };
const quoted = (text: string): string => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

async function readBody(request: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return new Uint8Array(Buffer.concat(chunks));
}

/** Reads a query or a form by key (a file is its name), or JSON. */
async function parse(request: IncomingMessage, url: URL): Promise<unknown> {
  const type = request.headers["content-type"] ?? "";
  const bytes = await readBody(request);
  let pairs: Iterable<[string, FormDataEntryValue]> = url.searchParams;
  if (request.method !== "GET") {
    if (!/urlencoded|multipart/.test(type)) return JSON.parse(new TextDecoder().decode(bytes));
    pairs = await new Response(bytes, { headers: { "content-type": type } }).formData();
  }
  const body: Record<string, unknown> = {};
  for (const [name, entry] of pairs) {
    const key = name.replace(/\[\d+\]$/, "");
    const value = typeof entry === "string" ? entry : entry.name;
    const before = body[key];
    body[key] = before === undefined ? value : Array.isArray(before) ? [...before, value] : [before, value];
  }
  return body;
}

const shell = (page: ComponentPage, built: Built, notice: string | null): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,"><title>${page.title}</title><link rel="stylesheet" href="/assets/${built.style}"></head>
<body>${notice ? `<div class="notice"${/[!]$/.test(notice) ? ' role="status"' : ""}>${quoted(notice)}</div>` : ""}
${built.body}<script type="module" src="/assets/${built.script}"></script></body></html>`;

/**
 * Serves the pages from memory: `/<id>` is the form, `/<id>/thanks` the page behind it, `/<id>/lookup?q=` its
 * suggestions, `/<id>/upload` takes a file and gives a token; whatever goes to `/<id>/send` is a form received.
 */
export async function serve(pages: ReadonlyMap<string, { page: ComponentPage; built: Built }>) {
  const receipts = new Map<string, Receipt[]>();

  async function receive(page: ComponentPage, built: Built, request: IncomingMessage, url: URL, out: ServerResponse) {
    const body = await parse(request, url);
    const missing = missingLabels(page, body);
    const accepted = missing.length === 0;
    const list = receipts.get(page.id) ?? [];
    receipts.set(page.id, [...list, { method: request.method ?? "", body, accepted }]);
    const reply = page.answer({ page: `/${page.id}`, accepted, missing });
    out.statusCode = reply.status;
    if (reply.location !== undefined) return out.setHeader("location", reply.location).end();
    if (reply.json !== undefined)
      return out.setHeader("content-type", "application/json").end(JSON.stringify(reply.json));
    out.setHeader("content-type", "text/html; charset=utf-8");
    return out.end(reply.html ?? shell(page, built, reply.notice ?? null));
  }

  async function handle(request: IncomingMessage, out: ServerResponse): Promise<unknown> {
    const url = new URL(request.url ?? "/", "http://site");
    const [, folder, name, rest] = url.pathname.split("/");
    if (folder === "assets") {
      const path = url.pathname.slice("/assets/".length);
      const bytes = [...pages.values()][0]?.built.asset(path);
      if (bytes === undefined) return out.writeHead(404).end();
      const type = TYPES[path.split(".").at(-1) ?? ""] ?? "application/octet-stream";
      return out.setHeader("cache-control", "max-age=3600").setHeader("content-type", type).end(bytes);
    }
    const entry = pages.get(`${folder}/${name}`);
    if (entry === undefined) return out.writeHead(404).end();
    const { page, built } = entry;
    if (rest === "send") return receive(page, built, request, url, out);
    out.setHeader("content-type", "text/html; charset=utf-8");
    if (rest === undefined) return out.end(shell(page, built, url.searchParams.get("flash")));
    if (rest === "thanks") return out.end(`<!doctype html><title>${page.title}</title><h1>Thank you</h1>`);
    out.setHeader("content-type", "application/json");
    if (rest === "lookup") {
      const q = (url.searchParams.get("q") ?? "").toLowerCase();
      return out.end(JSON.stringify((page.lookup ?? []).filter((item) => item.toLowerCase().includes(q))));
    }
    if (rest === "upload") {
      const body = (await parse(request, url)) as Record<string, unknown>;
      const names = Object.values(body).flat();
      return out.end(JSON.stringify({ token: `stored/${names.find((item) => /\.\w+$/.test(String(item)))}` }));
    }
    return out.writeHead(404).end();
  }

  const server = createServer((request, out) => {
    handle(request, out).catch((error: unknown) => out.writeHead(400).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: (id: string): readonly Receipt[] => receipts.get(id) ?? [],
    forget: (id: string): boolean => receipts.delete(id),
    close: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
