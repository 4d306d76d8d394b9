import {
  isNoFile,
  normalizeText,
  parseDate,
  parseTime,
  type Reader,
  readAs,
  readNumber,
  UNREAD,
} from "../../env/forms/normalize.js";
import { type Kind, parseMoment, parseRange, prefixOf, readMoment, sameDigits } from "../../env/forms/values.js";
import type { FieldValue } from "../../env/site.js";

/** Tells whether a text shows a phone number, with or without its country code. */
export const showsDigits = (text: string, value: string): boolean =>
  sameDigits(text, value) || prefixOf(value, text) !== undefined;

const ISO_DATE = /^\d{4}-\d{2}-\d{2}$/;

function kindOf(value: FieldValue): Kind {
  if (typeof value === "boolean") return "flag";
  if (Array.isArray(value)) return "list";
  if (typeof value === "number") return "number";
  const text = normalizeText(value);
  if (/:\d\d/.test(text) && parseMoment(text) !== undefined) return "moment";
  if (ISO_DATE.test(text) || (/\d{4}/.test(text) && parseDate(text) !== undefined)) return "date";
  if (/:\d\d/.test(text) && parseTime(text) !== undefined) return "time";
  if (parseRange(text) !== undefined) return "range";
  if (/^[^/\\@:]{1,80}\.[a-z][a-z0-9]{1,4}$/i.test(text)) return "file";
  return /^-?\d{1,9}(?:\.\d+)?$/.test(text) && !/^0\d/.test(text) ? "number" : "text";
}

/** Infers the kind of a field from its values in several tasks; it is text if their kinds differ. */
export function kindOfAll(values: readonly FieldValue[]): Kind {
  const given = values.filter((value) => value !== "" && !(typeof value === "string" && isNoFile(value)));
  const kinds = new Set(given.map(kindOf));
  return kinds.size === 1 ? ([...kinds][0] as Kind) : "text";
}

const READERS: Partial<Record<Kind, Reader>> = {
  number: readNumber,
  date: parseDate,
  time: parseTime,
  moment: readMoment,
  range: (value) => parseRange(value)?.join(" "),
};

/** Returns one text for a value in any notation, so that two values of a kind can be compared. */
export function canonical(kind: Kind, value: FieldValue): string {
  if (kind === "list")
    return JSON.stringify((Array.isArray(value) ? value : [String(value)]).map((item) => normalizeText(item)).sort());
  return readAs(READERS[kind] ?? UNREAD, value);
}

/** Splits a value into its words and numbers: `14:25`, `030 / 12345`. */
export const partsOf = (value: FieldValue): string[] => String(value).match(/[\p{L}\p{N}]+/gu) ?? [];

export const DAY_PATTERNS = [
  "YYYY-MM-DD",
  "MM/DD/YYYY",
  "DD/MM/YYYY",
  "DD.MM.YYYY",
  "M/D/YYYY",
  "D/M/YYYY",
  "MMM D, YYYY",
  "MMMM D, YYYY",
  "DD MMM YYYY",
  "D MMMM YYYY",
  "DD-MM-YYYY",
  "YYYY/MM/DD",
  "MM-DD-YYYY",
  "D.M.YYYY",
  "MM/DD/YY",
] as const;
export const TIME_PATTERNS = ["HH:mm", "hh:mm A", "h:mm A", "H:mm"] as const;
/** Notations of a day with a time. */
export const MOMENTS = TIME_PATTERNS.slice(0, 3).flatMap((time) =>
  DAY_PATTERNS.slice(0, 8).map((day) => ({ day, time })),
);
