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
];

/** Texts that accidental or malicious edits leave in files. */
const FRAGMENTS = [
  "NaN",
  ".inf",
  "1e999",
  "99999999999999999999",
  "-1",
  "null",
  "~",
  "&a [*a]",
  "*a",
  "!!js/function x",
  "<<: {a: 1}",
  "{",
  "[",
  '"',
  "'",
  ": ",
  "- ",
  "\t",
  "\n",
  "\u0000",
  "\ufeff",
  "__proto__: 1",
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

/** Reads broken data: the reader must accept it or refuse it with a message that names the place. */
export async function refusesOrReads(read: () => unknown, where: string): Promise<"read" | "refused"> {
  try {
    await read();
    return "read";
  } catch (error) {
    assert.ok(error instanceof UserError, `${error instanceof Error ? error.stack : String(error)}`);
    assert.ok(error.message.includes(where), `"${error.message}" does not name ${where}`);
    return "refused";
  }
}
