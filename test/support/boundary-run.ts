/** Checks the boundaries that a module lists. In a worker, it counts its cases where the test sees them. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { type Boundaries, check } from "./boundary.js";

const TESTS = fileURLToPath(new URL("..", import.meta.url));

/** Paths of all modules with boundaries, from the folder of compiled tests. */
export const listed = (): string[] =>
  readdirSync(TESTS, { recursive: true, encoding: "utf8" })
    .filter((path) => /(?:^|[\\/])boundaries\.js$/.test(path))
    .sort();

/**
 * Checks the boundaries of a module.
 * @param times cases of each, as a multiple of those of the quick test.
 * @returns the number of cases of each boundary.
 */
export async function checkAll(
  path: string,
  times: number,
  onCase: (name: string, n: number) => void = () => undefined,
): Promise<Record<string, number>> {
  const { boundaries } = (await import(pathToFileURL(join(TESTS, path)).href)) as { boundaries: Boundaries };
  const folder = mkdtempSync(join(tmpdir(), "boundaries-"));
  const counts: Record<string, number> = {};
  try {
    for (const boundary of await boundaries(folder)) {
      const runs = boundary.cases * times;
      try {
        await check(boundary, runs, (n) => onCase(boundary.name, n));
      } finally {
        await boundary.close?.();
      }
      counts[boundary.name] = runs;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return counts;
}

if (!isMainThread && workerData?.boundaries !== undefined) {
  const { boundaries, times } = workerData as { boundaries: string; times: number };
  checkAll(boundaries, times, (name, n) => parentPort?.postMessage({ at: `${name}, case ${n}` })).then(
    (counts) => parentPort?.postMessage({ counts }),
    (error: Error) => parentPort?.postMessage({ error: error.stack ?? String(error) }),
  );
}
