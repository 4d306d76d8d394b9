import { setTimeout as sleep } from "node:timers/promises";
import type { Page, Route } from "playwright";
import { z } from "zod";
import { Rng } from "../../core/rng.js";
import { EnvironmentFault } from "./browser.js";

export const FAULT_KINDS = ["kill", "delay", "drop"] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** Options of injected faults, which test that training survives them. */
export const injectedFaults = z.strictObject({
  rate: z.number().min(0).max(1).default(0).describe("share of attempts at an episode that meet one; 0 = none"),
  kinds: z
    .array(z.enum(FAULT_KINDS))
    .min(1)
    .default([...FAULT_KINDS])
    .describe("kill: the page is closed; delay: an answer comes a second late; drop: it never comes"),
  seed: z.int().min(0).default(0).describe("of a stream of its own: nothing else is drawn differently"),
});
export type InjectedFaults = z.output<typeof injectedFaults>;

/** Delay of a delayed answer, in milliseconds. */
const DELAY_MS = 1000;
/** Number of the last request of an attempt that a fault may come with. */
const LAST_REQUEST = 4;

/**
 * Draws the fault of an attempt from `fault/EPISODE/ATTEMPT`; undefined: none.
 * @param episode number of the episode, in the order of the calls.
 */
export function drawFault(options: InjectedFaults, episode: number, attempt: number): InjectedFault | undefined {
  if (options.rate === 0) return undefined;
  const rng = Rng.named(options.seed, `fault/${episode}/${attempt}`);
  if (rng.uniform() >= options.rate) return undefined;
  return new InjectedFault(rng.pick(options.kinds), 1 + rng.int(LAST_REQUEST));
}

/** One fault of one attempt: at the n-th request, or at the attempt's end if there are fewer requests. */
export class InjectedFault {
  private requests = 0;
  private met = false;

  constructor(
    readonly kind: FaultKind,
    readonly at: number,
  ) {}

  /** Applies the fault to a request, if it is due. */
  async pass(route: Route, page: Page): Promise<void> {
    // a missing style sheet or picture does not change the form
    if (!/document|script|fetch|xhr/.test(route.request().resourceType()) || ++this.requests !== this.at) return;
    this.met = true;
    if (this.kind === "kill") await page.close();
    else if (this.kind === "delay") await sleep(DELAY_MS);
    else dropped.add(route);
  }

  /** Applies a fault that is still to come at the end of the attempt. @throws EnvironmentFault: the result is lost. */
  async end(): Promise<void> {
    if (this.met) return;
    if (this.kind === "delay") await sleep(DELAY_MS);
    else throw new EnvironmentFault(`injected: ${this.kind}`);
  }
}

const dropped = new WeakSet<Route>();

/** Tells whether a request must not reach the server, as if that had closed the connection. */
export const isDropped = (route: Route): boolean => dropped.has(route);
