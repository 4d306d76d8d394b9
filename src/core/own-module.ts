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

/** Tells whether a name in a config is the path of a module rather than a key. */
export function isModulePath(name: string): boolean {
  return /[/\\]/.test(name) || /\.[cm]?[jt]s$/.test(name);
}

let findsOwn = false;

/**
 * From now on a package that a module cannot find from where it lies is looked for from here: `refusion-train` itself and
 * what it depends on, where it is installed for all (`npm i -g`) or only called by npx.
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

/** The file of a module: from the working directory, else one that came with this package. */
function fileOf(path: string): string {
  const shipped = join(packageRoot(), path);
  return existsSync(path) || isAbsolute(path) || !existsSync(shipped) ? resolve(path) : shipped;
}

/** Loads a module of the user's. @throws UserError where it is not there, or does not load, with the line. */
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

/** Gives the place of a syntax error in a module, or in what it imports: Node says it only of a program that it runs. */
function syntaxPlace(path: string): string | undefined {
  const file = fileOf(path);
  const { stderr } = spawnSync(process.execPath, [...process.execArgv, file], { encoding: "utf8", timeout: 10_000 });
  const [, url, line] = /^(file:.*):(\d+)\s*$/m.exec(stderr ?? "") ?? [];
  return url && `${fileURLToPath(url) === file ? path : fileURLToPath(url)}:${line}`;
}

/**
 * Gives the function that a user's module exports by default, as a site's login.
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

/** Gives what a user's module exports under a name, or by default. */
export async function loadEntry(path: string, exportName: string): Promise<object> {
  const module = await importOwn(path, exportName);
  const entry = module[exportName] ?? module.default;
  if (typeof entry === "object" && entry !== null) return entry;
  misuse(`${path} exports ${entry == null ? "no" : `${withArticle(typeof entry)} as`} ${exportName}.`, {
    hint: `export it as \`export const ${exportName} = { ... }\`, or by default`,
  });
}

const withArticle = (kind: string): string => `${/^[aeiou]/.test(kind) ? "an" : "a"} ${kind}`;

/** The first line of a user's module that matches, as `./my-reward.mjs:6`; the file alone where none does. */
function placeOf(path: string, pattern: RegExp): string {
  const line = readFileSync(fileOf(path), "utf8")
    .split("\n")
    .findIndex((text) => pattern.test(text));
  return line < 0 ? path : `${path}:${line + 1}`;
}

/**
 * Checks a user's own entry against those that are shipped: what all of them have, it needs too.
 * @param optional members that it may lack all the same.
 * @throws UserError with every member that it lacks, and the line that exports it.
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
 * Schemas of a user's own entry by member: of what it gives when it is called, where that depends on the arguments a
 * function of them; of what it is, where it is no function.
 */
export type Gives = Readonly<Record<string, Given>>;
type Given = z.ZodType | ((...args: never[]) => z.ZodType);

const given = new WeakMap<z.ZodType, Given>();

/** A schema of a function: what it gives is checked by a schema too when it is called. */
export function method(gives: Given = z.promise(z.unknown())): z.ZodType {
  const schema = z.custom((value) => typeof value === "function", {
    error: ({ input }) => `expected a function, received ${typeof input}`,
  });
  given.set(schema, gives);
  return schema;
}

/**
 * A user's own entry whose functions are checked when they are called: what one throws is traced to its place, and what
 * it gives has to match. A promise is waited for where its schema is one, or where it has none.
 * @param path of its module. @param shipped entries whose functions are ours, not the user's.
 */
export function guarded<T extends object>(entry: T, path: string, gives: Gives, shipped: readonly object[] = []): T {
  const ours = new Set(shipped.flatMap((other) => Object.values(other) as unknown[]));
  const has = entry as Readonly<Record<string, unknown>>;
  const members = memberNames(entry).map((name): [string, PropertyDescriptor] => {
    const value = has[name];
    const own: OwnMember = { path, member: name, gives: gives[name] };
    const called = typeof value === "function" && !ours.has(value) ? checkedCall(entry, value as Call, own) : undefined;
    if (typeof value !== "function" && own.gives instanceof z.ZodType) checkedResult(value, own.gives, own, "is");
    // what is no function may change
    return [name, { enumerable: true, get: () => called ?? has[name] }];
  });
  return Object.defineProperties({}, Object.fromEntries(members)) as T;
}

/** Names of what an object has, its class's members included. */
function memberNames(entry: object): string[] {
  const names = new Set<string>();
  for (let at = entry; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at) as object)
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  names.delete("constructor");
  return [...names];
}

type Call = (...args: unknown[]) => unknown;

/** A function of the user's, and what it has to give. */
interface OwnMember {
  readonly path: string;
  readonly member: string;
  readonly gives: Given | undefined;
}

function checkedCall(self: object, run: Call, own: OwnMember): Call {
  return (...args) => {
    const { gives } = own;
    const schema = typeof gives === "function" ? gives(...(args as never[])) : gives;
    try {
      const value = Reflect.apply(run, self, args);
      const waits = isPromise(value) && (schema === undefined || schema instanceof z.ZodPromise);
      if (isPromise(value) && !waits) {
        value.catch(() => undefined);
        fail(`${memberPlace(own)}: ${own.member} gave what it may not:\n  a Promise, which nobody waits for`, {
          hint: "make it a function that is not async",
        });
      }
      if (!isPromise(value)) return checkedResult(value, schema, own);
      return value.then(
        (result) => checkedResult(result, schema, own),
        (error: unknown) => {
          throw traced(error, own);
        },
      );
    } catch (error) {
      throw traced(error, own);
    }
  };
}

/** @throws UserError with the place of the member, and what is wrong with what it gave: a NaN, a promise. */
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

/** Places in users' modules of errors whose stack does not tell. */
const places = new WeakMap<Error, string>();

/** An error as a user's function threw it; what is no error becomes one of the user's. */
function traced(error: unknown, own: OwnMember): Error {
  if (!(error instanceof Error))
    return new UserError(`${memberPlace(own)}: ${own.member} threw ${inspect(error)}, which is no error`, {
      hint: "throw new Error(...), and it says where",
    });
  if (ownFrame(error) === undefined) places.set(error, memberPlace(own));
  return error;
}

/** The place in a user's module, `./my-reward.mjs:12`, at which or below which an error was thrown, if it was. */
export function ownFrame(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  for (const frame of error.stack?.split("\n") ?? [])
    for (const path of loaded.keys()) {
      const file = fileOf(path);
      const there = frame.includes(pathToFileURL(file).href) || frame.includes(file);
      const line = there ? /:(\d+)(:\d+)?\)?$/.exec(frame) : null;
      if (line !== null) return `${path}:${line[1]}`;
    }
  return places.get(error) ?? ownFrame(error.cause);
}
