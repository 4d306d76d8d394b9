import type { ComponentPage, Person, Wire } from "./page.js";

const blank = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);

/** The value at a path as `guest.name` or `items.0.count`; a string on the way that holds JSON is read. */
function at(body: unknown, path: string): unknown {
  let value = body;
  if (typeof value === "object" && value !== null && path in value) return (value as Record<string, unknown>)[path];
  for (const key of path.split(".")) {
    if (typeof value === "string" && /^[[{]/.test(value)) value = JSON.parse(value);
    value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  }
  return value;
}

const pathOf = (wire: Wire): string => (typeof wire === "string" ? wire : wire[0]);

function expected(wire: Wire, value: unknown): unknown {
  if (typeof wire === "string") return value;
  const notation = wire[1];
  if (typeof notation === "function") return (notation as (value: unknown) => unknown)(value);
  return Array.isArray(value) ? value.map((item) => notation[item]) : notation[String(value)];
}

/** Compares with what is expected; the order of a list does not count, and a form posts a list of one as text. */
function same(got: unknown, want: unknown): boolean {
  if (blank(want) || blank(got)) return blank(want) && blank(got);
  if (Array.isArray(want)) {
    const read = typeof got === "string" && got.startsWith("[") ? JSON.parse(got) : got;
    const list: unknown[] = Array.isArray(read) ? read : [read];
    const sorted = (items: readonly unknown[]) => JSON.stringify(items.map((item) => JSON.stringify(item)).sort());
    return sorted(list) === sorted(want);
  }
  if (typeof want === "object") return JSON.stringify(got) === JSON.stringify(want);
  return got === want || (typeof want === "number" && typeof got === "string" && Number(got) === want);
}

/** Labels whose value at the server is not the person's. */
export const wrongLabels = (page: ComponentPage, body: unknown, person: Person): string[] =>
  Object.entries(page.wire)
    .filter(([label, wire]) => !same(at(body, pathOf(wire)), expected(wire, person[label])))
    .map(([label]) => label);

/** Required labels whose value is blank at the server. */
export const missingLabels = (page: ComponentPage, body: unknown): string[] =>
  page.required.filter((label) => {
    const value = at(body, pathOf(page.wire[label] ?? label));
    return blank(value) || value === false;
  });
