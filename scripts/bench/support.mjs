import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "../lib/setup.mjs";

/** A compiled module of this project. */
export function load(path) {
  return import(pathToFileURL(join(process.env.REFUSION_DIST ?? join(ROOT, "dist"), "src", path)).href);
}

/** The q-quantile of some numbers; 0.5 by default. */
export function median(values, q = 0.5) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = q * (sorted.length - 1);
  const low = Math.floor(at);
  return sorted[low] + (at - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
}
