import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { checkMembers, guarded, isModulePath, loadEntry, type MemberSchemas } from "./own-module.js";

/** The folder of features: each may contain folders named like the registries, with entries of its own. */
const FEATURES = fileURLToPath(new URL("../features/", import.meta.url));

/**
 * Loads a registry, which is a folder: every module in it exports one entry under `exportName`; its file name is its
 * key. Adding an entry is adding a file. Features have entries in folders of the same name
 * (`features/NAME/objectives/`). A user's own file counts as an entry too, under its path.
 * @param folder URL of the folder, as `new URL("./objectives/", import.meta.url)`.
 * @param named the config's choice: a key of the folder, or the path of a module (`./my-reward.mjs`).
 * @param gives schemas of the results of such a module's functions.
 * @param optional members that it may lack, though every shipped entry has them.
 * @throws UserError where such a module is missing, does not load, or exports no such entry.
 */
export async function loadFolder<T>(
  folder: URL,
  exportName: string,
  named?: string,
  gives: MemberSchemas = {},
  optional: readonly string[] = [],
): Promise<Map<string, T>> {
  const entries = new Map<string, T>();
  for (const file of await registryFiles(folder)) {
    const key = basename(file, ".js");
    const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
    const entry = module[exportName];
    if (entry === undefined) throw new Error(`${file} does not export "${exportName}"`);
    if (entries.has(key)) throw new Error(`${file}: there is another ${exportName} of the name ${key}`);
    entries.set(key, entry as T);
  }
  if (named !== undefined && isModulePath(named) && !entries.has(named)) {
    const shipped = [...entries.values()] as object[];
    const entry = await loadEntry(named, exportName);
    checkMembers(entry, shipped, named, exportName, optional);
    entries.set(named, guarded(entry, named, gives, shipped) as T);
  }
  return entries;
}

/** Lists the names of a registry's entries, which are not loaded. */
export const namesInFolder = async (folder: URL): Promise<string[]> =>
  (await registryFiles(folder)).map((file) => basename(file, ".js"));

/** Lists the modules of a registry: of its own folder first, then of the features, each sorted by name. */
async function registryFiles(folder: URL): Promise<string[]> {
  const own = fileURLToPath(folder);
  const names = async (dir: string): Promise<string[]> => (existsSync(dir) ? (await readdir(dir)).sort() : []);
  // a folder outside of src, as a test's, has no features
  const inside = own.startsWith(join(FEATURES, ".."));
  const features = inside ? await names(FEATURES) : [];
  // the folder may be a feature's own
  const folders = new Set([join(own), ...features.map((feature) => join(FEATURES, feature, basename(own), "/"))]);
  const files = await Promise.all([...folders].map(async (dir) => (await names(dir)).map((file) => join(dir, file))));
  return files.flat().filter((file) => extname(file) === ".js");
}
