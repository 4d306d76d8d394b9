/** Weight of the newest duration in the running mean. */
const WEIGHT = 0.2;
/** However slow everything is, a limit grows to so many times what it was set to, so that what hangs still ends. */
const MOST = 6;

/**
 * Measures how slow the machine is now by what has just gone well on it. A limit that fits a quiet machine takes a
 * busy one for a broken one, and to throw a context away and open another makes it busier still.
 */
export class Pace {
  private typicalMs: number | undefined;

  /** An attempt at an episode, or the opening of a context, has ended well and took so long. */
  observe(ms: number): void {
    this.typicalMs = this.typicalMs === undefined ? ms : this.typicalMs + WEIGHT * (ms - this.typicalMs);
  }

  /** A limit in milliseconds, or as long as so many ordinary episodes take now, where that is longer. */
  limit(ms: number, episodes: number): number {
    return Math.min(Math.max(ms, episodes * (this.typicalMs ?? 0)), MOST * ms);
  }
}
