import { join } from "node:path";
import type { BrowserContext, Request } from "playwright";
import { packageRoot, readJson } from "../../core/files.js";
import { MOST_TEXT, type ServerAnswer } from "./network/exchange.js";

/** A recorded request; times are in milliseconds since 1970. */
interface RecordedRequest {
  readonly began: number;
  ended?: number;
  /** The answer that the browser received, once the request has ended. */
  answer?: Promise<Pick<ServerAnswer, "status" | "text"> & { readonly headers: Readonly<Record<string, string>> }>;
}

/** Headers that are kept: those that say what a body is and how it is shown. Any other may hold a secret. */
const KEPT = new Set([
  ...["accept", "accept-language", "cache-control", "content-disposition", "content-encoding", "content-language"],
  ...["content-length", "content-type", "date", "last-modified", "location", "origin", "server", "user-agent", "vary"],
]);

/** Records an episode's requests: no cookies, and of headers only those that hold no secrets. */
export class HarRecorder {
  private readonly requests = new Map<Request, RecordedRequest>();

  /** @param kept the server's answer if the page got another one: a page that has to stay gets 204. */
  constructor(
    context: BrowserContext,
    private readonly kept: (request: Request) => ServerAnswer | undefined,
  ) {
    context.on("request", (request) => this.requests.set(request, { began: Date.now() }));
    const end = (request: Request): void => {
      const recorded = this.requests.get(request);
      // the next document makes a body unreadable
      if (recorded !== undefined) Object.assign(recorded, { ended: Date.now(), answer: answerOf(request) });
    };
    context.on("requestfinished", end);
    context.on("requestfailed", end);
  }

  /** Begins an episode. */
  begin(): void {
    this.requests.clear();
  }

  /** Returns the episode's requests and their answers as an HTTP Archive (HAR 1.2). */
  async end() {
    const { name, version } = readJson(join(packageRoot(), "package.json")) as { name: string; version: string };
    const entries = [...this.requests].map(([request, recorded]) => entryOf(request, recorded, this.kept(request)));
    return { log: { version: "1.2", creator: { name, version }, entries: await Promise.all(entries) } };
  }
}

async function answerOf(request: Request): ReturnType<NonNullable<RecordedRequest["answer"]>["then"]> {
  const response = await request.response().catch(() => null);
  const headers = response?.headers() ?? {};
  const readable = /json|text|xml|script/.test(headers["content-type"] ?? "");
  const text = readable ? await response?.text().catch(() => "") : "";
  return { status: response?.status() ?? 0, headers, text: text ?? "" };
}

const pairs = (named: Readonly<Record<string, string>>): object[] =>
  Object.entries(named).flatMap(([name, value]) => (KEPT.has(name.toLowerCase()) ? [{ name, value }] : []));

async function entryOf(
  request: Request,
  { began, ended = Date.now(), answer }: RecordedRequest,
  kept?: ServerAnswer,
): Promise<object> {
  const shown = await answer;
  const own = kept !== undefined && kept.status > 0 && [204, 0, undefined].includes(shown?.status) ? kept : undefined;
  const { status, text } = own ?? shown ?? { status: 0, text: "" };
  const headers = shown?.headers ?? {};
  const mimeType = own?.contentType ?? headers["content-type"] ?? "";
  const sent = request.postData();
  const url = new URL(request.url());
  return {
    startedDateTime: new Date(began).toISOString(),
    time: ended - began,
    request: {
      method: request.method(),
      url: url.href,
      httpVersion: "unknown",
      cookies: [],
      headers: pairs(request.headers()),
      queryString: [...url.searchParams].map(([name, value]) => ({ name, value })),
      ...(sent === null ? {} : { postData: { mimeType: request.headers()["content-type"] ?? "", text: sent } }),
      headersSize: -1,
      bodySize: request.postDataBuffer()?.length ?? 0,
    },
    response: {
      status,
      statusText: "",
      httpVersion: "unknown",
      cookies: [],
      headers: pairs(own === undefined ? headers : { "content-type": mimeType }),
      content: { size: Buffer.byteLength(text), mimeType, text: text.slice(0, MOST_TEXT) },
      redirectURL: own?.url ?? headers.location ?? "",
      headersSize: -1,
      bodySize: -1,
      ...(own === undefined ? {} : { comment: `the page was shown HTTP ${shown?.status || "nothing"}` }),
    },
    cache: {},
    timings: { send: 0, wait: ended - began, receive: 0 },
  };
}
