import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** Loads Playwright at its first use: it takes half a second, which `--help` and runs on paper do without. */
export const playwright = (): typeof import("playwright") => require("playwright");
