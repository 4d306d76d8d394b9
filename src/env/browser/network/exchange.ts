import type { Page, Request, Response } from "playwright";
import { decoderOf, type PostedPair } from "../../forms/posted.js";
import { EnvironmentFault, TooMany, Unanswered } from "../browser.js";
import { MOST_BYTES } from "./bring.js";

/** The source of a request: the page itself, a frame in it, or a window that it opened. */
export type Owner = "page" | "frame" | "popup";

export function ownerOf(request: Request, page: Page): Owner {
  try {
    const frame = request.frame();
    return frame === page.mainFrame() ? "page" : frame.page() === page ? "frame" : "popup";
  } catch {
    // a new window's first request comes before its frame, and a worker has none
    return ["fetch", "xhr", "script", "other"].includes(request.resourceType()) ? "frame" : "popup";
  }
}

/** Tells whether a status is due to the server and not to the form: busy, overloaded, broken. */
export const isServerFault = (status: number): boolean =>
  status >= 500 || status === 408 || status === 425 || status === 429;

export interface ServerAnswer {
  /** HTTP status; NaN if there is no answer, or none that can be seen. */
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  /** Time after which the server takes requests again, if it gives one, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** The address that the answer came from, or that it redirects to. */
  readonly url: string;
  /** The reason why there is no answer. */
  readonly failure?: string;
  /** Set if the server has the request all the same: it must not be sent again. */
  readonly begun?: boolean;
}

/** One request with data that the page has sent since it was opened. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly how: "navigation" | "script" | "beacon" | "socket";
  readonly owner: Owner;
  readonly posted: readonly PostedPair[];
  /** Set if the page had sent the same method and path before any action. */
  readonly routine: boolean;
  /** `Traffic.phase` when it was sent. */
  phase: Phase;
  answer: ServerAnswer | undefined;
}

/** `open`: until the plan submits. `step`: on the way to the form's next part. `submit`: from the submit on. */
export type Phase = "open" | "step" | "submit";

/** Most characters of an answer that are read. */
export const MOST_TEXT = 2_000_000;

/** Reads a header `retry-after`, which holds seconds or a date. @returns milliseconds. */
export function waitOf(header: string | undefined): number | undefined {
  const wait = Number(header) * 1000 || Date.parse(header ?? "") - Date.now();
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

export async function answerOf(response: Response | null, url: string): Promise<ServerAnswer> {
  const status = response?.status() ?? Number.NaN;
  const contentType = response?.headers()["content-type"] ?? "";
  const readable = !(status >= 300 && status < 400) && (contentType === "" || /json|text|xml|html/.test(contentType));
  const tooLong = Number(response?.headers()["content-length"] ?? 0) > MOST_BYTES;
  const text = readable && !tooLong ? await bodyOf(response, contentType) : "";
  const retryAfterMs = waitOf(response?.headers()["retry-after"]);
  return { status, contentType, text: text.slice(0, MOST_TEXT), url: response?.url() ?? url, retryAfterMs };
}

const bodyOf = async (response: Response | null, contentType: string): Promise<string> =>
  response === null
    ? ""
    : response
        .body()
        .then((body) => textIn(body, contentType))
        .catch(() => "");

/** Decodes a body by the charset of its header or of its own first lines; UTF-8 by default, and where it is unknown. */
export function textIn(body: Buffer, contentType: string): string {
  const own = /<meta[^>]+charset=["']?([\w-]+)|<\?xml[^>]+encoding=["']([\w-]+)/i.exec(
    body.toString("latin1", 0, 2048),
  );
  const name = /charset=["']?([\w-]+)/i.exec(contentType)?.[1] ?? own?.[1] ?? own?.[2] ?? "utf-8";
  return decoderOf(name).decode(body);
}

export const noAnswer = (url: string, failure: string, begun = false): ServerAnswer => ({
  ...{ status: Number.NaN, contentType: "", text: "", url, failure, begun },
});

export const pathOf = ({ url }: Exchange): string => new URL(url).pathname;

/** Names a request for messages, as `POST /send`. */
export const nameOf = (exchange: Exchange): string => `${exchange.method} ${pathOf(exchange)}`;

/** Tells whether a request has no answer yet, and will get one. */
export const isAwaited = ({ how, answer }: Exchange): boolean =>
  answer === undefined && how !== "socket" && how !== "beacon";

/** Tells whether a request is that of a form, as contracts and declarations name it. */
export const isSame = (form: { readonly method: string; readonly path: string }, exchange: Exchange): boolean =>
  exchange.method === form.method && pathPattern(form.path, pathOf(exchange)) === form.path;

/** Returns the path that stands for two paths which differ in one part, `/draft/*`; undefined if more differs. */
export function pathPattern(pattern: string, path: string): string | undefined {
  if (pattern === path) return pattern;
  const [parts, others] = [pattern.split("/"), path.split("/")];
  const found = parts.map((part, i) => (part === others[i] ? part : "*"));
  return parts.length === others.length && found.filter((part) => part === "*").length === 1 && found.length > 2
    ? found.join("/")
    : undefined;
}

export const isError = (status: number | null | undefined): boolean => (status ?? 0) >= 400;

/** @throws EnvironmentFault if an answer failed to come, or is an error of the server; Unanswered if it broke off. */
export function checkAnswered(exchange: Exchange): void {
  const { answer } = exchange;
  const about = nameOf(exchange);
  if (answer?.begun) throw new Unanswered(`half an answer to ${about}: ${answer.failure}`);
  if (answer?.failure !== undefined) throw new EnvironmentFault(`no answer to ${about}: ${answer.failure}`);
  if (answer !== undefined && isServerFault(answer.status))
    throw answer.status === 429
      ? new TooMany(`HTTP 429 for ${about}`, answer.retryAfterMs)
      : new EnvironmentFault(`HTTP ${answer.status} for ${about}`);
}
