/** Wakes the promises that wait for an event. */
export class Signal {
  private readonly waiting = new Set<() => void>();

  fire(): void {
    for (const wake of [...this.waiting]) wake();
  }

  /** Resolves when the signal fires next, or after `ms` milliseconds. */
  async next(ms: number): Promise<void> {
    let [wake, timer] = [(): void => undefined, undefined as NodeJS.Timeout | undefined];
    await new Promise<void>((resolve) => {
      wake = resolve;
      this.waiting.add(wake);
      timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
    this.waiting.delete(wake);
  }

  /** Waits until a condition holds, which is tested whenever the signal fires; at most `ms` milliseconds. */
  async until(isSo: () => boolean, ms: number): Promise<void> {
    for (const end = performance.now() + ms; !isSo() && performance.now() < end; )
      await this.next(end - performance.now());
  }
}
