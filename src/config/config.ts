import { existsSync } from "node:fs";
import { basename, extname, isAbsolute, join, resolve } from "node:path";
import { stringify } from "yaml";
import { z } from "zod";
import { fail, messageOf, misuse, nearest, UserError } from "../core/errors.js";
import { packageRoot, readSmall } from "../core/files.js";
import { withoutPasswords } from "../core/shown.js";
import { parseYaml } from "../core/yaml.js";
import { FIELD_NAMES } from "./field-names.js";
import { kindSections, settleKinds } from "./kinds.js";
import { applyOverrides, isPlainObject, parseOverrides } from "./overrides.js";
import { loadRegistries } from "./registries.js";
import {
  type ConfigKey,
  configKeys,
  type PlugIn,
  type Registries,
  type RunConfig,
  runSchema,
  unwrap,
} from "./schema.js";

export type { RunConfig } from "./schema.js";

/** Largest config file in bytes; it bounds the cost of a hostile one: the YAML library compares each key with all others. */
const MAX_BYTES = 1 << 17;
/** Problems of a file that are described; the others are counted. */
const MOST_PROBLEMS = 100;

export interface LoadOptions {
  /** The objective (subcommand) whose options the `objective` section holds; undefined accepts any. */
  readonly command?: string | undefined;
  /** `key=value` arguments of the command line. */
  readonly overrides?: readonly string[];
  /** For tests; by default the registries of the folders. */
  readonly registries?: Registries;
}

/**
 * Reads a run's config: schema default < YAML < `key=value`. The file is looked up here, then in this package.
 * @throws UserError (exit 2) with every problem at once, each with its key and its line.
 */
export async function loadConfig(path: string, options: LoadOptions = {}): Promise<RunConfig> {
  const here = shippedOr(path);
  return resolveConfig(readYaml(here), here, options);
}

/** Returns the path if it exists, else that of the same file shipped with this package, else the path unchanged. */
export function shippedOr(path: string): string {
  if (existsSync(path) || isAbsolute(path)) return path;
  const shipped = join(packageRoot(), path);
  return existsSync(shipped) ? shipped : path;
}

/** As loadConfig, for values given on the command line only; `path` names them in messages and names the run. */
export async function configOf(
  values: Readonly<Record<string, unknown>>,
  path: string,
  options: LoadOptions = {},
): Promise<RunConfig> {
  const source = { tree: { ...values }, line: () => undefined, unwritten: true };
  return resolveConfig(source, path, options);
}

/** Adds the config's path to an error's message. */
function throwOf(path: string, error: unknown): never {
  if (!(error instanceof UserError) || error.message.includes(path)) throw error;
  const { hint, exitCode } = error;
  throw new UserError(`${path}: ${error.message}`, { exitCode, cause: error, ...(hint !== undefined && { hint }) });
}

