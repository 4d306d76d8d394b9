import { distance } from "fastest-levenshtein";
import type { ControlKind, FieldValue } from "../site.js";
import { holdsNumber, holdsTime } from "./ranges.js";

/** Properties of a control that the comparison of values needs. */
export interface ValueSpace {
  readonly kind: ControlKind;
  /** Options of select, radio and checkbox-group. */
  readonly options?: readonly Option[];
}

/** Normalises a text: NFC, trimmed, runs of whitespace collapsed. Case is kept: it is part of a value. */
export const normalizeText = (text: string): string => text.normalize("NFC").replace(/\s+/g, " ").trim();

/** Normalises a label or an option for comparison: NFC, lower case, no trailing `*`, `:` or `(required)`. */
export function normalizeLabel(label: string): string {
  let text = normalizeText(label).toLowerCase();
  for (;;) {
    // a regular expression would take quadratic time for long texts of a page or a policy
    const mark = LABEL_MARKS.find((end) => text.endsWith(end));
    if (mark === undefined) return text;
    text = text.slice(0, -mark.length).trimEnd();
  }
}

const LABEL_MARKS = ["*", ":", "(required)", "(optional)"];

/** Reduces a label to letters and digits, to match labels with other punctuation. */
export const looseLabel = (label: string): string => normalizeLabel(label).replace(/[^\p{L}\p{N}]+/gu, "");

/** Returns 1 - edit distance / longer length, for normalised texts; 1 only for equal ones. */
export function similarity(a: string, b: string): number {
  const [x, y] = [normalizeText(a), normalizeText(b)];
  if (x === y) return 1;
  // the distance takes quadratic time: a megabyte of posted text must not block training
  const edits = distance(x.slice(0, MOST_LETTERS), y.slice(0, MOST_LETTERS));
  return 1 - Math.max(1, edits) / Math.min(MOST_LETTERS, Math.max(x.length, y.length));
}

/** Most letters of two unequal texts whose likeness is measured; whether they are equal is decided by all. */
const MOST_LETTERS = 8192;

/** Tells whether a text has lost letters in decoding: it equals nothing. */
const isBroken = (value: FieldValue): boolean => String(value).includes("\uFFFD");

/** Reads a value as one of its type; undefined if it is none. */
export type Reader = (value: FieldValue) => string | number | boolean | undefined;

/** Reads nothing: values are compared as texts. */
export const UNREAD: Reader = () => undefined;

/** Writes a value so that only equal values are written alike: as it is read, or as its own text if it cannot be read. */
export function readAs(reader: Reader, value: FieldValue): string {
  const known = reader(value);
  return known === undefined ? `text ${normalizeText(asText(value))}` : `read ${known}`;
}

/** Compares two values as a reader reads them: one that cannot be read equals only the same text. */
export const isEqual = (reader: Reader, a: FieldValue, b: FieldValue): boolean =>
  !isBroken(a) && !isBroken(b) && readAs(reader, a) === readAs(reader, b);

const TRUE_WORDS = new Set(["true", "yes", "y", "on", "1", "checked", "enabled", "x"]);
const FALSE_WORDS = new Set(["false", "no", "n", "off", "0", "unchecked", "disabled", "none", ""]);

/** Parses true or false in common words; undefined for anything else. */
export function parseBoolean(value: FieldValue): boolean | undefined {
  if (typeof value === "boolean") return value;
  const word = String(value).trim().toLowerCase();
  return TRUE_WORDS.has(word) ? true : FALSE_WORDS.has(word) ? false : undefined;
}

/** Parses a number with optional sign, thousands separators, currency or percent sign; undefined for anything else. */
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

/** Rounds away what a page's arithmetic adds to a number: 19.99 x 100 is 1998.9999999999998. */
const rounded = (number: number): number => (Number.isInteger(number) ? number : Number(number.toPrecision(15)));

/** Reads a number, times a factor, for comparison; none with more digits than a number can hold. */
export function readNumber(value: FieldValue, times = 1): number | undefined {
  const number = parseNumber(value);
  const text = String(value).replace(/[^\d.]/g, "");
  const isWhole = text.replace(/\D/g, "").length <= 15 || text === String(Math.abs(number ?? 0));
  return number === undefined || !isWhole ? undefined : rounded(number * times);
}

const unitOf = (value: FieldValue): string | undefined => /[$\u20ac\u00a3%]/.exec(String(value))?.[0];

