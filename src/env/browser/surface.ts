import type { Page } from "playwright";
import type { Exchange } from "./network/exchange.js";
import type { PageWorld } from "./page/world.js";

/** A page that is open, as the ways of filling in work on it: that of an episode, or one of a user's. */
export interface Surface {
  readonly page: Page;
  /** Our own view of the page. */
  readonly view: PageWorld;
  /** Limits how long one action or answer may take, in milliseconds. */
  readonly actionTimeoutMs: number;
  /** Requests that the page has sent, where they are watched. */
  readonly traffic: { readonly exchanges: readonly Exchange[] };
  /** A wait that suits a quiet machine, in milliseconds, as long as it may take now. */
  stretched(ms: number): number;
  /** Waits until something is so. @returns whether it came to be in time. */
  until(ms: number, isSo: () => boolean): Promise<boolean>;
}

/** A page of a user's: its requests are its own. */
export function surfaceOf(page: Page, view: PageWorld, actionTimeoutMs: number): Surface {
  return {
    page,
    view,
    actionTimeoutMs,
    traffic: { exchanges: [] },
    stretched: (ms) => ms,
    until: async (ms, isSo) => {
      for (const end = performance.now() + ms; !isSo(); await page.waitForTimeout(50))
        if (performance.now() > end) return false;
      return true;
    },
  };
}
