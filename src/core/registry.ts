import { readdir } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/**
 * A folder is a registry: every module in it exports one entry under `exportName`; its file name is its key.
 * Adding an entry is adding a file.
 * @param folder URL of the folder, as `new URL("./objectives/", import.meta.url)`.
 */
export async function loadFolder<T>(folder: URL, exportName: string): Promise<Map<string, T>> {
  const dir = fileURLToPath(folder);
  const entries = new Map<string, T>();
  for (const file of (await readdir(dir)).sort()) {
    if (extname(file) !== ".js") continue;
    const module = (await import(pathToFileURL(join(dir, file)).href)) as Record<string, unknown>;
    const entry = module[exportName];
    if (entry === undefined) throw new Error(`${join(dir, file)} does not export "${exportName}"`);
    entries.set(basename(file, ".js"), entry as T);
  }
  return entries;
}