/** Compares two numbers; a sign of money or share may stand at one of them, but not two different ones. */
export function isSameNumber(truth: FieldValue, actual: FieldValue, times = 1): boolean {
  const [a, b] = [unitOf(truth), unitOf(actual)];
  const areUnitsEqual = a === undefined || b === undefined || a === b;
  return areUnitsEqual && readAs((value) => readNumber(value, times), truth) === readAs(readNumber, actual);
}

const MONTHS = "january february march april may june july august september october november december".split(" ");
/** Notations of dates; the first one that makes a text a valid date counts. */
const DATES = [
  /^(?<y>\d{4})[-/.](?<m>\d{1,2})[-/.](?<d>\d{1,2})$/,
  /^(?<m>\d{1,2})[-/](?<d>\d{1,2})[-/](?<y>\d{4})$/,
  /^(?<d>\d{1,2})[-/](?<m>\d{1,2})[-/](?<y>\d{4})$/,
  /^(?<d>\d{1,2})\.(?<m>\d{1,2})\.(?<y>\d{4})$/,
  /^(?<m>[a-z]{3,9})\.? (?<d>\d{1,2})(?:st|nd|rd|th)?,? (?<y>\d{4})$/i,
  /^(?<d>\d{1,2})(?:st|nd|rd|th)? (?:of )?(?<m>[a-z]{3,9})\.?,? (?<y>\d{4})$/i,
];

/**
 * Parses a date in any common notation to `YYYY-MM-DD`; undefined if it is no date.
 * `03/04/2024` is read month first (as in the US) unless that is no date; with dots, day first.
 */
export function parseDate(value: FieldValue): string | undefined {
  const text = normalizeText(String(value)).replace(/T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?$/, "");
  for (const notation of DATES) {
    const { y, m = "", d } = notation.exec(text)?.groups ?? {};
    const name = m.toLowerCase().replace(/^sept$/, "sep");
    const month = /\d/.test(m) ? m : String(MONTHS.findIndex((one) => one.startsWith(name)) + 1);
    const date = y === undefined ? undefined : isoDate(y, month, d);
    if (date !== undefined) return date;
  }
  return undefined;
}

