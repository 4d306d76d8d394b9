/** Weight of the newest duration in the running mean. */
const WEIGHT = 0.2;
/** Greatest factor on a limit, however slow the machine is, so that a hang still ends. */
const MOST = 6;

/**
 * Measures the present slowness of the machine by the latest successes. A fixed limit would take a busy machine for a
 * broken one, and replacing its contexts would make it busier still.
 */
export class Pace {
  private typicalMs: number | undefined;

  /** Records the duration of a successful attempt at an episode, or of opening a context, in milliseconds. */
  observe(ms: number): void {
    this.typicalMs = this.typicalMs === undefined ? ms : this.typicalMs + WEIGHT * (ms - this.typicalMs);
  }

  /** Returns a limit in milliseconds: `ms`, or the present duration of so many ordinary episodes, if that is longer. */
  limit(ms: number, episodes: number): number {
    return Math.min(Math.max(ms, episodes * (this.typicalMs ?? 0)), MOST * ms);
  }
}
