import type { z } from "zod";
import { nearest } from "../core/errors.js";
import { withoutPasswords } from "../core/shown.js";
import { FIELD_NAMES } from "./field-names.js";
import { kindSections } from "./kind-sections.js";
import { isPlainObject } from "./overrides.js";
import type { ConfigKey, PlugIn, Registries } from "./schema.js";

type Path = readonly PropertyKey[];

/** One wrong key of a config. */
export interface Problem {
  readonly path: Path;
  readonly text: string;
}

/** A config with its keys and registries, from which its problems are described. */
interface Known {
  /** The config's values, unchecked. */
  readonly raw: Readonly<Record<string, unknown>>;
  readonly keys: readonly ConfigKey[];
  readonly registries: Registries;
}

/** Describes an issue of the schema: a problem for each unknown key, or one of the value. */
export function describeIssue(issue: z.core.$ZodIssue, known: Known): Problem[] {
  if (issue.code !== "unrecognized_keys")
    return [{ path: issue.path, text: describeMismatch(issue, valueAt(known.raw, issue.path)) }];
  return issue.keys.flatMap((key) => {
    const path = [...issue.path, key];
    const named = renamed(known.keys, path, valueAt(known.raw, path));
    if (named.length > 0) return named;
    return [{ path, text: ownersOf(known, issue.path, key) ?? unknownKey(known.keys, issue.path, key) }];
  });
}

function describeMismatch(issue: z.core.$ZodIssue, value: unknown): string {
  if (value === undefined && (issue.code === "invalid_type" || issue.code === "invalid_value"))
    return "is required and missing";
  const got = `got ${show(value)}`;
  const beyond = (
    of: { readonly origin: string; readonly inclusive?: boolean },
    words: [string, string],
    limit: unknown,
  ) => `expected ${words[of.inclusive === false ? 0 : 1]} ${limit}${UNITS[of.origin] ?? ""}, ${got}`;
  switch (issue.code) {
    case "invalid_type":
      return `expected ${TYPE_WORDS[issue.expected] ?? issue.expected}, ${got}`;
    case "invalid_value": {
      const close = typeof value === "string" ? nearest(value, issue.values.map(String)) : undefined;
      return `expected one of ${issue.values.join(", ")}, ${got}${close === undefined ? "" : `; did you mean ${close}?`}`;
    }
    case "too_small":
      return beyond(issue, ["more than", "at least"], issue.minimum);
    case "too_big":
      return beyond(issue, ["less than", "at most"], issue.maximum);
    case "invalid_union": {
      const parts = issue.errors.map(([first]) =>
        first === undefined ? "" : describeMismatch(first, value).replace(`, ${got}`, ""),
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
const UNITS: Readonly<Record<string, string>> = { string: " characters", array: " items" };

/** Names the environments or kinds that have a key which this config's kind lacks. */
function ownersOf({ raw, registries }: Known, path: Path, key: string): string | undefined {
  const named = path.length === 0 ? "environment" : path.join(".");
  const section = kindSections(registries).find((one) => one.path.join(".") === named);
  const has = (kind: string, { schema }: PlugIn): boolean =>
    Object.hasOwn(path.length === 0 ? (registries.environments.get(kind)?.sections ?? {}) : schema.shape, key);
  const owners = [...(section?.entries ?? [])].flatMap(([kind, entry]) => (has(kind, entry) ? [kind] : []));
  if (section === undefined || owners.length === 0) return undefined;
  return `unknown key; it belongs to ${named}.kind ${owners.join(", ")}, and this config's kind is ${String(section.kind(raw))}`;
}

/** Lists the keys at and below a path that are names of other trainers ({@link FIELD_NAMES}), with the key here. */
function renamed(keys: readonly ConfigKey[], path: Path, value: unknown): Problem[] {
  const isKey = (name: string | undefined): boolean => keys.some((key) => key.path.join(".") === name);
  const name = path.map((_, i) => FIELD_NAMES.get(path.slice(i).join(".").toLowerCase())).find(isKey);
  if (name !== undefined) return [{ path, text: `unknown key; here it is ${name}` }];
  return isPlainObject(value) ? Object.keys(value).flatMap((key) => renamed(keys, [...path, key], value[key])) : [];
}

/** Suggests a key of exactly that name in another section, else the nearest one of this section. */
function unknownKey(keys: readonly ConfigKey[], path: Path, key: string): string {
  const elsewhere = keys.find((k) => k.path.at(-1) === key && k.type !== "section");
  if (elsewhere !== undefined) return `unknown key here; did you mean ${elsewhere.path.join(".")}?`;
  const parent = path.join(".");
  const siblings = keys.flatMap((k) => (k.path.slice(0, -1).join(".") === parent ? (k.path.at(-1) ?? []) : []));
  const close = nearest(key, siblings);
  if (close !== undefined) return `unknown key; did you mean ${[...path, close].join(".")}?`;
  return `unknown key; ${siblings.length === 0 ? "this section has no options" : `known here: ${siblings.join(", ")}`}`;
}

/** Writes a path as `lora.targets[1]`. */
export function pathText(path: Path): string {
  const text = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
  return text === "" ? "config" : text.replace(/^\./, "");
}

/** Returns the value at a path; undefined if there is none. */
export function valueAt(raw: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (at, key) =>
      at !== null && typeof at === "object" && Object.hasOwn(at, key)
        ? (at as Record<PropertyKey, unknown>)[key]
        : undefined,
    raw,
  );
}

/** Shows a value in a message, shortened and without passwords. */
export function show(value: unknown): string {
  const text = withoutPasswords(typeof value === "number" ? String(value) : (JSON.stringify(value) ?? String(value)));
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
