import type { Page, Request, Response } from "playwright";
import type { PostedPair } from "../../forms/posted.js";
import { EnvironmentFault } from "../browser.js";
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
export function isServerFault(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429;
}

export interface ServerAnswer {
  /** HTTP status; NaN if there is no answer, or none that can be seen. */
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  /** The address that the answer came from, or that it redirects to. */
  readonly url: string;
  /** The reason why there is no answer. */
  readonly failure?: string;
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

export async function answerOf(response: Response | null, url: string): Promise<ServerAnswer> {
  const status = response?.status() ?? Number.NaN;
  const contentType = response?.headers()["content-type"] ?? "";
  const readable = !(status >= 300 && status < 400) && (contentType === "" || /json|text|xml|html/.test(contentType));
  const tooLong = Number(response?.headers()["content-length"] ?? 0) > MOST_BYTES;
  const text = readable && !tooLong ? await (response?.text() ?? Promise.resolve("")).catch(() => "") : "";
  return { status, contentType, text: text.slice(0, MOST_TEXT), url: response?.url() ?? url };
}

export const noAnswer = (url: string, failure: string): ServerAnswer => ({
  status: Number.NaN,
  contentType: "",
  text: "",
  url,
  failure,
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

/**
 * Returns the request by which a form was sent, if it was: the last one, or an equal one before it that was taken. A
 * page may send one form twice, and its server then refuses the copy.
 */
export function formExchange(exchanges: readonly Exchange[], isForm: (exchange: Exchange) => boolean): Exchange[] {
  const sent = exchanges.filter((one) => one.phase === "submit" && isForm(one));
  const data = JSON.stringify(sent.at(-1)?.posted);
  const isTaken = ({ answer }: Exchange): boolean => answer !== undefined && answer.status < 400;
  const taken = sent.find((one) => isTaken(one) && JSON.stringify(one.posted) === data);
  return taken === undefined ? sent.slice(-1) : [taken];
}

/** @throws EnvironmentFault if an answer failed to come, or is an error of the server. */
export function checkAnswered(exchange: Exchange): void {
  const { answer } = exchange;
  const about = nameOf(exchange);
  if (answer?.failure !== undefined) throw new EnvironmentFault(`no answer to ${about}: ${answer.failure}`);
  if (answer !== undefined && isServerFault(answer.status))
    throw new EnvironmentFault(`HTTP ${answer.status} for ${about}`);
}
