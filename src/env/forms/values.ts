import type { FieldValue } from "../site.js";
import { isEqual, normalizeText, parseDate, parseTime, type Reader, readDigits } from "./normalize.js";

/** Kinds of values, inferred from the values alone. */
export const KINDS = ["flag", "list", "number", "date", "time", "moment", "range", "file", "text"] as const;
export type Kind = (typeof KINDS)[number];

/** The value of a checkbox that is neither on nor off: it does not count as off. */
export const NO_ANSWER = "no answer";

const digitsOf = (text: string): string => String(readDigits(text) ?? "");

/** Tells whether two texts have the same digits, at least five: `41 23 45 67`. */
export const sameDigits = (a: string, b: string): boolean => digitsOf(a).length > 4 && digitsOf(a) === digitsOf(b);

/** Returns the country code of a phone number that goes on like another: `44` of `+447911123456`, `0791 112 3456`. */
export function prefixOf(long: string, short: string): string | undefined {
  const end = digitsOf(short).replace(/^0+/, "");
  const isEnd = long.startsWith("+") && end.length > 6 && digitsOf(long).endsWith(end);
  return isEnd ? digitsOf(long).slice(0, -end.length) : undefined;
}

const MOMENT = /^(.*?\d)[T ,]+(\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s*(?:[ap]\.?m\.?)?)\s*(?:Z|[+-]00:?00)?$/i;

/** Parses a day with a time, such as `2026-04-03 16:30`; undefined for any other value. */
export function parseMoment(value: FieldValue): { readonly date: string; readonly time: string } | undefined {
  const m = MOMENT.exec(normalizeText(String(value)).replace(/(\d\.\d+)?(?:Z|[+-]00:?00)$/i, ""));
  const date = m === null ? undefined : parseDate(m[1] ?? "");
  const time = m === null ? undefined : parseTime((m[2] ?? "").replace(/\.\d+$/, ""));
  return date === undefined || time === undefined ? undefined : { date, time };
}

/** Parses two days, such as `2026-04-03 - 2026-04-10`; undefined for any other value. */
export function parseRange(value: FieldValue): [string, string] | undefined {
  const parts = normalizeText(String(value)).split(/\s+(?:-|\u2013|to|\/)\s+|\u2013/);
  const days = parts.map((part) => parseDate(part));
  return days.length === 2 && days[0] !== undefined && days[1] !== undefined ? [days[0], days[1]] : undefined;
}

/** Reads a day with a time as one text. */
export const readMoment: Reader = (value) => {
  const moment = parseMoment(value);
  return moment === undefined ? undefined : `${moment.date} ${moment.time}`;
};

