/** Wakes those who wait for something to happen. */
export class Signal {
  private readonly waiting = new Set<() => void>();

  fire(): void {
    for (const wake of [...this.waiting]) wake();
  }

  /** Resolves when it fires next, or after so many milliseconds. */
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

  /** Waits until something is so that it fires for, at most so many milliseconds. */
  async until(isSo: () => boolean, ms: number): Promise<void> {
    for (const end = performance.now() + ms; !isSo() && performance.now() < end; )
      await this.next(end - performance.now());
  }
}
