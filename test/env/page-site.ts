import assert from "node:assert/strict";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { closing } from "../../src/core/closing.js";
import { type EpisodeOptions, EpisodeRunner } from "../../src/env/browser/episode.js";
import { injectedFaults } from "../../src/env/browser/injected-faults.js";
import type { FormsEnvironment } from "../../src/env/environments/forms.js";
import type { Episode } from "../../src/env/forms/episode.js";
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
      const { method = "", url = "", headers } = request;
      const row = { method, url, cookie: headers.cookie, headers, body: Buffer.concat(chunks).toString("utf8") };
      received.push(row);
      if (answer(row, response)) return;
      if (row.method !== "GET") {
        response.setHeader("content-type", "application/json").end(JSON.stringify({ message: "Thank you" }));
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
  const about = { form: url.slice(1), formTitle: "Form", instruction: "Fill in the form." };
  return { ...about, id: `pages${url}`, url, fields, success: { status: [200, 201] }, split: "train", tier: "full" };
}

/** A form of one field, the values to enter, and the plan that does. */
export const FORM = `<form method=post><label>Name <input name=n></label><button>Submit</button></form>`;
export const FIELDS = { Name: "Ann" };
export const PLAN = "fill Name | Ann\nsubmit";

/** Plays the plan on a page that holds the form. */
export const playForm = (runner: EpisodeRunner, path: string): Promise<Episode> =>
  runner.run(taskFor(path, FIELDS), PLAN);

/** A log that keeps the faults of an episode's attempts. */
export function faultLog(onFault: () => void = () => undefined) {
  const faults: string[] = [];
  const warn = ({ fault }: { fault: string }): void => {
    faults.push(fault);
    onFault();
  };
  return { faults, log: { warn } as unknown as NonNullable<EpisodeOptions["log"]> };
}

/** Answers a request wrongly. */
export type Fail = (response: ServerResponse) => void;

type Failing = readonly [path: string, fail: Fail, fault: RegExp, part?: string, script?: string];

/**
 * Plays the form on pages of which the server fails one request once: the page's own (its POST, where the path begins so)
 * or that of its script's `part`. Each is tried again, with the fault in the log.
 */
export async function playFailing(cases: readonly Failing[]): Promise<void> {
  const failed = new Set<string>();
  const answer: Answer = ({ method, url }, response) => {
    const [asked = ""] = url.split("?");
    const own = cases.find(([path, , , part]) => part === undefined && path === asked);
    const found = own ?? cases.find(([, , , part]) => part === asked);
    if (found === undefined || (own && (failed.has(asked) || asked.startsWith("/post") !== (method === "POST"))))
      return false;
    if (failed.has(asked)) response.setHeader("content-type", "text/javascript").end(";");
    else found[1](response);
    failed.add(asked);
    return true;
  };
  const { faults, log } = faultLog();
  const pages = Object.fromEntries(cases.map(([path, , , , script = ""]) => [path, FORM + script]));
  await using(pages, { answer, log, actionTimeoutMs: 6000 }, async (runner) => {
    for (const [path, , fault] of cases) {
      const episode = await playForm(runner, path);
      assert.match(faults.at(-1) ?? "none", fault, path);
      assert.deepEqual([path, episode.fault, episode.reward, episode.attempts], [path, undefined, 1, 2]);
    }
  });
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
