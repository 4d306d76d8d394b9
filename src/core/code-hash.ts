import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { sha256 } from "./files.js";

/**
 * Returns the SHA-256 over modules of this program and all that they import. A different hash means that the code may
 * behave differently, not that it does.
 * @param entries URLs of modules, as `import.meta.url`.
 */
export function codeHash(...entries: readonly string[]): string {
  const seen = new Map<string, string>();
  const read = (url: string): void => {
    if (seen.has(url)) return;
    const text = readFileSync(fileURLToPath(url), "utf8");
    seen.set(url, sha256(text));
    for (const [, path = ""] of text.matchAll(/^(?:import|export)\b[^;]*?"(\.{1,2}\/[^"]+\.js)"/gm))
      read(new URL(path, url).href);
  };
  for (const entry of entries) read(entry);
  return sha256([...seen.values()].sort().join());
}
