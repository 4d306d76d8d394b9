import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Asset } from "../../site.js";

const require = createRequire(import.meta.url);
const SCRIPT = "text/javascript; charset=utf-8";

/**
 * Tells what FormFactory's script-built form cannot do without, from the npm packages instead of the CDNs that the page
 * names. Style sheets and scripts of the other pages change nothing about their forms: they stay blocked.
 */
export function cdnAssets(): ReadonlyMap<string, Asset> {
  const file = (path: string, contentType: string): Asset => ({
    contentType,
    body: readFileSync(require.resolve(path)),
  });
  return new Map([
    [
      "https://cdnjs.cloudflare.com/ajax/libs/cleave.js/1.6.0/cleave.min.js",
      file("cleave.js/dist/cleave.min.js", SCRIPT),
    ],
    ["https://cdn.jsdelivr.net/npm/flatpickr", file("flatpickr/dist/flatpickr.min.js", SCRIPT)],
    [
      "https://cdn.jsdelivr.net/npm/flatpickr/dist/flatpickr.min.css",
      file("flatpickr/dist/flatpickr.min.css", "text/css; charset=utf-8"),
    ],
  ]);
}
