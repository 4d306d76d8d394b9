import { existsSync } from "node:fs";
import { basename, extname, isAbsolute, join, resolve } from "node:path";
import { stringify } from "yaml";
import { z } from "zod";
import { fail, messageOf, misuse, UserError } from "../core/errors.js";
import { packageRoot, readSmall, userFolder } from "../core/files.js";
import { isModulePath } from "../core/own-module.js";
import { withoutPasswords } from "../core/shown.js";
import { settleKinds } from "./kind-sections.js";
import { applyOverrides, isPlainObject, type Override, parseOverrides } from "./overrides.js";
import { describeIssue, type Problem, pathText, show, valueAt } from "./problems.js";
import { loadRegistries } from "./registries.js";
import { type ConfigKey, configKeys, type Registries, type RunConfig, runSchema, unwrap } from "./schema.js";
import { parseYaml } from "./yaml.js";

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
  const registries =
    options.registries ??
    (await loadRegistries(applyOverrides(source.tree, overrides)).catch((error) => throwOf(path, error)));
  const raw = settleKinds(source.tree, overrides, registries);
  if (raw.name === undefined)
    raw.name =
      basename(path, extname(path))
        .replace(/[^A-Za-z0-9._-]+/g, "-")
        .replace(/^[^A-Za-z0-9]+/, "") || "run";
  agreeOnObjective(raw, path, options.command);
  const schema = runSchema(registries, options.command, raw);
  // an empty section (`training:`) means its defaults
  for (const [key, section] of Object.entries(schema.shape as Record<string, z.ZodType>))
    if (raw[key] === null && unwrap(section).inner instanceof z.ZodObject) raw[key] = {};
  const result = schema.safeParse(raw);
  const keys = configKeys(schema);
  const beyond = beyondAll(raw, keys);
  if (result.success) {
    const config = result.data as RunConfig;
    const wrong = [...unreadKeys(config, keys, registries), ...beyond];
    if (wrong.length === 0) return config;
    throw configError(path, source, placed(wrong, source, overrides));
  }
  const issues = result.error.issues.flatMap((issue): z.core.$ZodIssue[] =>
    issue.code === "unrecognized_keys" ? issue.keys.map((key) => ({ ...issue, keys: [key] })) : [issue],
  );
  const problems = issues.slice(0, MOST_PROBLEMS).flatMap((issue) => describeIssue(issue, { raw, keys, registries }));
  throw configError(path, source, placed([...problems, ...beyond], source, overrides), issues.length - MOST_PROBLEMS);
}

/** Lists problems in the order of the file, those of the command line last: `training.stpes (line 4): unknown key`. */
function placed(problems: readonly Problem[], source: Source, overrides: readonly Override[]): string[] {
  return problems
    .map(({ path, text }) => {
      const override = overrides.findLast((o) => o.path.every((segment, i) => segment === path[i]));
      const line = override === undefined ? source.line(path) : Number.MAX_SAFE_INTEGER;
      const origin = override === undefined ? `line ${line}` : `command line: ${withoutPasswords(override.text)}`;
      return { line: line ?? 0, text: `${pathText(path)}${line === undefined ? "" : ` (${origin})`}: ${text}` };
    })
    .sort((a, b) => a.line - b.line)
    .map(({ text }) => text);
}

/** Lists the keys that are set, to another value than the default, though the objective does not read them. */
function unreadKeys(config: RunConfig, keys: readonly ConfigKey[], { objectives }: Registries): Problem[] {
  const { kind, ...options } = config.objective;
  const unread = Object.entries(objectives.get(kind)?.unread?.(options, config) ?? {});
  return keys.flatMap(({ path, type, default: usual }): Problem[] => {
    const why = unread.find(([key]) => `${path.join(".")}.`.startsWith(`${key}.`))?.[1];
    const isSet = JSON.stringify(valueAt(config, path)) !== JSON.stringify(usual);
    return why !== undefined && type !== "section" && isSet ? [{ path, text: `${kind} does not read it: ${why}` }] : [];
  });
}

