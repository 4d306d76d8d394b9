import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { register } from "node:module";
import { isAbsolute, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { isPromise } from "node:util/types";
import { z } from "zod";
import { fail, messageOf, misuse, nearest, UserError } from "./errors.js";
import { packageRoot, sha256File } from "./files.js";
import { problemsOf } from "./problems.js";

const HINT = "docs/extending.md has an example of each kind";

/** Decides whether a local module named by a config may run; throws where it may not. @param hash its SHA-256. */
export type CodeGuard = (path: string, hash: () => Promise<string>) => void | Promise<void>;

let guard: CodeGuard | undefined;
const loaded = new Map<string, string>();

/** Installs a guard for modules that configs name, in processes whose configs come from elsewhere. */
export function guardCode(decides: CodeGuard): void {
  guard = decides;
}

/** Returns the SHA-256 of the modules loaded so far, by path. Their imports are not included. */
export const loadedModules = (): Record<string, string> => Object.fromEntries(loaded);

/** Tells whether a name in a config is the path of a module rather than a key. */
export const isModulePath = (name: string): boolean => /[/\\]/.test(name) || /\.[cm]?[jt]s$/.test(name);

let findsOwn = false;

/**
 * Lets users' modules import `refusion-train` and its dependencies even where it is installed globally (`npm i -g`) or
 * called through npx: a package that they cannot find is looked up from here.
 */
function findOwnPackages(): void {
  if (findsOwn) return;
  findsOwn = true;
  const hook = `export const resolve = (specifier, context, next) => next(specifier, context).catch((error) => {
    if (error.code !== "ERR_MODULE_NOT_FOUND" || /^[./#]|^\\w+:/.test(specifier)) throw error;
    return next(specifier, { ...context, parentURL: ${JSON.stringify(import.meta.url)} }).catch(() => { throw error; });
  });`;
  register(`data:text/javascript,${encodeURIComponent(hook)}`);
}

/** Returns the file of a module: from the working directory, else the one shipped with this package. */
function fileOf(path: string): string {
  const shipped = join(packageRoot(), path);
  return existsSync(path) || isAbsolute(path) || !existsSync(shipped) ? resolve(path) : shipped;
}

/** Returns the SHA-256 of a user's module, which is not loaded. @throws Error if there is none. */
export const hashOfOwn = (path: string): Promise<string> => sha256File(fileOf(path));

/** Loads a user's module. @throws UserError where it is missing or does not load, with the line. */
export async function importOwn(path: string, what: string): Promise<Readonly<Record<string, unknown>>> {
  const file = fileOf(path);
  await guard?.(path, () => sha256File(file));
  if (!existsSync(file))
    misuse(`There is no file ${file}, which the config names as ${what}.`, {
      hint: "paths are relative to the working directory",
    });
  try {
    loaded.set(path, await sha256File(file));
    findOwnPackages();
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (error) {
    const place = ownFrame(error) ?? (error instanceof SyntaxError ? syntaxPlace(path) : undefined) ?? path;
    const typescript = (error as NodeJS.ErrnoException | null)?.code === "ERR_UNKNOWN_FILE_EXTENSION";
    misuse(`${place} does not load: ${messageOf(error)}`, {
      hint: typescript
        ? `Node ${process.versions.node} reads no TypeScript, Node 22.18 and later do; or start it with NODE_OPTIONS="--import tsx" (npm install tsx)`
        : "correct the module",
      cause: error,
    });
  }
}

/** Finds the place of a syntax error in a module or its imports: Node reports it only for a program that it runs. */
function syntaxPlace(path: string): string | undefined {
  const file = fileOf(path);
  const { stderr } = spawnSync(process.execPath, [...process.execArgv, file], { encoding: "utf8", timeout: 10_000 });
  const [, url, line] = /^(file:.*):(\d+)\s*$/m.exec(stderr ?? "") ?? [];
  return url && `${fileURLToPath(url) === file ? path : fileURLToPath(url)}:${line}`;
}

/**
 * Returns the default export of a user's module, a function, as a site's login.
 * @param key of the config that names it. @param example of such a module. @throws UserError where it exports none.
 */
export async function ownFunction<F extends (...args: never[]) => unknown>(
  path: string,
  key: string,
  example: string,
): Promise<F> {
  const { default: run } = await importOwn(path, key);
  if (typeof run !== "function")
    misuse(`${key}: ${path} has no default export that is a function.`, { hint: `Write a module as: ${example}` });
  return checkedCall({}, run as Call, { path, member: "default", gives: undefined }) as unknown as F;
}

/** Returns an export of a user's module by name, or its default export. */
export async function loadEntry(path: string, exportName: string): Promise<object> {
  const module = await importOwn(path, exportName);
  const entry = module[exportName] ?? module.default;
  if (typeof entry === "object" && entry !== null) return entry;
  misuse(`${path} exports ${entry == null ? "no" : `${withArticle(typeof entry)} as`} ${exportName}.`, {
    hint: `export it as \`export const ${exportName} = { ... }\`, or by default`,
  });
}

const withArticle = (kind: string): string => `${/^[aeiou]/.test(kind) ? "an" : "a"} ${kind}`;

/** Returns the first matching line of a user's module, as `./my-reward.mjs:6`; the file alone where none matches. */
function placeOf(path: string, pattern: RegExp): string {
  const line = readFileSync(fileOf(path), "utf8")
    .split("\n")
    .findIndex((text) => pattern.test(text));
  return line < 0 ? path : `${path}:${line + 1}`;
}

/**
 * Checks that a user's own entry has every member that all shipped entries have.
 * @param optional members that it may lack.
 * @throws UserError with every missing member, and the line of the export.
 */
export function checkMembers(
  entry: object,
  shipped: readonly object[],
  path: string,
  exportName: string,
  optional: readonly string[] = [],
): void {
  const has = entry as Readonly<Record<string, unknown>>;
  const [first = {}, ...others] = shipped as Readonly<Record<string, unknown>>[];
  const wanted = Object.entries(first).flatMap(([name, value]) =>
    !optional.includes(name) && others.every((other) => typeof other[name] === typeof value)
      ? [[name, typeof value] as const]
      : [],
  );
  const problems = wanted.flatMap(([name, kind]) => {
    const found = typeof has[name];
    if (found === kind && has[name] !== null) return [];
    const spare = Object.keys(has).filter((key) => !wanted.some(([other]) => other === key));
    const like = nearest(name, spare);
    const instead = found === "undefined" ? `is missing${like === undefined ? "" : ` (${like}?)`}` : undefined;
    const odd = has[name] === null ? "is null" : `is ${withArticle(found)}`;
    return [`\n  ${name}: expected ${withArticle(kind)}, ${instead ?? odd}`];
  });
  if (problems.length === 0) return;
  const place = placeOf(path, new RegExp(`export default|\\b${exportName}\\b\\s*[:=]`));
  misuse(`${place}: this ${exportName} is not complete:${problems.join("")}`, { hint: HINT });
}

/**
 * Schemas of a user's own entry by member: for a function, of its result (as a function of the arguments where it
 * depends on them); for any other member, of its value.
 */
export type MemberSchemas = Readonly<Record<string, Given>>;
type Given = z.ZodType | ((...args: never[]) => z.ZodType);

const given = new WeakMap<z.ZodType, Given>();

/** Returns the schema of a function whose results are checked by `gives` at each call. */
export function method(gives: Given = z.promise(z.unknown())): z.ZodType {
  const schema = z.custom((value) => typeof value === "function", {
    error: ({ input }) => `expected a function, received ${typeof input}`,
  });
  given.set(schema, gives);
  return schema;
}

/**
 * Wraps a user's own entry so that its functions are checked when they are called: errors are traced to their place,
 * and results must match their schemas. A promise is awaited where its schema is a promise, or where it has none.
 * @param path of its module. @param shipped entries whose functions are ours, not the user's.
 */
export function guarded<T extends object>(
  entry: T,
  path: string,
  gives: MemberSchemas,
  shipped: readonly object[] = [],
): T {
  const ours = new Set(shipped.flatMap((other) => Object.values(other) as unknown[]));
  const has = entry as Readonly<Record<string, unknown>>;
  const checked = {};
  // those of its class too
  for (let at: object = entry; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at) as object)
    for (const name of Object.getOwnPropertyNames(at)) {
      if (name === "constructor" || Object.hasOwn(checked, name)) continue;
      const value = has[name];
      const own: OwnMember = { path, member: name, gives: gives[name] };
      const isCalled = typeof value === "function";
      const called = isCalled && !ours.has(value) ? checkedCall(entry, value as Call, own) : undefined;
      if (!isCalled && own.gives instanceof z.ZodType) checkedResult(value, own.gives, own, "is");
      // a member that is not a function may change
      Object.defineProperty(checked, name, { enumerable: true, get: () => called ?? has[name] });
    }
  return checked as T;
}

type Call = (...args: unknown[]) => unknown;

/** A user's function with the schema of its result. */
interface OwnMember {
  readonly path: string;
  readonly member: string;
  readonly gives: Given | undefined;
}

function checkedCall(self: object, run: Call, own: OwnMember): Call {
  return (...args) => {
    const { gives } = own;
    const schema = typeof gives === "function" ? gives(...(args as never[])) : gives;
    const refuse = (error: unknown): never => {
      throw traced(error, own);
    };
    try {
      const value = Reflect.apply(run, self, args);
      if (!isPromise(value)) return checkedResult(value, schema, own);
      if (schema === undefined || schema instanceof z.ZodPromise)
        return value.then((result) => checkedResult(result, schema, own), refuse);
      value.catch(() => undefined);
    } catch (error) {
      return refuse(error);
    }
    fail(`${memberPlace(own)}: ${own.member} gave what it may not:\n  a Promise, which nobody waits for`, {
      hint: "make it a function that is not async",
    });
  };
}

/** @throws UserError with the place of the member and the fault of its result, as a NaN or a promise. */
function checkedResult(value: unknown, schema: z.ZodType | undefined, own: OwnMember, does = "gave"): unknown {
  const expected = schema instanceof z.ZodPromise ? (schema.unwrap() as z.ZodType) : schema;
  if (expected === undefined) return value;
  const { error } = expected.safeParse(value);
  if (error !== undefined)
    fail(`${memberPlace(own)}: ${own.member} ${does} what it may not:${problemsOf(error)}`, { hint: HINT });
  const object = expected instanceof z.ZodOptional ? expected.unwrap() : expected;
  if (!(object instanceof z.ZodObject) || value === undefined) return value;
  const methods = Object.entries(object.shape as Record<string, z.ZodType>).flatMap(([name, member]) => {
    const gives = given.get(member instanceof z.ZodOptional ? (member.unwrap() as z.ZodType) : member);
    return gives === undefined ? [] : [[name, gives] as const];
  });
  return methods.length === 0 ? value : guarded(value as object, own.path, Object.fromEntries(methods));
}

const memberPlace = ({ path, member }: OwnMember): string =>
  placeOf(path, new RegExp(`^(?!\\s*(?://|/?\\*)).*\\b${member}\\b\\s*[(:=,]`));

/** Places in users' modules for errors whose stack does not show one. */
const places = new WeakMap<Error, string>();

/** Returns the error of a user's function with its place; a thrown value that is not an Error becomes a UserError. */
function traced(error: unknown, own: OwnMember): Error {
  if (!(error instanceof Error))
    return new UserError(`${memberPlace(own)}: ${own.member} threw ${inspect(error)}, which is no error`, {
      hint: "throw new Error(...), and it says where",
    });
  if (ownFrame(error) === undefined) places.set(error, memberPlace(own));
  return error;
}

/** Returns the place in a user's module, as `./my-reward.mjs:12`, at or below which an error was thrown, if any. */
export function ownFrame(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  for (const frame of error.stack?.split("\n") ?? [])
    for (const path of loaded.keys()) {
      const file = fileOf(path);
      const isInModule = frame.includes(pathToFileURL(file).href) || frame.includes(file);
      const line = isInModule ? /:(\d+)(:\d+)?\)?$/.exec(frame) : null;
      if (line !== null) return `${path}:${line[1]}`;
    }
  return places.get(error) ?? ownFrame(error.cause);
}
