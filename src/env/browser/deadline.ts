import { EnvironmentFault } from "./browser.js";

/** The fault of work that did not end in time. */
export class TimeUp extends EnvironmentFault {}

/** Measures the time in which an episode waits for its policy. */
export class Idle {
  private total = 0;
  private since: number | undefined;

  /** Time so far, in milliseconds. */
  get ms(): number {
    return this.total + (this.since === undefined ? 0 : performance.now() - this.since);
  }

  async during<T>(wait: Promise<T>): Promise<T> {
    this.since = performance.now();
    try {
      return await wait;
    } finally {
      this.total = this.ms;
      this.since = undefined;
    }
  }
}

/**
 * Waits for a promise.
 * @param ms limit in milliseconds, without the time that `idle` counts.
 * @throws TimeUp after the limit.
 */
export async function withDeadline<T>(promise: Promise<T>, ms: number, idle?: Idle): Promise<T> {
  // a rejection after the limit must not count as unhandled
  promise.catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const start = performance.now();
    const look = (): void => {
      const left = ms + (idle?.ms ?? 0) - (performance.now() - start);
      if (left <= 0) reject(new TimeUp(`no end after ${Math.round(ms / 100) / 10} s`));
      else timer = setTimeout(look, Math.max(left, 20));
    };
    timer = setTimeout(look, ms);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