function isoDate(year = "", month = "", day = ""): string | undefined {
  const [y, mo, d] = [Number(year), Number(month), Number(day)];
  const date = new Date(Date.UTC(y, mo - 1, d));
  if (date.getUTCFullYear() !== y || date.getUTCMonth() !== mo - 1 || date.getUTCDate() !== d) return undefined;
  return `${year.padStart(4, "0")}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
}

/** Parses a time of day to `HH:MM` (24 hours), or `HH:MM:SS` within a minute; undefined if it is none. */
export function parseTime(value: FieldValue): string | undefined {
  const m = /^(\d{1,2})(?::(\d{2})(?::(\d{2}))?)?\s*(?:([ap])\.?(?:m\.?)?)?$/i.exec(String(value).trim());
  const [, hours, minute = "00", second = "00", half] = m ?? [];
  if (m === null || (m[2] === undefined && half === undefined)) return undefined;
  let hour = Number(hours);
  if (half !== undefined) {
    if (hour < 1 || hour > 12) return undefined;
    hour = (hour % 12) + (half.toLowerCase() === "p" ? 12 : 0);
  }
  if (hour > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  return `${String(hour).padStart(2, "0")}:${minute}${second === "00" ? "" : `:${second}`}`;
}

type Option = { readonly text: string; readonly value: string };
/**
 * The texts that an option is found by, best matches first: its text and its value unchanged, without case, by letters
 * and digits alone; then its text without a last `(...)`.
 */
type OptionForms = readonly string[];

/** Computed once for each option: a page may hold thousands, and every value is compared with all of them. */
const knownForms = new WeakMap<Option, OptionForms>();

function formsOf(option: Option): OptionForms {
  const known = knownForms.get(option);
  if (known !== undefined) return known;
  const { text, value } = option;
  const bare = looseLabel(text.replace(/\([^()]*\)\s*$/, ""));
  const both = [text, value];
  const all = [...both.map(normalizeText), ...both.map(normalizeLabel), ...both.map(looseLabel), bare];
  knownForms.set(option, all);
  return all;
}

/** Tells whether an option's text is this label, as `normalizeLabel` writes it. */
export const isNamed = (option: Option, label: string): boolean => formsOf(option)[2] === label;

function indexWhere<T>(items: readonly T[], isIt: (item: T) => boolean): number | undefined {
  const index = items.findIndex(isIt);
  return index < 0 ? undefined : index;
}

/**
 * Finds the index of the option for a value: by exact text, exact value, the same without case, then by letters and
 * digits alone, with and without a last remark in brackets; at last by an equal time, date or number, by the range that
 * contains it (`80303`: "$60,001 - $90,000"), and by a rating.
 */
export function findOption(options: readonly Option[], wanted: FieldValue): number | undefined {
  if (typeof wanted === "boolean") return indexWhere(options, (o) => o.text !== "" && parseBoolean(o.text) === wanted);
  const text = normalizeText(String(wanted));
  if (text === "") return undefined;
  const [label, loose] = [normalizeLabel(text), looseLabel(text)];
  for (const [i, form] of [text, text, label, label, loose, loose, loose].entries()) {
    const index = form === "" ? undefined : indexWhere(options, (option) => formsOf(option)[i] === form);
    if (index !== undefined) return index;
  }
  return findEqual(options, text) ?? findRange(options, text) ?? findRating(options, text);
}

/** Finds an option with the same time, date or number in another notation: `14:30` is "2:30 PM". */
function findEqual(options: readonly { readonly text: string }[], wanted: string): number | undefined {
  if (!/\d/.test(wanted)) return undefined;
  for (const parse of [parseTime, parseDate, parseNumber]) {
    const value = parse(wanted);
    if (value === undefined) continue;
    const index = indexWhere(options, (option) => parse(option.text) === value);
    if (index !== undefined) return index;
  }
  return undefined;
}

/** Finds the rating with a number: `4` is "4 stars", "4 out of 5", "Rate 4". */
function findRating(options: readonly { readonly text: string }[], wanted: string): number | undefined {
  const number = parseNumber(wanted);
  if (number === undefined) return undefined;
  return indexWhere(options, ({ text }) => {
    const m =
      /^(?:rate |rating |score )?(\d{1,2})(?: ?(?:stars?|points?|of \d+|out of \d+(?: stars?)?|\/ ?\d+))?$/i.exec(
        text.slice(0, 40).trim(),
      );
    return m !== null && Number(m[1]) === number;
  });
}

function findRange(options: readonly { readonly text: string }[], wanted: string): number | undefined {
  const number = parseNumber(wanted);
  const time = parseTime(wanted);
  return indexWhere(
    options,
    ({ text }) =>
      (number !== undefined && holdsNumber(normalizeText(text), number)) ||
      (time !== undefined && holdsTime(text, time, parseTime)),
  );
}

/** Returns the items of a list value; a string is split at commas unless it is an option as a whole. */
export function listItems(options: readonly Option[], value: FieldValue): string[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== "string") return [String(value)];
  if (value.trim() === "" || /^none$/i.test(value.trim())) return [];
  if (findOption(options, value) !== undefined) return [value];
  // an option may contain a comma
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
export const isNoFile = (value: FieldValue): boolean => /^(?:none|n\/a|null)?$/i.test(String(value).trim());

/** Reads the digits of a telephone number; undefined for a text with other signs than those between its digits. */
export const readDigits: Reader = (value) =>
  /^\+?\s*\(?\d[\d\s()./-]*$/.test(asText(value).trim()) ? asText(value).replace(/\D/g, "") : undefined;

/** Readers of values that are either right or wrong. */
const READERS: Partial<Record<ControlKind, Reader>> = {
  number: parseNumber,
  date: parseDate,
  time: parseTime,
  checkbox: parseBoolean,
  email: (value) => normalizeText(asText(value)).toLowerCase(),
  tel: readDigits,
  url: (value) => addressOf(asText(value).trim()),
};
const isChoice = (kind: ControlKind): boolean => kind === "select" || kind === "radio";

/** Finds the option that was received: the one with this text or this value, unchanged. */
function received(options: readonly Option[], actual: FieldValue): number | undefined {
  const wanted = normalizeText(asText(actual));
  const isIt = (text: string): boolean => wanted !== "" && normalizeText(text) === wanted;
  return indexWhere(options, ({ text }) => isIt(text)) ?? indexWhere(options, ({ value }) => isIt(value));
}

/** Writes a value for comparison. @param find finds the option that a value of a choice means. */
const comparable = ({ kind, options = [] }: ValueSpace, value: FieldValue, find: typeof findOption): string =>
  readAs(isChoice(kind) ? (one) => find(options, one) : (READERS[kind] ?? UNREAD), value);

/**
 * Measures how well `actual` matches `truth`, from 0 to 1: free text by similarity, lists by Jaccard, all others by
 * equality: telephone numbers by digits, mail and web addresses in normal form, codes (one word with a digit) exactly.
 * A text with digits is exact in its digits, and a time of day in its half of the day, whatever the control. A value outside its type (an invalid date, a truth that is no option) equals only the same text.
 */
export function matchValue(space: ValueSpace, truth: FieldValue, actual: FieldValue): number {
  const { kind, options = [] } = space;
  if (isBroken(truth) || isBroken(actual)) return 0;
  if (kind === "checkbox-group")
    return jaccard(optionList(options, truth, findOption), optionList(options, actual, received));
  if (kind === "file") return Number(isNoFile(truth) || fileName(truth) === fileName(actual));
  if (kind === "number") return Number(isSameNumber(truth, actual));
  if (comparable(space, truth, findOption) === comparable(space, actual, received)) return 1;
  if (READERS[kind] !== undefined || isChoice(kind) || isCode(asText(truth))) return 0;
  if (digitsIn(truth) !== digitsIn(actual) || parseTime(truth) !== parseTime(actual)) return 0;
  const alike = similarity(asText(truth), asText(actual));
  return alike < LEAST_ALIKE ? 0 : alike;
}

/** Measures how well a plan's text matches a true value: it may name an option in any way that finds it. */
export function matchWritten(space: ValueSpace, truth: FieldValue, written: FieldValue): number {
  const { kind, options = [] } = space;
  const named = (item: FieldValue): string => options[findOption(options, item) ?? -1]?.text ?? asText(item);
  if (isChoice(kind)) return matchValue(space, truth, named(written));
  const items = kind === "checkbox-group" ? listItems(options, written).map(named) : written;
  return matchValue(space, truth, items);
}

const NONE_OF_ITS_KIND: Partial<Record<ControlKind, string>> = {
  number: "not a number",
  date: "not a date",
  time: "not a time",
  checkbox: "neither yes nor no",
  select: "not an option",
  radio: "not an option",
  "checkbox-group": "not an option",
};

/**
 * Returns the reason why a control cannot hold a true value, by its options and its type; undefined if it can.
 */
export function unfillable(control: ValueSpace & { default: FieldValue }, truth: FieldValue): string | undefined {
  const { kind, options = [] } = control;
  if (kind === "file" || matchValue(control, truth, control.default) === 1) return undefined;
  const fits =
    kind === "checkbox-group"
      ? listItems(options, truth).every((item) => findOption(options, item) !== undefined)
      : comparable(control, truth, findOption).startsWith("read");
  return fits ? undefined : NONE_OF_ITS_KIND[kind];
}

/** Resemblance of two texts below which it is chance: two people's names share some letters. */
const LEAST_ALIKE = 0.5;

/** Tells whether a text is a code: one word with a digit, such as a postal code; a similar code is a wrong one. */
const isCode = (text: string): boolean => /^\S*\d\S*$/.test(text.trim());

const digitsIn = (value: FieldValue): string => asText(value).replace(/\P{Nd}+/gu, "");

/** Returns a file's name without its folder, as a control gets it. */
const fileName = (value: FieldValue): string => normalizeText(asText(value)).split(/[\\/]/).at(-1) ?? "";

function addressOf(text: string): string | undefined {
  const address = /^[a-z][a-z\d+.-]*:/i.test(text) ? text : `https://${text}`;
  return URL.canParse(address) ? new URL(address).href : undefined;
}

const asText = (value: FieldValue): string => (Array.isArray(value) ? value.join(", ") : String(value));

/** Lists the items of a list as their options, sorted. */
function optionList(options: readonly Option[], value: FieldValue, find: typeof findOption): string[] {
  return listItems(options, value)
    .map((item) => readAs((one) => find(options, one), item))
    .sort();
}

/** Compares two lists with repetitions: shared items over all items. */
function jaccard(a: readonly string[], b: readonly string[]): number {
  const left = [...b];
  const shared = a.filter((item) => {
    const at = left.indexOf(item);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  }).length;
  const union = a.length + left.length;
  return union === 0 ? 1 : shared / union;
}
