import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { closing } from "../../src/core/closing.js";
import { type EpisodeOptions, EpisodeRunner } from "../../src/env/browser/episode.js";
import { injectedFaults } from "../../src/env/browser/injected-faults.js";
import type { FormsEnvironment } from "../../src/env/environments/forms.js";
import type { Asset, FieldValue, RunningSite, Task } from "../../src/env/site.js";

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly cookie: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A site of hand-written pages: GET serves the page of the path, POST answers JSON; `answer` can override both. */
export interface PageSite extends RunningSite, AsyncDisposable {
  readonly received: Received[];
}

export type Answer = (request: Received, response: ServerResponse) => boolean;

export async function servePages(
  pages: Readonly<Record<string, string>>,
  answer: Answer = () => false,
  assets?: ReadonlyMap<string, Asset>,
  onSocket?: (key: string, socket: Socket) => void,
): Promise<PageSite> {
  const received: Received[] = [];
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const row = {
        method: request.method ?? "",
        url: request.url ?? "",
        cookie: request.headers.cookie,
        headers: request.headers,
        body: Buffer.concat(chunks).toString("utf8"),
      };
      received.push(row);
      if (answer(row, response)) return;
      if (row.method !== "GET") {
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ message: "Thank you" }));
        return;
      }
      const body = pages[row.url.split("?")[0] ?? ""];
      response.statusCode = body === undefined ? 404 : 200;
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.end(`<!doctype html><title>Form</title>${body ?? ""}`);
    });
  };
  const server = createServer(handle);
  // the server no longer tracks an upgraded socket
  const sockets = new Set<Socket>();
  if (onSocket !== undefined)
    server.on("upgrade", (request, socket) => {
      sockets.add(socket as Socket);
      onSocket(request.headers["sec-websocket-key"] ?? "", socket as Socket);
    });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
      for (const socket of sockets) socket.destroy();
    });
  return {
    name: "pages",
    baseUrl: `http://127.0.0.1:${port}`,
    tasks: () => [],
    splitHash: () => "",
    received,
    ...(assets === undefined ? {} : { assets }),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

export function taskFor(url: string, fields: Readonly<Record<string, FieldValue>> = {}): Task {
  return {
    id: `pages${url}`,
    form: url.slice(1),
    formTitle: "Form",
    url,
    instruction: "Fill in the form.",
    fields,
    success: { status: [200, 201] },
    split: "train",
    tier: "full",
  };
}

/** Minimal options of an environment of forms. */
export const FORMS_OPTIONS: ConstructorParameters<typeof FormsEnvironment>[1] = {
  browser: {
    headless: true,
    contexts: 1,
    action_timeout_s: 10,
    rollout_timeout_s: 60,
    uploads: "dummy",
    har: false,
    inject_faults: injectedFaults.parse({}),
  },
  prompt: { style: "compact" },
};

/** Opens a minimal runner on the site. */
export function openRunner(site: RunningSite, options: Partial<EpisodeOptions> = {}): Promise<EpisodeRunner> {
  return EpisodeRunner.open({
    site,
    headless: true,
    contexts: 1,
    actionTimeoutMs: 10_000,
    episodeTimeoutMs: 60_000,
    uploads: "dummy",
    ...options,
  });
}

/** Serves pages, runs `work` with a runner on them and closes both. */
export async function using(
  pages: Parameters<typeof servePages>[0],
  {
    answer,
    assets,
    stateless = false,
    ...options
  }: Partial<EpisodeOptions> & {
    readonly answer?: Answer;
    readonly assets?: ReadonlyMap<string, Asset>;
    readonly stateless?: boolean;
  },
  work: (runner: EpisodeRunner, site: PageSite) => Promise<void>,
): Promise<void> {
  await using site = { ...(await servePages(pages, answer, assets)), stateless };
  await using runner = closing(await openRunner(site, options));
  await work(runner, site);
}
