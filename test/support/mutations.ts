import assert from "node:assert/strict";
import fc from "fast-check";
import { UserError } from "../../src/core/errors.js";

/** Odd values that every reader must handle. */
const ODD: readonly unknown[] = [
  null,
  true,
  "",
  "text",
  "\u0000",
  "../../outside",
  -1,
  0,
  0.5,
  1e308,
  2 ** 53,
  [],
  [null],
  {},
  { length: 5 },
  [[["deep"]]],
  1e-300,
  2 ** 31,
  "1e9",
  "x".repeat(100_000),
  { toString: 1, valueOf: 2, toJSON: 3 },
  { constructor: { prototype: 1 } },
  // an own key, as JSON and YAML make it
  JSON.parse('{"__proto__": {"polluted": 1}, "hasOwnProperty": 1}'),
  JSON.parse(`${"[".repeat(3000)}${"]".repeat(3000)}`),
  JSON.parse(`${'{"a":'.repeat(3000)}1${"}".repeat(3000)}`),
];

/** Names that every object has from its prototype, and other odd ones. */
const KEYS = ["__proto__", "constructor", "toString", "hasOwnProperty", "length", "", "0", "\u0000", "then"];

/** Texts that accidental or malicious edits leave in files. */
const FRAGMENTS = [
  ...["NaN", ".inf", "1e999", "99999999999999999999", "-1", "null", "~", "&a [*a]", "*a", "!!js/function x"],
  ...["<<: {a: 1}", "{", "[", '"', "'", ": ", "- ", "\t", "\n", "\u0000", "\ufeff", "__proto__: 1", "? [a]: b"],
  ...["? {a: 1}\n: b", "!!binary x", "!!set {a, b}", "!!omap [a: 1]", "!!timestamp 2001-01-01", "0x7fffffffffffffff"],
  ...["0o9", "1_000", "[".repeat(20_000), "{a: ".repeat(20_000), "- ".repeat(5000), "? ".repeat(5000), "\ud800"],
];

/** Generates versions of a text with parts removed, odd parts inserted, or the end cut off. */
export function mutatedText(text: string): fc.Arbitrary<string> {
  const edit = fc.record({
    at: fc.nat(text.length),
    remove: fc.oneof(fc.nat(3), fc.nat(200)),
    insert: fc.oneof(fc.constant(""), fc.constantFrom(...FRAGMENTS), fc.string({ maxLength: 5 })),
  });
  return fc
    .array(edit, { minLength: 1, maxLength: 3 })
    .map((edits) =>
      edits.reduce((t, { at, remove, insert }) => `${t.slice(0, at)}${insert}${t.slice(at + remove)}`, text),
    );
}

/** Generates JSON texts of a value in which one part is another, is missing, has another key, or comes twice. */
export function mutatedJsonText(value: unknown): fc.Arbitrary<string> {
  const text = JSON.stringify(value);
  const keys = [...text.matchAll(/"(?:[^"\\]|\\.)*":/g)];
  const renamed = fc
    .tuple(fc.nat(Math.max(0, keys.length - 1)), fc.constantFrom(...KEYS), fc.boolean())
    .map(([i, key, twice]) => {
      const at = keys[i]?.index ?? 0;
      const end = at + (keys[i]?.[0].length ?? 0);
      const name = `${JSON.stringify(twice ? JSON.parse((keys[i]?.[0] ?? '"a":').slice(0, -1)) : key)}:`;
      return twice ? `${text.slice(0, at)}${name}1,${text.slice(at)}` : `${text.slice(0, at)}${name}${text.slice(end)}`;
    });
  return fc.oneof(
    { weight: 4, arbitrary: mutatedJson(value).map((v) => JSON.stringify(v)) },
    { weight: 2, arbitrary: keys.length === 0 ? mutatedText(text) : renamed },
    { weight: 1, arbitrary: mutatedText(text) },
  );
}

/** Generates versions of a JSON value in which one part is replaced or missing. */
export function mutatedJson(value: unknown): fc.Arbitrary<unknown> {
  const places: (readonly (string | number)[])[] = [];
  const walk = (part: unknown, path: readonly (string | number)[]): void => {
    places.push(path);
    if (Array.isArray(part)) part.forEach((item, i) => void walk(item, [...path, i]));
    else if (part !== null && typeof part === "object")
      for (const [key, item] of Object.entries(part)) walk(item, [...path, key]);
  };
  walk(value, []);
  const odd = fc.oneof(fc.constantFrom(...ODD), fc.constant(undefined));
  return fc.tuple(fc.constantFrom(...places), odd).map(([path, replacement]) => replaced(value, path, replacement));
}

function replaced(value: unknown, [key, ...rest]: readonly (string | number)[], by: unknown): unknown {
  if (key === undefined) return by ?? null;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, unknown>;
  copy[key] = rest.length === 0 ? by : replaced(copy[key], rest, by);
  return copy;
}

/** Generates versions of bytes with some changed, or with the end cut off. */
export function mutatedBytes(bytes: Uint8Array): fc.Arbitrary<Uint8Array> {
  const edits = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { maxLength: 6 });
  return fc.tuple(edits, fc.nat(bytes.length), fc.boolean()).map(([changes, end, cut]) => {
    // Buffer's slice() would return a view instead of a copy
    const copy = Uint8Array.from(bytes.subarray(0, cut ? end : bytes.length));
    for (const [at, value] of changes) if (at < copy.length) copy[at] = value;
    return copy;
  });
}

/**
 * Reads broken data: the reader must accept it, or refuse it with a message that names the place, and a next step. Any
 * other error would be called a bug of the program.
 */
export async function refusesOrReads(read: () => unknown, where: string): Promise<"read" | "refused"> {
  try {
    await read();
    return "read";
  } catch (error) {
    assert.ok(error instanceof UserError, `${error instanceof Error ? error.stack : String(error)}`);
    assert.ok(error.message.includes(where), `"${error.message}" does not name ${where}`);
    assert.ok(error.hint, `"${error.message}" has no next step`);
    return "refused";
  }
}
