import { keyOfCopy } from "./protocol.js";

/** Jobs of a kind whose time is known before any can be called slow; and how many are remembered. */
const KNOWN = 3;
const REMEMBERED = 50;
/** Seconds under which no job is slow. */
const LEAST = 5;

/** Finds jobs that take much longer than others of their kind, by the coordinator's own clock. */
export class Stragglers {
  private readonly began_ = new Map<string, number>();
  private readonly seconds = new Map<string, number[]>();

  /**
   * @param factor times the median of its kind after which a job is slow; 0: never.
   * @param now seconds; for tests.
   */
  constructor(
    private readonly factor: number,
    private readonly now: () => number = () => performance.now() / 1000,
  ) {}

  /** A worker has taken a job; only the first time counts. */
  began(id: string): void {
    if (!this.began_.has(id)) this.began_.set(id, this.now());
  }

  ended(id: string, kind: string): void {
    const began = this.began_.get(id);
    if (began === undefined) return;
    this.seconds.set(kind, [...(this.seconds.get(kind) ?? []), this.now() - began].slice(-REMEMBERED));
  }

  /** All copies of a job. */
  forget(key: string): void {
    for (const id of this.began_.keys()) if (keyOfCopy(id) === key) this.began_.delete(id);
  }

  isSlow(id: string, kind: string): boolean {
    const began = this.began_.get(id);
    const known = [...(this.seconds.get(kind) ?? [])].sort((a, b) => a - b);
    if (this.factor === 0 || began === undefined || known.length < KNOWN) return false;
    const median = known[Math.floor(known.length / 2)] as number;
    return this.now() - began > Math.max(LEAST, this.factor * median);
  }
}
