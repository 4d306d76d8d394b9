import { existsSync, readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { z } from "zod";
import { fail, messageOf, misuse, nearest } from "./errors.js";
import { sha256File } from "./files.js";
import { problemsOf } from "./problems.js";

/** The folder of features: each may hold folders of the same names as the registries, with entries of its own. */
const FEATURES = fileURLToPath(new URL("../features/", import.meta.url));

/**
 * A folder is a registry: every module in it exports one entry under `exportName`; its file name is its key.
 * Adding an entry is adding a file. Entries of features stand in folders of the same name (`features/NAME/objectives/`).
 * A user's own file counts as an entry too, under the path that names it.
 * @param folder URL of the folder, as `new URL("./objectives/", import.meta.url)`.
 * @param named what a config names: a key of the folder, or the path of a module (`./my-reward.mjs`).
 * @throws UserError where such a module is not there, does not load, or exports no such entry.
 */
export async function loadFolder<T>(folder: URL, exportName: string, named?: string): Promise<Map<string, T>> {
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
    checkMembers(entry, sharedMembers(shipped), named, exportName);
    entries.set(named, entry as T);
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

/** Tells whether a name in a config is the path of a module rather than a key. */
export function isModulePath(name: string): boolean {
  return /[/\\]/.test(name) || /\.[cm]?[jt]s$/.test(name);
}

/** Decides whether a module of this machine that a config names may run; throws where it may not. @param hash its SHA-256. */
export type CodeGuard = (path: string, hash: () => Promise<string>) => void | Promise<void>;

let guard: CodeGuard | undefined;
const loaded = new Map<string, string>();

/** From now on nothing that a config names is run unasked. For processes whose configs come from elsewhere. */
export function guardCode(decides: CodeGuard): void {
  guard = decides;
}

/** SHA-256 of the modules that were loaded so far, by the paths that name them. What they import is not in it. */
export function loadedModules(): Record<string, string> {
  return Object.fromEntries(loaded);
}

/** Gives what a user's module exports under a name, or by default. */
async function loadEntry(path: string, exportName: string): Promise<object> {
  const file = resolve(path);
  await guard?.(path, () => sha256File(file));
  if (!existsSync(file))
    misuse(`There is no file ${file}, which the config names as ${exportName}.`, {
      hint: "paths are relative to the working directory",
    });
  let module: Record<string, unknown>;
  try {
    loaded.set(path, await sha256File(file));
    module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (error) {
    misuse(`${path} does not load: ${messageOf(error)}`, {
      hint: `correct the module; node ${path} shows where it fails`,
      cause: error,
    });
  }
  const entry = module[exportName] ?? module.default;
  if (entry === null || typeof entry !== "object")
    misuse(`${path} exports no ${exportName}.`, {
      hint: `export it as \`export const ${exportName} = { ... }\`, or by default`,
    });
  return entry;
}

/** Members by name, each with its `typeof`. */
export type Members = ReadonlyMap<string, string>;

/** Lists what every entry of a registry has: a user's own needs it too. */
function sharedMembers(entries: readonly object[]): Members {
  const kinds = (entry: object): [string, string][] =>
    Object.entries(entry).map(([name, value]) => [name, typeof value]);
  const [first, ...others] = entries.map((entry) => new Map(kinds(entry)));
  return new Map([...(first ?? [])].filter(([name, kind]) => others.every((other) => other.get(name) === kind)));
}

/**
 * Checks a user's own entry of a registry.
 * @throws UserError with every member that a user's entry lacks, and the line that exports it.
 */
export function checkMembers(entry: object, members: Members, path: string, exportName: string): void {
  const has = entry as Readonly<Record<string, unknown>>;
  const problems = [...members].flatMap(([name, kind]) => {
    const found = typeof has[name];
    if (found === kind) return [];
    const like = nearest(
      name,
      Object.keys(has).filter((key) => !members.has(key)),
    );
    const instead =
      found === "undefined"
        ? like === undefined
          ? "is missing"
          : `is missing (${like}?)`
        : `is ${withArticle(found)}`;
    return [`\n  ${name}: expected ${withArticle(kind)}, ${instead}`];
  });
  if (problems.length === 0) return;
  const lines = readFileSync(resolve(path), "utf8").split("\n");
  const line = lines.findIndex((text) => new RegExp(`export (default|(const|let|var) ${exportName}\\b)`).test(text));
  misuse(`${path}${line < 0 ? "" : `:${line + 1}`}: this ${exportName} is not complete:${problems.join("")}`, {
    hint: "docs/extending.md has an example of each kind",
  });
}

/**
 * Checks what a member of a user's own entry gave. @param name what a config names: entries of the folders are trusted.
 * @throws UserError with the file, the line where the member stands, and what is wrong: a NaN, a promise.
 */
export function checkGiven(name: string | undefined, member: string, schema: z.ZodType, value: unknown): void {
  if (name === undefined || !loaded.has(name)) return;
  const result = schema.safeParse(value);
  if (result.success) return;
  const lines = readFileSync(resolve(name), "utf8").split("\n");
  const line = lines.findIndex((text) => new RegExp(`^[^/*]*\\b${member}\\b\\s*[(:=,]`).test(text));
  fail(`${name}${line < 0 ? "" : `:${line + 1}`}: ${member} gave what it may not:${problemsOf(result.error)}`, {
    hint: "docs/extending.md has an example of each kind",
  });
}

const withArticle = (kind: string): string => `${/^[aeiou]/.test(kind) ? "an" : "a"} ${kind}`;

/** The place in a user's module, `./my-reward.mjs:12`, at which or below which an error was thrown, if it was. */
export function ownFrame(error: unknown): string | undefined {
  const frames = (error instanceof Error && error.stack?.split("\n")) || [];
  for (const frame of frames)
    for (const path of loaded.keys()) {
      const at = frame.indexOf(pathToFileURL(resolve(path)).href);
      const line = at < 0 ? null : /:(\d+):\d+\)?$/.exec(frame);
      if (line !== null) return `${path}:${line[1]}`;
    }
  return undefined;
}
