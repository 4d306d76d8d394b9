import { parseDocument } from "yaml";
import { misuse } from "../core/errors.js";

/** One `key=value` of the command line. */
export interface Override {
  readonly path: readonly string[];
  readonly value: unknown;
  /** The argument as typed. */
  readonly text: string;
}

const SEGMENT = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/**
 * Parses `a.b=c` arguments; values are read as YAML: `3` is a number, `[a, b]` a list, `null` and an empty value null.
 * @throws UserError (exit 2) with every malformed argument.
 */
export function parseOverrides(args: readonly string[]): Override[] {
  const overrides: Override[] = [];
  const problems: string[] = [];
  for (const text of args) {
    const equals = text.indexOf("=");
    const path = text.slice(0, Math.max(0, equals)).split(".");
    if (equals < 0) {
      problems.push(`"${text}" is no key=value`);
      continue;
    }
    // __proto__ passes the pattern but would set a prototype, not a key
    if (path.some((segment) => !SEGMENT.test(segment) || segment === "__proto__")) {
      problems.push(`"${text}": "${text.slice(0, equals)}" is no key (write section.key=value)`);
      continue;
    }
    const document = parseDocument(text.slice(equals + 1), { logLevel: "error" });
    const fault = document.errors[0] ?? document.warnings[0];
    if (fault !== undefined) {
      problems.push(`"${text}": ${fault.message.split("\n")[0] ?? "not YAML"}`);
      continue;
    }
    overrides.push({ path, value: document.toJS() as unknown, text });
  }
  if (problems.length > 0)
    misuse(`Cannot read the command line's overrides:\n${problems.map((p) => `  ${p}`).join("\n")}`, {
      hint: "write them as training.steps=40 or 'evaluation.splits=[heldout,test]'",
    });
  return overrides;
}

/** Applies overrides to a copy of a raw tree. A mapping is merged into its section, any other value replaces it. */
export function applyOverrides(
  raw: Readonly<Record<string, unknown>>,
  overrides: readonly Override[],
): Record<string, unknown> {
  const tree = structuredClone(raw) as Record<string, unknown>;
  for (const { path, value } of overrides) {
    let section = tree;
    for (const segment of path.slice(0, -1)) {
      const next = Object.hasOwn(section, segment) ? section[segment] : undefined;
      const child = isPlainObject(next) ? next : {};
      section[segment] = child;
      section = child;
    }
    const key = path.at(-1) as string;
    const old = Object.hasOwn(section, key) ? section[key] : undefined;
    section[key] = isPlainObject(old) && isPlainObject(value) ? { ...old, ...value } : value;
  }
  return tree;
}

/** Tells whether a value is an object and not a list. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
