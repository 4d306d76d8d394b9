/** Wakes the promises that wait for an event. */
export class Signal {
  private readonly waiting = new Set<() => void>();

  fire(): void {
    for (const wake of [...this.waiting]) wake();
  }

  /** Resolves when the signal fires next, or after `ms` milliseconds. */
  next(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.waiting.add(wake);
    });
  }

  /** Waits until a condition holds, which is tested whenever the signal fires; at most `ms` milliseconds. */
  async until(isSo: () => boolean, ms: number): Promise<void> {
    for (const end = performance.now() + ms; !isSo() && performance.now() < end; )
      await this.next(end - performance.now());
  }
}
