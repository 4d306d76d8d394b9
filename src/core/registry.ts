import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { checkMembers, type Gives, guarded, isModulePath, loadEntry } from "./own-module.js";

/** The folder of features: each may hold folders of the same names as the registries, with entries of its own. */
const FEATURES = fileURLToPath(new URL("../features/", import.meta.url));

/**
 * A folder is a registry: every module in it exports one entry under `exportName`; its file name is its key.
 * Adding an entry is adding a file. Entries of features stand in folders of the same name (`features/NAME/objectives/`).
 * A user's own file counts as an entry too, under the path that names it.
 * @param folder URL of the folder, as `new URL("./objectives/", import.meta.url)`.
 * @param named what a config names: a key of the folder, or the path of a module (`./my-reward.mjs`).
 * @param gives what members of such a module give when they are called.
 * @param optional members that it may lack, though every shipped entry has them.
 * @throws UserError where such a module is not there, does not load, or exports no such entry.
 */
export async function loadFolder<T>(
  folder: URL,
  exportName: string,
  named?: string,
  gives: Gives = {},
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

/** The modules of a registry: of its own folder first, then those of the features, each by name. */
async function registryFiles(folder: URL): Promise<string[]> {
  const own = fileURLToPath(folder);
  const names = async (dir: string): Promise<string[]> => (existsSync(dir) ? (await readdir(dir)).sort() : []);
  // a folder elsewhere, as a test's, has no features
  const inside = own.startsWith(join(FEATURES, ".."));
  const features = inside ? await names(FEATURES) : [];
  const folders = [own, ...features.map((feature) => join(FEATURES, feature, basename(own)))];
  const files = await Promise.all(folders.map(async (dir) => (await names(dir)).map((file) => join(dir, file))));
  return files.flat().filter((file) => extname(file) === ".js");
}
