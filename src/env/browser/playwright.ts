import { createRequire } from "node:module";

/**
 * Loads Playwright at its first use: loading takes half a second, which `--help` and runs on paper save. Nothing runs
 * before that, since the site's demo contains this file too and has no Node.
 */
export const playwright = (): typeof import("playwright") => createRequire(import.meta.url)("playwright");
