import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser } from "playwright";

/** Most memory of one page's process: the heap of its scripts, and all of it, in MiB. */
const HEAP_MB = 1024;
const MOST_MB = 1536;
/** Shortest time between two looks, in milliseconds: a script can fill about a gigabyte a second. */
const LOOK_MS = 200;
/** Growth, in MiB a millisecond, that no page reaches: while the limit is far, the next look comes later by that. */
const FASTEST_MB = 4;

/** Limits the heap of every page; the limit holds on every system. */
export const HEAP_LIMIT = `--js-flags=--max-old-space-size=${HEAP_MB}`;

/** Browsers of which a page's process was ended, with the time of the last one. */
const ended = new WeakMap<Browser, number>();

/** Names the reason of a crash of a page. */
export const crashReason = (browser: Browser): string =>
  performance.now() - (ended.get(browser) ?? Number.NEGATIVE_INFINITY) < 10 * LOOK_MS
    ? `the page took more than ${MOST_MB} MB of memory`
    : "the page crashed";

/**
 * Ends the process of a page that takes too much memory, by its own id: buffers and pictures are no part of the heap.
 * Systems other than Linux only have the heap's limit.
 */
export async function watchMemory(browser: Browser): Promise<void> {
  if (process.platform !== "linux") return;
  const devtools = await browser.newBrowserCDPSession();
  /** Returns the size of the largest page's process, in MiB. */
  const look = async (): Promise<number> => {
    let largest = 0;
    const { processInfo } = await devtools.send("SystemInfo.getProcessInfo");
    for (const { type, id } of processInfo) {
      const size = type === "renderer" ? residentMb(id) : 0;
      largest = Math.max(largest, size);
      if (size <= MOST_MB) continue;
      ended.set(browser, performance.now());
      process.kill(id, "SIGKILL");
    }
    return largest;
  };
  const watch = async (): Promise<void> => {
    while (browser.isConnected()) {
      // the browser, or a process in the list, may just have ended
      const left = MOST_MB - (await look().catch(() => MOST_MB));
      await sleep(LOOK_MS + Math.max(0, left) / FASTEST_MB, undefined, { ref: false });
    }
  };
  void watch();
}

/** Reads the memory that a process holds, in MiB; 0 if it has ended. */
function residentMb(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