/** Lists the numbers that are larger than anything that a run can compute with. */
function beyondAll(config: Readonly<Record<string, unknown>>, keys: readonly ConfigKey[]): Problem[] {
  return keys.flatMap(({ path, most = Infinity }): Problem[] => {
    const value = valueAt(config, path);
    return typeof value === "number" && value > most ? [{ path, text: `expected at most ${most}, got ${value}` }] : [];
  });
}

/** Checks that the subcommand and the config's `objective.kind` name the same objective, where both do. */
function agreeOnObjective(raw: Record<string, unknown>, path: string, command: string | undefined): void {
  if (command === undefined) return;
  const section = isPlainObject(raw.objective) ? raw.objective : {};
  if (section.kind !== undefined && section.kind !== command) {
    // a module has no command of its own
    const own = typeof section.kind === "string" && !isModulePath(section.kind) ? section.kind : "train";
    misuse(`${path} is a config for ${show(section.kind)} (objective.kind), not for ${command}.`, {
      hint: `refusion-train ${own} --config ${path}`,
    });
  }
  if ((raw.objective ?? null) === null || isPlainObject(raw.objective)) raw.objective = { ...section, kind: command };
}

/** Formats the resolved config as YAML for a run directory; loading it gives the same config again. */
export function formatConfig(config: RunConfig): string {
  return stringify(config, { lineWidth: 120 });
}

/**
 * Finds a path of a config (model, adapter): from the working directory, inside this package, or in the user's folder,
 * where fetched models are.
 */
export function foundPath(path: string): string | undefined {
  const places = isAbsolute(path) ? [] : [packageRoot(), userFolder()];
  return [resolve(path), ...places.map((folder) => join(folder, path))].find(existsSync);
}

/** As {@link foundPath}. @param what key or option that holds the path. @throws UserError where there is none. */
export function resolvePath(path: string, what: string): string {
  const found = foundPath(path);
  if (found !== undefined) return found;
  const beside = isAbsolute(path) ? "" : `, and neither the package nor ${userFolder()} has it`;
  fail(`${what}: ${path} does not exist (looked for ${resolve(path)}${beside}).`, {
    hint: hintFor(path, what),
  });
}

function hintFor(path: string, what: string): string {
  if (/smollm2(?!-360m|-1\.7b)/i.test(path))
    return "`refusion-train fetch-smollm2` gets SmolLM2 as models/smollm2; its adapters are in the project's repository";
  if (/^models\/tiny-/.test(path)) return `the project's repository has it; or set ${what}=PATH`;
  // a name of the Hub; folders of this project's runs are no names
  if (/^(?!models\/|runs\/|adapters\/|\.)[\w.-]+\/[\w.-]+$/.test(path))
    return `if it is a name on the Hub: refusion-train export --checkpoint hf:${path} --out models/${path.split("/")[1]?.toLowerCase()}; else set ${what}=PATH`;
  return `set ${what}=PATH to a directory that exists`;
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

function readYaml(path: string): Source {
  let text: string;
  try {
    text = readSmall(path, MAX_BYTES);
  } catch (error) {
    misuse(`Cannot read the config ${path}: ${messageOf(error)}`, {
      hint: "give a YAML file with --config, as configs/tiny/letters-flow-grpo.yaml",
      cause: error,
    });
  }
  const { tree, faults, line } = parseYaml(text);
  if (faults.length > 0) throw configError(path, {}, faults.slice(0, MOST_PROBLEMS));
  const given = tree ?? {};
  if (!isPlainObject(given)) throw configError(path, {}, [`expected keys and values, got ${show(given)}`]);
  return { tree: given, line };
}

function configError(
  path: string,
  { unwritten = false }: Pick<Source, "unwritten">,
  problems: readonly string[],
  more = 0,
): UserError {
  const head = `${path} ${unwritten ? "would have" : "has"} ${problems.length === 1 ? "a problem" : `${problems.length} problems`}:`;
  const rest = more > 0 ? [`  and ${more} more`] : [];
  return new UserError([head, ...problems.map((problem) => `  ${problem}`), ...rest].join("\n"), {
    hint: unwritten
      ? "nothing was written; add what is missing, and correct what is wrong, as key=value"
      : "correct the file, or pass key=value; `refusion-train OBJECTIVE --help all` lists every key",
    exitCode: 2,
  });
}
