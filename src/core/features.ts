import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Features that the core itself calls: the export that it calls, and its module. The compiler does not follow these
 * paths, so that each folder can be deleted. What has several entries is found by a registry instead (registry.ts).
 */
export const CALLED = {
  dryRun: "dry-run/dry-run",
  estimate: "doctor/memory",
  executor: "cluster/executor",
  openApiBinding: "gpu/c-api",
  openContracts: "learned-pages/contracts",
  openLivePage: "report/live/live-page",
  rejudge: "rejudge/command",
  reportAtEnd: "report/report",
} as const;

/** Imports what a feature exports to the core; undefined where the feature was deleted. */
export async function calledFeature<T>(name: keyof typeof CALLED): Promise<T | undefined> {
  const file = new URL(`../features/${CALLED[name]}.js`, import.meta.url);
  if (!existsSync(fileURLToPath(file))) return undefined;
  return ((await import(file.href)) as Record<string, T>)[name];
}
