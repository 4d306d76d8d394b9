import type { Page, Request, Route } from "playwright";
import { messageOf } from "../../core/errors.js";
import { limitPairs, type PostedPair, readPosted } from "../forms/posted.js";
import { EnvironmentFault } from "./browser.js";
import type { FormTarget } from "./page-actions.js";

/** What the server received and answered. */
export interface Submission {
  readonly method: string;
  readonly path: string;
  readonly posted: readonly PostedPair[];
  readonly status: number;
  /** 2xx or 3xx, and no JSON answer that says it failed. */
  readonly accepted: boolean;
}

/** Answers that say something about the server and nothing about the form: busy, overloaded, broken. */
export function isServerFault(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429;
}

/** Whose request it is: of the page itself, of a frame in it, or of a window it opened. */
export type Owner = "page" | "frame" | "popup";

export function ownerOf(request: Request, page: Page): Owner {
  try {
    const frame = request.frame();
    return frame === page.mainFrame() ? "page" : frame.page() === page ? "frame" : "popup";
  } catch {
    // a new window's first request comes before its frame
    return "popup";
  }
}

/**
 * A form post: a request that changes something, or a navigation of the page that carries a query (a form with method
 * GET). Beacons and reports are none: pages send them of their own accord.
 */
export function isSubmission(request: Request, owner: Owner): boolean {
  if (!["GET", "HEAD", "OPTIONS"].includes(request.method()))
    return !["ping", "cspreport", "beacon"].includes(request.resourceType());
  return request.isNavigationRequest() && owner === "page" && request.url().includes("?");
}

/**
 * Whether a navigation is the form's: scripts, refreshes and other forms navigate too. It carries names of the form's
 * controls, and goes where the form says or carries at least half of what the form always sends (a script may send that
 * elsewhere; a frame has forms of its own). A form of nothing but boxes may send none: it is known by its address.
 */
export async function isOfForm(request: Request, owner: Owner, form: FormTarget): Promise<boolean> {
  const names = new Set((await postedBy(request)).map(([name]) => name));
  const carried = (of: readonly string[]): number => of.filter((name) => names.has(name)).length;
  const there = request.method() === form.method && withoutQuery(request.url()) === form.address;
  if (carried(form.names) === 0) return there && form.always.length === 0;
  return there || (owner !== "frame" && 2 * carried(form.always) >= form.always.length);
}

const withoutQuery = (url: string): string => url.split(/[?#]/)[0] ?? url;

async function postedBy(request: Request): Promise<PostedPair[]> {
  return request.method() === "GET"
    ? limitPairs([...new URL(request.url()).searchParams])
    : readPosted(request.postDataBuffer(), request.headers()["content-type"] ?? "");
}

/**
 * Brings a form post to the server as it is, and the answer to the page, but for a navigation: that gets 204, so that
 * the page stays.
 * @throws EnvironmentFault where there is no answer, half of one, or one that tells of a broken server.
 */
export async function forwardSubmission(route: Route, timeoutMs: number): Promise<Submission> {
  const request = route.request();
  const { pathname: path } = new URL(request.url());
  const about = `${request.method()} ${path}`;
  const unanswered = async (error: unknown): Promise<never> => {
    // a navigation that fails would take the page away, and whoever looks at it would meet another error than this one
    await (request.isNavigationRequest() ? route.fulfill({ status: 204 }) : route.abort("failed")).catch(
      () => undefined,
    );
    throw new EnvironmentFault(`no answer to ${about}: ${messageOf(error).split("\n")[0]}`);
  };
  // a connection that is kept open may be closed by the server in the moment in which it is used again
  const headers = { ...request.headers(), connection: "close" };
  const response = await route.fetch({ headers, maxRedirects: 0, timeout: timeoutMs }).catch(unanswered);
  const status = response.status();
  const text = await response.text().catch(unanswered);
  await (request.isNavigationRequest() ? route.fulfill({ status: 204 }) : route.fulfill({ response })).catch(
    () => undefined,
  );
  if (isServerFault(status)) throw new EnvironmentFault(`HTTP ${status} for ${about}`);
  const posted = await postedBy(request);
  return { method: request.method(), path, posted, status, accepted: status < 400 && !saysFailed(text) };
}

/** Servers that answer 200 with a refusal say so in their JSON. */
function saysFailed(text: string): boolean {
  if (!text.startsWith("{")) return false;
  try {
    const answer = JSON.parse(text) as Record<string, unknown>;
    const errors = answer.errors;
    const listed = Array.isArray(errors)
      ? errors.length > 0
      : typeof errors === "object" && errors !== null && Object.keys(errors).length > 0;
    return (
      listed ||
      answer.success === false ||
      answer.ok === false ||
      answer.accepted === false ||
      typeof answer.error === "string"
    );
  } catch {
    return false;
  }
}
