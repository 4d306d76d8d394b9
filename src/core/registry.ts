import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { messageOf, UserError } from "./errors.js";

/**
 * A folder is a registry: every module in it exports one entry under `exportName`; its file name is its key.
 * Adding an entry is adding a file. A user's own file counts as an entry too, under the path that names it.
 * @param folder URL of the folder, as `new URL("./objectives/", import.meta.url)`.
 * @param named what a config names: a key of the folder, or the path of a module (`./my-reward.mjs`).
 * @throws UserError where such a module is not there, does not load, or exports no such entry.
 */
export async function loadFolder<T>(folder: URL, exportName: string, named?: string): Promise<Map<string, T>> {
  const dir = fileURLToPath(folder);
  const entries = new Map<string, T>();
  for (const file of (existsSync(dir) ? await readdir(dir) : []).sort()) {
    if (extname(file) !== ".js") continue;
    const module = (await import(pathToFileURL(join(dir, file)).href)) as Record<string, unknown>;
    const entry = module[exportName];
    if (entry === undefined) throw new Error(`${join(dir, file)} does not export "${exportName}"`);
    entries.set(basename(file, ".js"), entry as T);
  }
  if (named !== undefined && isModulePath(named) && !entries.has(named)) {
    entries.set(named, await loadEntry<T>(named, exportName));
  }
  return entries;
}

/** Whether a name in a config is the path of a module rather than a key. */
export function isModulePath(name: string): boolean {
  return /[/\\]/.test(name) || /\.[cm]?[jt]s$/.test(name);
}

/** What a user's module exports under a name, or by default. */
async function loadEntry<T>(path: string, exportName: string): Promise<T> {
  const file = resolve(path);
  if (!existsSync(file)) {
    throw new UserError(`There is no file ${file}, which the config names as ${exportName}.`, {
      hint: "paths are relative to the working directory",
      exitCode: 2,
    });
  }
  let module: Record<string, unknown>;
  try {
    module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (error) {
    throw new UserError(`${path} does not load: ${messageOf(error)}`, { exitCode: 2, cause: error });
  }
  const entry = module[exportName] ?? module.default;
  if (entry === null || typeof entry !== "object") {
    throw new UserError(`${path} exports no ${exportName}.`, {
      hint: `export it as \`export const ${exportName} = { ... }\`, or by default`,
      exitCode: 2,
    });
  }
  return entry as T;
}
