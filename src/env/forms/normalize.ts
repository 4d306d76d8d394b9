import { distance } from "fastest-levenshtein";
import type { ControlKind, FieldValue } from "../site.js";
import { holdsNumber, holdsTime } from "./ranges.js";

/** Properties of a control that the comparison of values needs. */
export interface ValueSpace {
  readonly kind: ControlKind;
  /** Options of select, radio and checkbox-group. */
  readonly options?: readonly { readonly text: string; readonly value: string }[];
}

/** NFC, trimmed, runs of whitespace collapsed. Case is kept: it is part of a value. */
export function normalizeText(text: string): string {
  return text.normalize("NFC").replace(/\s+/g, " ").trim();
}

/** The form in which labels and options are compared: NFC, one case, no trailing `*`, `:` or `(required)`. */
export function normalizeLabel(label: string): string {
  let text = normalizeText(label).toLowerCase();
  for (;;) {
    // no regular expression: one would take quadratic time over the long texts that a page or a policy may bring
    const mark = LABEL_MARKS.find((end) => text.endsWith(end));
    if (mark === undefined) return text;
    text = text.slice(0, -mark.length).trimEnd();
  }
}

const LABEL_MARKS = ["*", ":", "(required)", "(optional)"];

/** Letters and digits only: the second chance of a label whose punctuation differs. */
export function looseLabel(label: string): string {
  return normalizeLabel(label).replace(/[^\p{L}\p{N}]+/gu, "");
}

/** 1 - edit distance / longer length, on normalised text; two empty texts are equal. */
export function similarity(a: string, b: string): number {
  // the distance is quadratic: a megabyte of posted text must not stall the trainer
  const x = normalizeText(a).slice(0, 8192);
  const y = normalizeText(b).slice(0, 8192);
  const longest = Math.max(x.length, y.length);
  return longest === 0 ? 1 : 1 - distance(x, y) / longest;
}

const TRUE_WORDS = new Set(["true", "yes", "y", "on", "1", "checked", "enabled", "x"]);
const FALSE_WORDS = new Set(["false", "no", "n", "off", "0", "unchecked", "disabled", "none", ""]);

/** true or false in the words forms and people use; undefined for anything else. */
export function parseBoolean(value: FieldValue): boolean | undefined {
  if (typeof value === "boolean") return value;
  const word = String(value).trim().toLowerCase();
  return TRUE_WORDS.has(word) ? true : FALSE_WORDS.has(word) ? false : undefined;
}

/** A number with optional sign, thousands separators, currency sign or percent; undefined for anything else. */
export function parseNumber(value: FieldValue): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  const text = String(value)
    .trim()
    .replace(/^([-+]?)\s*[$\u20ac\u00a3]\s*/, "$1")
    .replace(/%$/, "")
    .trimEnd();
  const plain = /^[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(text) ? text.replaceAll(",", "") : text;
  if (!/^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d{1,3})?$/i.test(plain)) return undefined;
  const number = Number(plain);
  return Number.isFinite(number) ? number : undefined;
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/**
 * A date in any common notation as `YYYY-MM-DD`; undefined where it is no date.
 * `03/04/2024` is read month first (as in the US) unless that is no date; with dots, day first.
 */
export function parseDate(value: FieldValue): string | undefined {
  const text = normalizeText(String(value)).replace(/T\d{2}:\d{2}.*$/, "");
  let m = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/.exec(text);
  if (m) return isoDate(m[1], m[2], m[3]);
  m = /^(\d{1,2})[-/](\d{1,2})[-/](\d{4})$/.exec(text);
  if (m) return isoDate(m[3], m[1], m[2]) ?? isoDate(m[3], m[2], m[1]);
  m = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(text);
  if (m) return isoDate(m[3], m[2], m[1]);
  m = /^([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})$/i.exec(text);
  if (m) return isoDate(m[3], monthOf(m[1]), m[2]);
  m = /^(\d{1,2})(?:st|nd|rd|th)? (?:of )?([a-z]{3,9})\.?,? (\d{4})$/i.exec(text);
  if (m) return isoDate(m[3], monthOf(m[2]), m[1]);
  return undefined;
}

function monthOf(word = ""): string {
  return String(MONTHS.indexOf(word.slice(0, 3).toLowerCase()) + 1);
}

