import type { Page } from "playwright";
import type { Exchange } from "../../env/browser/network/exchange.js";
import type { PageWorld } from "../../env/browser/page/world.js";
import type { Condition } from "../../env/browser/session.js";

/** An open page that ways can operate: that of an episode, or a user's own page. */
export interface Surface {
  readonly page: Page;
  /** The isolated view of the page. */
  readonly view: PageWorld;
  /** Time limit of one action or answer, in milliseconds. */
  readonly actionTimeoutMs: number;
  /** Requests that the page has sent, if they are watched. */
  readonly traffic: { readonly exchanges: readonly Exchange[] };
  /** Stretches a wait for a quiet machine, in milliseconds, to the present slowness. */
  stretched(ms: number): number;
  /** Waits until a condition holds. @returns whether it holds in time. */
  until(ms: number, isSo: Condition): Promise<boolean>;
}

/** Returns the surface of a user's own page; its requests are not watched. */
export function surfaceOf(page: Page, view: PageWorld, actionTimeoutMs: number): Surface {
  return {
    page,
    view,
    actionTimeoutMs,
    traffic: { exchanges: [] },
    stretched: (ms) => ms,
    until: async (ms, isSo) => {
      for (const end = performance.now() + ms; !(await isSo()); await page.waitForTimeout(50))
        if (performance.now() > end) return false;
      return true;
    },
  };
}
