import type { RayJobs, RayStatus } from "./ray.js";

const POLL_MS = 1000;

/**
 * Prints a job's log as it grows, until it ends or the signal says so.
 * @returns how it ended; undefined where it still runs.
 */
export async function follow(
  ray: Pick<RayJobs, "status" | "logs">,
  id: string,
  print: (text: string) => void,
  signal: AbortSignal,
  pollMs = POLL_MS,
): Promise<RayStatus | undefined> {
  let printed = 0;
  for (;;) {
    const status = await ray.status(id);
    const logs = await ray.logs(id);
    if (logs.length > printed) print(logs.slice(printed));
    // a log that was cut at its head begins anew
    printed = logs.length;
    if (status.status !== "PENDING" && status.status !== "RUNNING") return status;
    if (signal.aborted) return undefined;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, pollMs);
      signal.addEventListener("abort", done);
    });
  }
}

/** Stops a job, and prints what it says as it ends. */
export async function stopped(
  ray: Pick<RayJobs, "status" | "logs" | "stop">,
  id: string,
  print: (text: string) => void,
): Promise<RayStatus | undefined> {
  await ray.stop(id);
  return follow(ray, id, print, new AbortController().signal);
}
