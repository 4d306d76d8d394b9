import type { Page, Request, Route } from "playwright";
import { type Owner, ownerOf } from "./exchange.js";

/** What happens to a request: it leaves, it waits until the page may send, or it fails. */
export type Decision = "let" | "hold" | "refuse";

/**
 * What a page is at. `fill`: its form is being filled in; `filled`: it stands there until somebody touches it; `guarded`:
 * it is read, filled in or sent for a caller that may reach some origins alone.
 */
export type Phase = "fill" | "filled" | "guarded";

/** What the policy knows of a request. */
export interface Asked {
  readonly url: string;
  readonly method: string;
  /** Playwright's type of the resource, such as `document` or `fetch`. */
  readonly type: string;
  readonly owner: Owner;
  readonly navigates: boolean;
  readonly hasBody: boolean;
}

/** Kinds of requests that a page needs to work. PARTS leave without a query alone, as a query could carry a value. */
const LOOKUPS: ReadonlySet<string> = new Set(["fetch", "xhr", "script"]);
const PARTS: ReadonlySet<string> = new Set(["stylesheet", "font", "image", "media"]);

/** Describes a request of a page to the policy. */
export function askedOf(request: Request, page: Page): Asked {
  return {
    url: request.url(),
    method: request.method(),
    type: request.resourceType(),
    owner: ownerOf(request, page),
    navigates: request.isNavigationRequest(),
    hasBody: request.postDataBuffer() !== null,
  };
}

/**
 * Decides on a request.
 * @param origins in phase `fill` the servers that have had a request before, in phase `guarded` those that are allowed.
 */
export function decide(asked: Asked, phase: Phase, origins: ReadonlySet<string>): Decision {
  const { url, method, type, owner, navigates, hasBody } = asked;
  if (phase === "filled") return "hold";
  const { origin, search } = new URL(url);
  const isKnown = origins.has(origin);
  if (phase === "fill") {
    const isPlain = method === "GET" && !hasBody && !navigates && isKnown;
    return isPlain && (LOOKUPS.has(type) || (PARTS.has(type) && search === "")) ? "let" : "hold";
  }
  if (!navigates) return "let";
  if (owner === "popup") return "refuse";
  // a frame may load any document, such as a map, but not receive a form
  return isKnown || (owner === "frame" && method === "GET") ? "let" : "refuse";
}

/**
 * Routes all requests of a page, its workers and its windows through a filter.
 * @returns the function that ends it.
 */
export async function routeAll(page: Page, filter: (route: Route) => Promise<void>): Promise<() => Promise<unknown>> {
  const context = page.context();
  // the context's route has the requests of windows and service workers as well, but a page's own routes come first
  await Promise.all([page.route("**/*", filter), context.route("**/*", filter)]);
  return () => Promise.all([page.unroute("**/*", filter), context.unroute("**/*", filter)]);
}
