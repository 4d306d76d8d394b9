import { keyOfCopy } from "./protocol.js";

/** Finished jobs of a kind that are needed before others can be slow, and the number that is remembered. */
const KNOWN = 3;
const REMEMBERED = 50;
/** Least time of a slow job, in seconds. */
const LEAST = 5;

/**
 * Finds jobs that take much longer than others of their kind, by the coordinator's own clock.
 * @param factor multiple of the kind's median time after which a job is slow; 0: never.
 * @param now clock in seconds, for tests.
 */
export function stragglersOf(factor: number, now: () => number = () => performance.now() / 1000) {
  const starts = new Map<string, number>();
  const seconds = new Map<string, number[]>();
  return {
    /** Records that a worker has taken a job; only the first time counts. */
    began(id: string): void {
      if (!starts.has(id)) starts.set(id, now());
    },
    ended(id: string, kind: string): void {
      const began = starts.get(id);
      if (began !== undefined) seconds.set(kind, [...(seconds.get(kind) ?? []), now() - began].slice(-REMEMBERED));
    },
    /** Forgets all copies of a job. */
    forget(key: string): void {
      for (const id of starts.keys()) if (keyOfCopy(id) === key) starts.delete(id);
    },
    isSlow(id: string, kind: string): boolean {
      const began = starts.get(id);
      const known = [...(seconds.get(kind) ?? [])].sort((a, b) => a - b);
      if (factor === 0 || began === undefined || known.length < KNOWN) return false;
      const median = known[Math.floor(known.length / 2)] as number;
      return now() - began > Math.max(LEAST, factor * median);
    },
  };
}
