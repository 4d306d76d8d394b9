import { createRequire } from "node:module";

/**
 * Loads Playwright at its first use: it takes half a second, which `--help` and runs on paper do without. Nothing is
 * done before that, since the site's demo holds this file too and has no Node.
 */
export const playwright = (): typeof import("playwright") => createRequire(import.meta.url)("playwright");
