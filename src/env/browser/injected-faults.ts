import type { Page, Route } from "playwright";
import { z } from "zod";
import { Rng } from "../../core/rng.js";
import { EnvironmentFault } from "./browser.js";

export const FAULT_KINDS = ["kill", "delay", "drop"] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** Options of whatever plays in a browser: faults on purpose, to see that training does not mind them. */
export const injectedFaults = z.strictObject({
  rate: z.number().min(0).max(1).default(0).describe("share of attempts at an episode that meet one; 0 = none"),
  kinds: z
    .array(z.enum(FAULT_KINDS))
    .min(1)
    .default([...FAULT_KINDS])
    .describe("kill: the page is closed; delay: an answer comes late; drop: it never comes"),
  delay_s: z.number().min(0).max(3600).default(1).describe("how late a delayed answer is"),
  seed: z.int().min(0).default(0).describe("of a stream of its own: nothing else is drawn differently"),
});
export type InjectedFaults = z.output<typeof injectedFaults>;

/** A fault comes with the first, the second ... or this request of an attempt. */
const LAST_REQUEST = 4;

/**
 * Tells what an attempt meets, drawn from `fault/EPISODE/ATTEMPT`; undefined: nothing.
 * @param episode its number, in the order in which episodes were asked for.
 */
export function drawFault(options: InjectedFaults, episode: number, attempt: number): InjectedFault | undefined {
  if (options.rate === 0) return undefined;
  const rng = Rng.named(options.seed, `fault/${episode}/${attempt}`);
  if (rng.uniform() >= options.rate) return undefined;
  return new InjectedFault(rng.pick(options.kinds), 1 + rng.int(LAST_REQUEST), options.delay_s * 1000);
}

/** One fault of one attempt: at its n-th request, or at its end where it makes fewer. */
export class InjectedFault {
  private requests = 0;
  private met = false;

  constructor(
    readonly kind: FaultKind,
    readonly at: number,
    private readonly delayMs: number,
  ) {}

  /** A request goes through here. @returns how it is answered. */
  async pass(route: Route, page: Page): Promise<Route> {
    // a page that misses its style or a picture is still the same page
    if (!/document|script|fetch|xhr/.test(route.request().resourceType())) return route;
    if (++this.requests !== this.at) return route;
    this.met = true;
    switch (this.kind) {
      case "kill":
        await page.close();
        return route;
      case "delay":
        await this.wait();
        return route;
      case "drop":
        return unanswered(route);
    }
  }

  /** The attempt is at its end. @throws EnvironmentFault where the fault was still to come: the result is lost with it. */
  async end(): Promise<void> {
    if (this.met) return;
    if (this.kind === "delay") return this.wait();
    throw new EnvironmentFault(`injected: ${this.kind}`);
  }

  private wait(): Promise<void> {
    return new Promise((resolve) => void setTimeout(resolve, this.delayMs));
  }
}

const dropped = new WeakSet<Route>();

/** Tells whether a request's answer never comes: whoever brings it to its server himself must not. */
export const isDropped = (route: Route): boolean => dropped.has(route);

/** A route whose server closes the connection. */
function unanswered(route: Route): Route {
  const reset = (): Promise<void> => route.abort("connectionreset");
  const own = new Proxy(route, {
    get: (target, name) => {
      const value = name === "continue" ? reset : Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  dropped.add(own);
  return own;
}