async function resolveConfig(source: Source, path: string, options: LoadOptions): Promise<RunConfig> {
  const overrides = parseOverrides(options.overrides ?? []);
  const raw = applyOverrides(source.tree, overrides);
  if (raw.name === undefined)
    raw.name =
      basename(path, extname(path))
        .replace(/[^A-Za-z0-9._-]+/g, "-")
        .replace(/^[^A-Za-z0-9]+/, "") || "run";

  const registries = options.registries ?? (await loadRegistries(raw).catch((error) => throwOf(path, error)));
  settleKinds(raw, source.tree, overrides, registries);
  agreeOnObjective(raw, path, options.command);
  const schema = runSchema(registries, options.command, raw);
  // an empty section (`training:`) means its defaults
  for (const [key, section] of Object.entries(schema.shape as Record<string, z.ZodType>))
    if (raw[key] === null && unwrap(section).inner instanceof z.ZodObject) raw[key] = {};
  const result = schema.safeParse(raw);
  const origin = (keys: readonly PropertyKey[]): Origin => {
    const override = overrides.findLast((o) => o.path.every((segment, i) => segment === keys[i]));
    if (override !== undefined)
      return { order: Number.POSITIVE_INFINITY, text: ` (command line: ${withoutPasswords(override.text)})` };
    const line = source.line(keys);
    return line === undefined ? { order: 0, text: "" } : { order: line, text: ` (line ${line})` };
  };
  const keys = configKeys(schema);
  const unread = result.success ? unreadKeys(result.data as RunConfig, keys, registries) : [];
  if (result.success && unread.length === 0) return result.data as RunConfig;
  const issues = (result.error?.issues ?? []).flatMap((issue): z.core.$ZodIssue[] =>
    issue.code === "unrecognized_keys" ? issue.keys.map((key) => ({ ...issue, keys: [key] })) : [issue],
  );
  const problems = [
    ...issues.slice(0, MOST_PROBLEMS).flatMap((issue) => describeIssue(issue, raw, keys, registries, origin)),
    ...unread.map(([key, why]) => {
      const { order, text } = origin(key);
      return { order, text: `${key.join(".")}${text}: ${why}` };
    }),
  ];
  throw configError(
    path,
    problems.sort((a, b) => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0)).map((problem) => problem.text),
    source.unwritten,
    issues.length - MOST_PROBLEMS,
  );
}

/** Lists the keys that are set, to another value than the default, though the objective does not read them. */
function unreadKeys(config: RunConfig, keys: readonly ConfigKey[], { objectives }: Registries): [string[], string][] {
  const { kind, ...options } = config.objective;
  const unread = Object.entries(objectives.get(kind)?.unread?.(options) ?? {});
  return keys.flatMap(({ path, type, default: usual }): [string[], string][] => {
    const why = unread.find(([key]) => `${path.join(".")}.`.startsWith(`${key}.`))?.[1];
    const isSet = JSON.stringify(valueAt(config, path)) !== JSON.stringify(usual);
    return why !== undefined && type !== "section" && isSet ? [[[...path], `${kind} does not read it: ${why}`]] : [];
  });
}

/** Checks that the subcommand and the config's `objective.kind` name the same objective, where both do. */
function agreeOnObjective(raw: Record<string, unknown>, path: string, command: string | undefined): void {
  if (command === undefined) return;
  const section = isPlainObject(raw.objective) ? raw.objective : {};
  if (section.kind !== undefined && section.kind !== command)
    misuse(`${path} is a config for ${show(section.kind)} (objective.kind), not for ${command}.`, {
      hint: `refusion-train ${typeof section.kind === "string" ? section.kind : "<objective>"} --config ${path}`,
    });
  if ((raw.objective ?? null) === null || isPlainObject(raw.objective)) raw.objective = { ...section, kind: command };
}

/** Formats the resolved config as YAML for a run directory; loading it gives the same config again. */
export function formatConfig(config: RunConfig): string {
  return stringify(config, { lineWidth: 120 });
}

/**
 * Resolves a path of a config (model, adapter): from the working directory, else inside this package.
 * @throws UserError that names both places.
 */
export function resolvePath(path: string, what: string): string {
  const here = resolve(path);
  if (existsSync(here)) return here;
  const shipped = join(packageRoot(), path);
  if (!isAbsolute(path) && existsSync(shipped)) return shipped;
  fail(
    `${what}: ${path} does not exist (looked for ${here}${isAbsolute(path) || shipped === here ? "" : ` and ${shipped}`}).`,
    { hint: `set ${what}=PATH to a directory that exists` },
  );
}

/** Lists the keys in which two configs differ, as `training.steps: 20 -> 40`. */
export function configDifferences(before: unknown, after: unknown, path = ""): string[] {
  if (isPlainObject(before) && isPlainObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return keys.flatMap((key) => configDifferences(before[key], after[key], path === "" ? key : `${path}.${key}`));
  }
  const [a, b] = [JSON.stringify(before), JSON.stringify(after)];
  return a === b ? [] : [withoutPasswords(`${path}: ${a ?? "none"} -> ${b ?? "none"}`)];
}

