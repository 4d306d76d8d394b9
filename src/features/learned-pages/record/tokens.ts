import { parseDate, parseTime } from "../../../env/forms/normalize.js";
import { type Kind, parseMoment, parseRange, writeDay, writeTime } from "../../../env/forms/values.js";
import type { FieldValue } from "../../../env/site.js";
import { partsOf } from "../values.js";

/** Texts that stand for a value in recorded steps, by the name of their place: `{value}`, `{MMMM}`, `{from D}`. */
export interface Tokens {
  readonly texts: Readonly<Record<string, string>>;
  readonly value?: FieldValue;
}

/** A place in a step, where a value stands; an object of options begins with a space. */
export const PLACE = /\{[^\s{}][^{}]*\}/;
/** A place for a number that grows with the value: `{value * 2 + 1}`. */
export const LINEAR = /^\{(value|index|months|years) \* (-?[\d.e-]+) \+ (-?[\d.e-]+)\}$/;

const DAYS = ["YYYY", "YY", "MMMM", "MMM", "MM", "M", "DD", "D"];
const TIMES = ["HH", "H", "hh", "h", "mm", "A"];
const ENDINGS = new Map([
  ["one", "st"],
  ["two", "nd"],
  ["few", "rd"],
]);

/** Lists the parts of a day, with its weekday and its distance from this month. */
function dayTokens(iso: string, before = ""): [string, string][] {
  const date = new Date(`${iso}T00:00:00Z`);
  const day = date.getUTCDate();
  const name = (weekday: "long" | "short"): string => date.toLocaleString("en-US", { weekday, timeZone: "UTC" });
  const now = new Date();
  const years = date.getUTCFullYear() - now.getFullYear();
  const ordinal = new Intl.PluralRules("en", { type: "ordinal" }).select(day);
  const all: [string, string][] = [
    ...DAYS.map((part): [string, string] => [part, writeDay(iso, part)]),
    ["Do", `${day}${ENDINGS.get(ordinal) ?? "th"}`],
    ["dddd", name("long")],
    ["ddd", name("short")],
    ["months", String(12 * years + date.getUTCMonth() - now.getMonth())],
    ["years", String(years)],
  ];
  return all.map(([part, text]) => [`${before}${part}`, text]);
}

/** Most characters of a beginning that is typed to find an option, and of a value whose signs have a box each. */
const MOST_BEGUN = 6;
const MOST_SIGNS = 12;

/** Lists the beginnings of a text, and its single signs. */
const pieces = (text: string): [string, string][] => [
  ...[...text.slice(0, MOST_BEGUN)].map((_, i): [string, string] => [`value:${i + 1}`, text.slice(0, i + 1)]),
  ...(text.length > MOST_SIGNS ? [] : [...text].map((sign, i): [string, string] => [`value[${i}]`, sign])),
];

/** Lists the texts that stand for a value in recorded steps. */
export function tokensOf(kind: Kind, value: FieldValue): Tokens {
  const text = Array.isArray(value) ? value.join(", ") : String(value);
  const moment = parseMoment(text);
  const day = parseDate(text) ?? moment?.date;
  const time = moment?.time ?? parseTime(text);
  const range = kind === "range" ? parseRange(text) : undefined;
  const parts = kind === "text" || kind === "number" ? partsOf(text) : [];
  const entries: [string, string][] = [
    ["value", text],
    ["lower", text.toLowerCase()],
    ...(kind === "text" || kind === "number" ? pieces(text) : []),
    ...(parts.length > 1 ? parts.map((part, i): [string, string] => [`value.${i + 1}`, part]) : []),
    ...(range?.flatMap((end, i) => dayTokens(end, i === 0 ? "from " : "to ")) ?? []),
    ...((kind === "date" || kind === "moment") && day !== undefined ? dayTokens(day) : []),
    ...((kind === "time" || kind === "moment") && time !== undefined
      ? TIMES.map((part): [string, string] => [part, writeTime(time, part)])
      : []),
  ];
  return { texts: Object.fromEntries(entries), value };
}

/** Lists the texts that stand for an item of a list. */
export function itemTokens(item: string, index: number): Tokens {
  const { texts } = tokensOf("text", item);
  return { texts: { ...texts, index: String(index), number: String(index + 1) }, value: item };
}

/** Puts a value's texts into their places. @param write changes each text, for a pattern. */
export const filled = (text: string, tokens: Pick<Tokens, "texts">, write = (part: string): string => part): string =>
  text.replace(/\{([^{}]+)\}/g, (all, name: string) =>
    Object.hasOwn(tokens.texts, name) ? write(tokens.texts[name] as string) : all,
  );