function isoDate(year = "", month = "", day = ""): string | undefined {
  const [y, mo, d] = [Number(year), Number(month), Number(day)];
  const date = new Date(Date.UTC(y, mo - 1, d));
  if (date.getUTCFullYear() !== y || date.getUTCMonth() !== mo - 1 || date.getUTCDate() !== d) return undefined;
  return `${year.padStart(4, "0")}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
}

/** A date `YYYY-MM-DD` in a notation of YYYY, MM and DD, as `DD.MM.YYYY`. */
export function writeDate(date: string, notation: string): string {
  const [year = "", month = "", day = ""] = date.split("-");
  return notation.replace("YYYY", year).replace("MM", month).replace("DD", day);
}

/** A time of day as `HH:MM` (24 hours); undefined where it is none. */
export function parseTime(value: FieldValue): string | undefined {
  const m = /^(\d{1,2})(?::(\d{2}))?(?::\d{2})?\s*([ap])?\.?(?:m\.?)?$/i.exec(String(value).trim());
  if (m === null || (m[2] === undefined && m[3] === undefined)) return undefined;
  let hour = Number(m[1]);
  const minute = m[2] ?? "00";
  if (m[3] !== undefined) {
    if (hour < 1 || hour > 12) return undefined;
    hour = (hour % 12) + (m[3].toLowerCase() === "p" ? 12 : 0);
  }
  return hour > 23 || Number(minute) > 59 ? undefined : `${String(hour).padStart(2, "0")}:${minute}`;
}

/**
 * Holds what an option is compared by: its text and its value in three strengths, and its text without a last `(...)`.
 */
interface OptionForms {
  readonly texts: readonly [string, string, string];
  readonly values: readonly [string, string, string];
  readonly bare: string;
}

/** Computed once an option: a page may hold thousands, and every value is compared with all of them. */
const knownForms = new WeakMap<object, OptionForms>();

function formsOf(option: { readonly text: string; readonly value: string }): OptionForms {
  const known = knownForms.get(option);
  if (known !== undefined) return known;
  const three = (text: string) => [normalizeText(text), normalizeLabel(text), looseLabel(text)] as const;
  const forms = {
    texts: three(option.text),
    values: three(option.value),
    bare: looseLabel(option.text.replace(/\([^()]*\)\s*$/, "")),
  };
  knownForms.set(option, forms);
  return forms;
}

/** Tells whether an option's text is this label, as `normalizeLabel` writes it. */
export function isNamed(option: { readonly text: string; readonly value: string }, label: string): boolean {
  return formsOf(option).texts[1] === label;
}

/**
 * The option that a text or a value names: exact text, exact value, the same without case, then by letters and digits
 * alone, with and without a last remark in brackets; at last a number or a time finds the range that holds it (`80303`: "$60,001 - $90,000").
 */
export function findOption(
  options: readonly { readonly text: string; readonly value: string }[],
  wanted: FieldValue,
): number | undefined {
  if (typeof wanted === "boolean") {
    const index = options.findIndex((o) => o.text !== "" && parseBoolean(o.text) === wanted);
    return index < 0 ? undefined : index;
  }
  const text = normalizeText(String(wanted));
  if (text === "") return undefined;
  const label = normalizeLabel(text);
  const loose = looseLabel(text);
  for (const same of [
    (o: OptionForms) => o.texts[0] === text,
    (o: OptionForms) => o.values[0] === text,
    (o: OptionForms) => label !== "" && o.texts[1] === label,
    (o: OptionForms) => label !== "" && o.values[1] === label,
    (o: OptionForms) => loose !== "" && o.texts[2] === loose,
    (o: OptionForms) => loose !== "" && o.values[2] === loose,
    (o: OptionForms) => loose !== "" && o.bare === loose,
  ]) {
    const index = options.findIndex((option) => same(formsOf(option)));
    if (index >= 0) return index;
  }
  return findEqual(options, text) ?? findRange(options, text) ?? findRating(options, text);
}

/** An option that says the same time, date or number in another notation: `14:30` is "2:30 PM". */
function findEqual(options: readonly { readonly text: string }[], wanted: string): number | undefined {
  if (!/\d/.test(wanted)) return undefined;
  for (const parse of [parseTime, parseDate, parseNumber]) {
    const value = parse(wanted);
    if (value === undefined) continue;
    const index = options.findIndex((option) => parse(option.text) === value);
    if (index >= 0) return index;
  }
  return undefined;
}

/** Of ratings the one that says a number: `4` is "4 stars", "4 out of 5", "Rate 4". */
function findRating(options: readonly { readonly text: string }[], wanted: string): number | undefined {
  const number = parseNumber(wanted);
  if (number === undefined) return undefined;
  const index = options.findIndex(({ text }) => {
    const m =
      /^(?:rate |rating |score )?(\d{1,2})(?: ?(?:stars?|points?|of \d+|out of \d+(?: stars?)?|\/ ?\d+))?$/i.exec(
        text.slice(0, 40).trim(),
      );
    return m !== null && Number(m[1]) === number;
  });
  return index < 0 ? undefined : index;
}

function findRange(options: readonly { readonly text: string }[], wanted: string): number | undefined {
  const number = parseNumber(wanted);
  const time = parseTime(wanted);
  const index = options.findIndex(
    ({ text }) =>
      (number !== undefined && holdsNumber(normalizeText(text), number)) ||
      (time !== undefined && holdsTime(text, time, parseTime)),
  );
  return index < 0 ? undefined : index;
}

/** Items of a list value; a string is split at commas unless it is an option as a whole. */
export function listItems(
  options: readonly { readonly text: string; readonly value: string }[],
  value: FieldValue,
): string[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== "string") return [String(value)];
  if (value.trim() === "" || /^none$/i.test(value.trim())) return [];
  if (findOption(options, value) !== undefined) return [value];
  // an option may hold a comma itself
  const pieces = value.split(/(?<=[,;])/);
  const items: string[] = [];
  for (let from = 0, to = pieces.length; from < pieces.length; to = pieces.length) {
    const upTo = (end: number): string => pieces.slice(from, end).join("").trim().replace(/[,;]$/, "").trim();
    while (to > from + 1 && findOption(options, upTo(to)) === undefined) to--;
    if (upTo(to) !== "") items.push(upTo(to));
    from = to;
  }
  return items;
}

/** Tells whether a true value of a file field asks for no file. */
export function isNoFile(value: FieldValue): boolean {
  return /^(?:none|n\/a|null)?$/i.test(String(value).trim());
}

/**
 * Tells how well `actual` matches `truth` in [0, 1]: free text by similarity, lists by Jaccard, everything else equal
 * or not: a telephone number by its digits, an address of mail or of a page whatever its case, a code (one word with a
 * digit) as it is. A value outside its type (a date that is none, a truth that is none of the options) is compared as
 * exact text.
 */
export function matchValue(space: ValueSpace, truth: FieldValue, actual: FieldValue): number {
  switch (space.kind) {
    case "number":
      return equalBy(parseNumber, truth, actual);
    case "date":
      return equalBy(parseDate, truth, actual);
    case "time":
      return equalBy(parseTime, truth, actual);
    case "checkbox":
      return equalBy(parseBoolean, truth, actual);
    case "select":
    case "radio":
      return equalBy((v) => (v === "" ? "" : findOption(space.options ?? [], v)), truth, actual);
    case "checkbox-group":
      return jaccard(optionSet(space, truth), optionSet(space, actual));
    case "file":
      return isNoFile(truth) || fileName(truth) === fileName(actual) ? 1 : 0;
    case "email":
      return equalBy((v) => normalizeText(asText(v)).toLowerCase(), truth, actual);
    case "tel":
      return equalBy((v) => asText(v).replace(/\D/g, "") || normalizeText(asText(v)), truth, actual);
    case "url":
      return equalBy((v) => addressOf(asText(v).trim()), truth, actual);
    default:
      return isCode(asText(truth))
        ? equalBy(() => undefined, truth, actual)
        : similarity(asText(truth), asText(actual));
  }
}

/** One word with a digit in it, as a number of a member or a postal code: nearly right is another one. */
const isCode = (text: string): boolean => /^\S*\d\S*$/.test(text.trim());

/** A file's name without its folder, as a control gets it. */
const fileName = (value: FieldValue): string => normalizeText(asText(value)).split(/[\\/]/).at(-1) ?? "";

function addressOf(text: string): string | undefined {
  const address = /^[a-z][a-z\d+.-]*:/i.test(text) ? text : `https://${text}`;
  return URL.canParse(address) ? new URL(address).href : undefined;
}

function equalBy(canonical: (value: FieldValue) => unknown, truth: FieldValue, actual: FieldValue): number {
  const a = canonical(truth);
  const b = canonical(actual);
  if (a === undefined || b === undefined) return normalizeText(asText(truth)) === normalizeText(asText(actual)) ? 1 : 0;
  return a === b ? 1 : 0;
}

function asText(value: FieldValue): string {
  return Array.isArray(value) ? value.join(", ") : String(value);
}

function optionSet(space: ValueSpace, value: FieldValue): Set<string> {
  const options = space.options ?? [];
  return new Set(
    listItems(options, value).map((item) => {
      const index = findOption(options, item);
      return index === undefined ? `?${normalizeLabel(item)}` : String(index);
    }),
  );
}

function jaccard(a: Set<string>, b: Set<string>): number {
  const union = new Set([...a, ...b]).size;
  return union === 0 ? 1 : [...a].filter((item) => b.has(item)).length / union;
}