/** Reads the keys and values of a YAML file, unchecked. @throws UserError where it is not valid YAML. */
export function readTree(path: string): Readonly<Record<string, unknown>> {
  return readYaml(path).tree;
}

/** Content of a YAML file, with its line numbers. */
interface Source {
  readonly tree: Record<string, unknown>;
  /** The line of a key, or of its deepest existing section; undefined for the top level. */
  line(path: readonly PropertyKey[]): number | undefined;
  /** True for a file that does not exist (yet). */
  readonly unwritten?: boolean;
}

/** The origin of a wrong value in words, with its sort order: by line, the command line last. */
interface Origin {
  readonly order: number;
  readonly text: string;
}

function readYaml(path: string): Source {
  let text: string;
  try {
    text = readSmall(path, MAX_BYTES);
  } catch (error) {
    misuse(`Cannot read the config ${path}: ${messageOf(error)}`, {
      hint: "give a YAML file with --config, as configs/tiny/quickstart.yaml",
      cause: error,
    });
  }
  const { tree, faults, line } = parseYaml(text);
  if (faults.length > 0) throw configError(path, faults.slice(0, MOST_PROBLEMS));
  const given = tree ?? {};
  if (!isPlainObject(given)) throw configError(path, [`expected keys and values, got ${show(given)}`]);
  return { tree: given, line };
}

function configError(path: string, problems: readonly string[], unwritten = false, more = 0): UserError {
  const head = `${path} ${unwritten ? "would have" : "has"} ${problems.length === 1 ? "a problem" : `${problems.length} problems`}:`;
  const rest = more > 0 ? [`  and ${more} more`] : [];
  return new UserError([head, ...problems.map((problem) => `  ${problem}`), ...rest].join("\n"), {
    hint: unwritten
      ? "nothing was written; add what is missing, and correct what is wrong, as key=value"
      : "correct the file, or pass key=value; `refusion-train OBJECTIVE --help all` lists every key",
    exitCode: 2,
  });
}

/** Describes a wrong key on one line, as `training.stpes (line 4): unknown key; did you mean steps?`. */
function describeIssue(
  issue: z.core.$ZodIssue,
  raw: Record<string, unknown>,
  keys: readonly ConfigKey[],
  registries: Registries,
  origin: (path: readonly PropertyKey[]) => Origin,
): Origin[] {
  const at = (path: readonly PropertyKey[], what: string): Origin => {
    const { order, text } = origin(path);
    return { order, text: `${pathText(path)}${text}: ${what}` };
  };
  if (issue.code === "unrecognized_keys") {
    return issue.keys.flatMap((key) => {
      const path = [...issue.path, key];
      const named = renamed(keys, path, valueAt(raw, path));
      if (named.length > 0) return named.map(([full, name]) => at(full, `unknown key; here it is ${name}`));
      return [at(path, ownersOf(registries, raw, issue.path, key) ?? unknownKey(keys, issue.path, key))];
    });
  }
  return [at(issue.path, describeMismatch(issue, valueAt(raw, issue.path)))];
}