/** Words, numbers with the signs that belong to them, and further signs that carry meaning. */
const MEANING = /[\p{L}\p{M}]+|(?:(?<![\p{L}\p{M}\p{N}])-?\s?\.?)?\p{N}+(?:[-.,:/]\p{N}+)*|[\p{S}#%&@*\\]/gu;

/** Reads a text without case, spaces and punctuation, but with what carries meaning: `C++`, `-5`, `$1.50`. */
export const readLoose: Reader = (value) => {
  const parts = normalizeText(String(value)).toLowerCase().match(MEANING) ?? [];
  const apart = (part: string, i: number): string =>
    /\p{N}$/u.test(parts[i - 1] ?? "") && /\p{N}$/u.test(part) ? ` ${part}` : part;
  return parts.length === 0 ? undefined : parts.map(apart).join("");
};

const CURRENCY = /\p{Sc}/gu;

/** Compares loosely ({@link readLoose}); a currency that only one of the texts names was added or left out by the page. */
export function isLooselyEqual(a: FieldValue, b: FieldValue): boolean {
  if (isEqual(readLoose, a, b)) return true;
  const [one, other] = [String(a), String(b)];
  const [bare, plain] = [one.replace(CURRENCY, ""), other.replace(CURRENCY, "")];
  return (bare === one) !== (plain === other) && isEqual(readLoose, bare, plain);
}

/** Returns a language's names of months; with a day they have another case in some (`апреля`, `kwietnia`). */
function monthNames(locale: string, more: Intl.DateTimeFormatOptions): string[] {
  const format = new Intl.DateTimeFormat(locale, { ...more, timeZone: "UTC" });
  return Array.from({ length: 12 }, (_, i) => {
    const parts = format.formatToParts(Date.UTC(2024, i, 15));
    const name = parts.find(({ type }) => type === "month")?.value ?? "";
    return name.replace(/\.$/, "").toLowerCase();
  });
}

const LOCALES = ["en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv", "da", "nb", "fi", "cs", "tr", "ru", "ja"];
let known: readonly string[][] | undefined;
/** Month names in the common languages of calendars, English first; looked up at the first use, as that takes time. */
function months(): readonly string[][] {
  known ??= LOCALES.flatMap((locale) => [
    monthNames(locale, { month: "long" }),
    monthNames(locale, { month: "short" }),
    monthNames(locale, { day: "numeric", month: "long" }),
  ]);
  return known;
}

/** Returns the month (1 to 12) that a text names; undefined if it names none. */
export function monthIn(text: string): number | undefined {
  const words: readonly string[] = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  for (const names of months()) {
    const at = names.findIndex((name) => words.includes(name));
    if (at >= 0) return at + 1;
  }
  return undefined;
}

/** Returns the day (`2026-04-03`) that a text such as `Friday, April 3rd, 2026` names; undefined if it names none. */
export function dayIn(text: string): string | undefined {
  const iso = /\b(\d{4})-(\d{1,2})-(\d{1,2})\b/.exec(text);
  if (iso !== null) return parseDate(iso[0]);
  const plain = parseDate(text);
  if (plain !== undefined) return plain;
  if (/^\d{12,13}$/.test(text)) return new Date(Number(text)).toISOString().slice(0, 10);
  const year = /\b((?:19|20)\d\d)\b/.exec(text)?.[1];
  const day = /(?<![\d:])(\d{1,2})(?:st|nd|rd|th|\.)?(?![\d:])/.exec(text.replace(year ?? "", ""))?.[1];
  const month = monthIn(text);
  return year === undefined || day === undefined || month === undefined
    ? undefined
    : parseDate(`${year}-${month}-${day}`);
}

/** A time of day with its zone behind a day, as `T10:00:00.000Z` or ` 00:00:00 GMT+0000 (Coordinated Universal Time)`. */
const CLOCK =
  /[T ,]+(\d{1,2}:\d{2}(?::\d{2})?)(?:\.\d+)?\s*([ap]\.?m\.?)?\s*(?:Z|(?:GMT|UTC)?[+-]\d{2}:?\d{2}|GMT|UTC)?(?:\s*\([\w\s]*\b(?:Time|UTC)\))?$/i;
/** Words in a written day besides the month. */
const DAY_WORD = /^(?:st|nd|rd|th|of|the|de|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?)$/;

/** Reads a text that is a day and nothing else, whatever its notation and its time of day. */
export const readDay: Reader = (value) => {
  const text = normalizeText(String(value));
  const day = text.replace(CLOCK, "").replace(/^(\d{4})(\d\d)(\d\d)$/, "$1-$2-$3");
  if (parseDate(day) !== undefined) return parseDate(day);
  const isKnown = (word: string): boolean => DAY_WORD.test(word) || monthIn(word) !== undefined;
  const words = day.toLowerCase().match(/[\p{L}\p{M}]+/gu) ?? [];
  const isDay = /^\d{12,13}$/.test(day) || ((day.match(/\d+/g) ?? []).length === 2 && words.every(isKnown));
  return isDay ? dayIn(day) : undefined;
};

/** Reads the time of day in a text that is a time, or a day with its time. */
export const readClock: Reader = (value) => {
  const text = normalizeText(String(value));
  const m = CLOCK.exec(` ${text}`) ?? CLOCK.exec(text);
  const isWhole = m !== null && (m.index === 0 || readDay(text) !== undefined);
  return isWhole ? parseTime(`${m[1]} ${m[2] ?? ""}`) : parseTime(text);
};

const two = (n: number): string => String(n).padStart(2, "0");

/** Writes `2026-04-03` by a pattern of YYYY, YY, MMMM, MMM, MM, M, DD and D; months in English. */
export function writeDay(iso: string, pattern: string): string {
  const [y = 0, m = 1, d = 1] = iso.split("-").map(Number);
  const name = months()[0]?.[m - 1] ?? "";
  const named = name.charAt(0).toUpperCase() + name.slice(1);
  const parts: Record<string, string> = {
    YYYY: String(y),
    YY: two(y % 100),
    MMMM: named,
    MMM: named.slice(0, 3),
    MM: two(m),
    M: String(m),
    DD: two(d),
    D: String(d),
  };
  return pattern.replace(/YYYY|YY|MMMM|MMM|MM|M|DD|D/g, (part) => parts[part] ?? part);
}

/** Writes a moment by a pattern of its day and its time, or of its day alone. */
export function writeMoment({ date, time }: NonNullable<ReturnType<typeof parseMoment>>, pattern: string): string {
  const [, day = pattern, clock] = /^(.*\S) ([Hh]\S*(?: A)?)$/.exec(pattern) ?? [];
  return clock === undefined ? writeDay(date, day) : `${writeDay(date, day)} ${writeTime(time, clock)}`;
}

/** Writes `16:30` by a pattern of HH, H, hh, h, mm and A. */
export function writeTime(time: string, pattern: string): string {
  const [h = 0, m = 0] = time.split(":").map(Number);
  const parts: Record<string, string> = {
    HH: two(h),
    H: String(h),
    hh: two(h % 12 || 12),
    h: String(h % 12 || 12),
    mm: two(m),
    A: h < 12 ? "AM" : "PM",
  };
  return pattern.replace(/HH|H|hh|h|mm|A/g, (part) => parts[part] ?? part);
}