function describeMismatch(issue: z.core.$ZodIssue, value: unknown): string {
  if (value === undefined && (issue.code === "invalid_type" || issue.code === "invalid_value"))
    return "is required and missing";
  const got = `got ${show(value)}`;
  switch (issue.code) {
    case "invalid_type":
      return `expected ${TYPE_WORDS[issue.expected] ?? issue.expected}, ${got}`;
    case "invalid_value": {
      const close = typeof value === "string" ? nearest(value, issue.values.map(String)) : undefined;
      return `expected one of ${issue.values.join(", ")}, ${got}${close === undefined ? "" : `; did you mean ${close}?`}`;
    }
    case "too_small":
      return `expected ${bound(issue.origin, issue.inclusive === false ? "more than" : "at least", issue.minimum)}, ${got}`;
    case "too_big":
      return `expected ${bound(issue.origin, issue.inclusive === false ? "less than" : "at most", issue.maximum)}, ${got}`;
    case "invalid_union": {
      const parts = issue.errors.map((branch) =>
        branch[0] === undefined ? "" : describeMismatch(branch[0], value).replace(`, ${got}`, ""),
      );
      return parts.length === 0 ? `${issue.message}, ${got}` : `${[...new Set(parts)].join(", or ")}, ${got}`;
    }
    default:
      return `${issue.message}, ${got}`;
  }
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a number",
  string: "text",
  boolean: "true or false",
  array: "a list",
  object: "a section of keys",
};

function bound(origin: string, relation: string, limit: number | bigint): string {
  if (origin === "string") return `${relation} ${limit} characters`;
  return origin === "array" ? `${relation} ${limit} items` : `${relation} ${limit}`;
}

/** Names the environments or kinds that have a key which this config's kind lacks. */
function ownersOf(
  registries: Registries,
  raw: Record<string, unknown>,
  path: readonly PropertyKey[],
  key: string,
): string | undefined {
  const named = path.length === 0 ? "environment" : path.join(".");
  const section = kindSections(registries).find((one) => one.path.join(".") === named);
  const holds = ([kind, entry]: readonly [string, PlugIn]): boolean =>
    Object.hasOwn(path.length === 0 ? (registries.environments.get(kind)?.sections ?? {}) : entry.schema.shape, key);
  const owners = [...(section?.entries ?? [])].filter(holds).map(([kind]) => kind);
  if (section === undefined || owners.length === 0) return undefined;
  return `unknown key; it belongs to ${named}.kind ${owners.join(", ")}, and this config's kind is ${String(section.kind(raw))}`;
}

/** Lists the keys at and below a path that are names of other trainers ({@link FIELD_NAMES}), with the key here. */
function renamed(keys: readonly ConfigKey[], path: readonly PropertyKey[], value: unknown): [PropertyKey[], string][] {
  const known = (name: string | undefined): boolean => keys.some((key) => key.path.join(".") === name);
  const name = path.map((_, i) => FIELD_NAMES.get(path.slice(i).join(".").toLowerCase())).find(known);
  if (name !== undefined) return [[[...path], name]];
  return isPlainObject(value) ? Object.keys(value).flatMap((key) => renamed(keys, [...path, key], value[key])) : [];
}

/** Suggests a key of exactly that name in another section, else the nearest one of this section. */
function unknownKey(all: readonly ConfigKey[], path: readonly PropertyKey[], key: string): string {
  const siblings = all
    .filter((k) => k.path.slice(0, -1).join(".") === path.join("."))
    .map((k) => k.path.at(-1) as string);
  const elsewhere = all.find((k) => k.path.at(-1) === key && k.type !== "section");
  if (elsewhere !== undefined) return `unknown key here; did you mean ${elsewhere.path.join(".")}?`;
  const close = nearest(key, siblings);
  if (close !== undefined) return `unknown key; did you mean ${[...path, close].join(".")}?`;
  return siblings.length === 0
    ? "unknown key; this section has no options"
    : `unknown key; known here: ${siblings.join(", ")}`;
}

function pathText(path: readonly PropertyKey[]): string {
  return (
    path.map((key, i) => (typeof key === "number" ? `[${key}]` : `${i === 0 ? "" : "."}${String(key)}`)).join("") ||
    "config"
  );
}

function valueAt(raw: unknown, path: readonly PropertyKey[]): unknown {
  let value = raw;
  for (const key of path) {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

function show(value: unknown): string {
  const text = withoutPasswords(typeof value === "number" ? String(value) : (JSON.stringify(value) ?? String(value)));
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
