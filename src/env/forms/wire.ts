import { type Exchange, isSame, pathOf, pathPattern } from "../browser/network/exchange.js";
import type { FieldValue } from "../site.js";
import type { Notation, Wire } from "./contract.js";
import {
  isEqual,
  isSameNumber,
  normalizeText,
  parseBoolean,
  parseDate,
  parseNumber,
  type Reader,
  readAs,
  UNREAD,
} from "./normalize.js";
import { type PostedPair, withoutEntities } from "./posted.js";
import {
  isLooselyEqual,
  type Kind,
  NO_ANSWER,
  parseMoment,
  parseRange,
  prefixOf,
  readClock,
  readDay,
  readLoose,
  readMoment,
  sameDigits,
  writeDay,
  writeMoment,
} from "./values.js";

/** One submission: the true values by label, and the pairs that the server received. */
export interface Sample {
  readonly fields: Readonly<Record<string, FieldValue>>;
  readonly posted: readonly PostedPair[];
}

/** Replaces the numbers that count the items of a list: `days[0]` becomes `days[#]`, `days.0.at` becomes `days.#.at`. */
export const counted = (name: string): string => name.replace(/(\[|\.)\d+(?=\]|\.|$)/g, "$1#");

export const rawsOf = (posted: readonly PostedPair[], key: string): string[] =>
  posted.filter(([name]) => (/[[.]#/.test(key) ? counted(name) : name) === key).map(([, value]) => value);

/**
 * Returns the texts under a key. For a file, JSON is left out: an upload may send it beside the name of the file. Of a
 * field that was saved again and again, the last text counts.
 */
function textsUnder(posted: readonly PostedPair[], { key, nth, list }: Wire, kind: Kind): string[] {
  const raws = rawsOf(posted, key);
  if (kind === "file") return raws.filter((raw) => !/^\{.*\}$/s.test(raw));
  if (nth !== undefined) return raws.slice(nth, nth + 1);
  return key.startsWith("before ") && list === undefined ? raws.slice(-1) : raws;
}

const withoutMarkup = (text: string): string => normalizeText(withoutEntities(text.replace(/<[^>]*>/g, " ")));

/** Tells whether a text is a number with the digits of another, wherever the point stands: `125.05` for 1250.5. */
export function hasDigits(raw: string, value: string): boolean {
  const digits = (text: string): string => text.replace(/\D/g, "").replace(/^0+|0+$/g, "");
  return [raw, value].every((text) => parseNumber(text) !== undefined) && digits(raw) === digits(value);
}

type Slug = Extract<Notation, { as: "slug" }>["by"];

function slug(text: string, by: Slug): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  switch (by) {
    case "lower":
      return text.toLowerCase();
    case "upper":
      return text.toUpperCase();
    case "camel":
      return words.map((word, i) => (i === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join("");
    default:
      return words.join(by);
  }
}

/** Writes a value in a notation with one spelling only. @returns undefined for a value that it cannot write. */
function written(notation: Notation, kind: Kind, text: string): string | undefined {
  const date = parseDate(text);
  switch (notation.as) {
    case "slug": {
      // words alone do not tell C++ from C#
      const isPlain = readAs(readLoose, text).replace(/^read |[ &]/g, "") === slug(text, "");
      return isPlain || notation.by === "lower" || notation.by === "upper" ? slug(text, notation.by) : undefined;
    }
    case "pattern": {
      const moment = parseMoment(text) ?? (date === undefined ? undefined : { date, time: "" });
      return moment === undefined || kind === "range" ? undefined : writeMoment(moment, notation.pattern);
    }
    case "seconds": {
      const { date: day = date, time = "00:00" } = parseMoment(text) ?? {};
      return day === undefined ? undefined : String(Date.parse(`${day}T${time}Z`) * notation.times);
    }
    case "codes":
      return Object.hasOwn(notation.codes, text) && !areCut(notation.codes) ? notation.codes[text] : undefined;
    default:
      return undefined;
  }
}

/** Tells whether codes are only longer texts that a page has cut. */
function areCut(codes: Readonly<Record<string, string>>): boolean {
  const pairs = Object.entries(codes);
  const isCut = ([text, code]: [string, string]): boolean => text !== code && text.startsWith(code);
  // `Mon` of Monday and `Small` of "Small (S)" are codes; "Queen of the F" and "Konstantin" of one name are none
  const isTorn = ([text, code]: [string, string]): boolean =>
    /\S\s\S/.test(code) || (code.length > 5 && /^[\p{L}\p{N}]{2}/u.test(text.slice(code.length - 1)));
  return pairs.every(isCut) && pairs.some(isTorn);
}

/** Reads two days with nothing but a sign or a word between them, both written by a pattern. */
function isRangeBy(pattern: string, text: string, raw: string): boolean {
  const days = parseRange(text)?.map((day) => writeDay(day, pattern));
  if (days === undefined) return isEqual(UNREAD, text, raw);
  const [from = "", to = ""] = days;
  const between = raw.startsWith(from) && raw.endsWith(to) ? raw.slice(from.length, -to.length) : "";
  return between !== "" && /^[\s\p{P}\p{S}]*(?:to|and|until|bis|au?|al|y)?[\s\p{P}\p{S}]*$/iu.test(between);
}

/** Readers of the notations that allow several spellings. */
const READERS: Partial<Record<Notation["as"], Reader>> = {
  same: UNREAD,
  day: readDay,
  time: readClock,
  moment: readMoment,
};

/**
 * Tells whether a text of a request stands for a value in a notation. What the notation cannot read equals only the
 * same text; a missing text stands for an empty value.
 */
export function denotes(
  notation: Notation,
  kind: Kind,
  value: string | number | boolean,
  raw: string | undefined,
): boolean {
  if (notation.as === "flag") {
    const on = parseBoolean(value);
    return on === undefined ? raw === String(value) : (raw ?? null) === (on ? notation.on : notation.off);
  }
  if (raw === undefined || raw === "") return value === "";
  const text = String(value);
  const reader = READERS[notation.as];
  if (reader !== undefined) return isEqual(reader, raw, text);
  if (notation.as === "loose") return isLooselyEqual(raw, text);
  if (notation.as === "html") return withoutMarkup(raw) === normalizeText(text);
  if (notation.as === "number") return isSameNumber(text, raw, notation.times);
  if (notation.as === "digits") {
    if (notation.prefix !== undefined && prefixOf(raw, text) === notation.prefix) return true;
    if (kind === "number" && hasDigits(raw, text)) return isSameNumber(raw, text);
    return sameDigits(raw, text) || isEqual(UNREAD, raw, text);
  }
  if (notation.as === "pattern" && kind === "range") return isRangeBy(notation.pattern, text, raw);
  if (notation.as === "part") return kind === "text" && raw === text;
  const spelling = written(notation, kind, text);
  if (spelling === undefined) return isEqual(UNREAD, raw, text);
  return notation.as === "seconds" ? isSameNumber(spelling, raw) : raw === spelling;
}

/** Splits the texts of a request into the items of a list. */
export function itemsIn(raws: readonly string[], list: NonNullable<Wire["list"]>): string[] {
  if (list === "repeated") return raws.filter((raw) => raw !== "");
  return (raws[0] ?? "")
    .split(list)
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

export const isBlank = (value: FieldValue): boolean => value === "" || (Array.isArray(value) && value.length === 0);

function fitsList(wire: Wire, value: FieldValue, raws: readonly string[]): boolean {
  const wanted = Array.isArray(value) ? value : [String(value)];
  const { list = "repeated" } = wire;
  // a separator after the last item was typed: the text is no list
  if (list !== "repeated" && list !== "\n" && raws[0]?.trim().endsWith(list) === true) return false;
  const got = itemsIn(raws, list);
  // each item stands for one of the others, repetitions too
  const isHeld = (item: string): boolean => {
    const at = got.findIndex((raw) => denotes(wire.notation, "text", item, raw));
    if (at >= 0) got.splice(at, 1);
    return at >= 0;
  };
  return got.length === wanted.length && wanted.every(isHeld);
}

/** Tells whether a submission carries a field's value under the learned key and in the learned notation. */
export function carries(
  wire: Wire,
  kind: Kind,
  value: FieldValue,
  posted: readonly PostedPair[],
  fields?: Sample["fields"],
): boolean {
  const raws = textsUnder(posted, wire, kind);
  const { notation } = wire;
  if (notation.as === "part") return fields !== undefined && raws[0] === filled(notation.of, { ...fields });
  if (notation.as === "pieces") return joined(posted, notation) === String(value);
  if (notation.as === "parts") {
    const parts = parseDate(value as string)?.split("-");
    return [notation.year, notation.month, notation.day].every((key, i) => {
      const raws = rawsOf(posted, key);
      return parts !== undefined && raws.length === 1 && isSameNumber(parts[i] as string, raws[0] as string);
    });
  }
  if (notation.as === "ends") {
    const days = parseRange(value);
    if (days === undefined) return false;
    // both days may stand in a list under one key
    const isEnd = (key: string, part: 0 | 1): boolean =>
      denotes({ as: "day" }, "date", days[part], rawsOf(posted, key).at(-part));
    return isEnd(notation.from, 0) && isEnd(notation.to, 1);
  }
  if (notation.as === "each") {
    const chosen = Array.isArray(value) ? value : [String(value)];
    return (
      chosen.every((item) => Object.hasOwn(notation.keys, item)) &&
      Object.entries(notation.keys).every(
        ([item, key]) => (rawsOf(posted, key)[0] ?? null) === (chosen.includes(item) ? notation.on : notation.off),
      )
    );
  }
  if (wire.list !== undefined) return fitsList(wire, value, raws);
  // a checkbox may follow a hidden field of the same name that stands for "off": the last value counts
  if (notation.as === "flag") return denotes(notation, kind, value as boolean, raws.at(-1));
  if (isBlank(value)) return raws.every((raw) => raw === "");
  const one = wholeOf(value, raws);
  return one.length <= 1 && denotes(notation, kind, value as string, one[0]);
}

/** Joins the parts of a text that stand under keys of their own. */
const joined = (posted: readonly PostedPair[], { keys, between }: Extract<Notation, { as: "pieces" }>): string =>
  keys.map((key) => rawsOf(posted, key).join("\n")).join(between);

/** Joins the levels of a path, such as `Norway / Oslo`, if they were sent one by one. */
export const wholeOf = (value: FieldValue, raws: readonly string[]): readonly string[] =>
  raws.length > 1 && String(value).split(/[/>]/).length === raws.length ? [raws.join("\n")] : raws;

const filled = (template: string, fields: Sample["fields"]): string =>
  template.replace(/\{([^{}]*)\}/g, (_, label: string) => String(fields[label] ?? ""));

/** Reads a field's value from a submission: the true value if it carries that, else its text. */
export function received(
  label: string,
  wire: Wire,
  kind: Kind,
  truth: FieldValue | undefined,
  posted: readonly PostedPair[],
  fields: Sample["fields"],
): FieldValue {
  if (truth !== undefined && carries(wire, kind, truth, posted, fields)) return truth;
  const raws = textsUnder(posted, wire, kind);
  const { notation } = wire;
  if (notation.as === "flag") {
    const last = raws.at(-1);
    return last === notation.on || (last === (notation.off ?? undefined) ? false : (last ?? NO_ANSWER));
  }
  if (notation.as === "pieces") return joined(posted, notation);
  if (notation.as === "each")
    return Object.entries(notation.keys).flatMap(([item, key]) =>
      rawsOf(posted, key)[0] === notation.on ? [item] : [],
    );
  const decoded = (raw: string): string => {
    if (notation.as === "codes" && !areCut(notation.codes))
      return Object.entries(notation.codes).find(([, code]) => code === raw)?.[0] ?? raw;
    return notation.as === "html" ? withoutMarkup(raw) : raw;
  };
  if (wire.list !== undefined) {
    const wanted = Array.isArray(truth) ? truth : [];
    return itemsIn(raws, wire.list).map(
      (raw) => wanted.find((item) => denotes(notation, "text", item, raw)) ?? decoded(raw),
    );
  }
  if (notation.as === "part") return partIn(notation.of, raws[0] ?? "", label);
  const text = decoded(raws[0] ?? "");
  // the factor is undone, so that a wrong number is not read as the true value
  return kind === "number" && notation.as === "number"
    ? (parseNumber(text) ?? Number.NaN) / notation.times || text
    : text;
}

/** Cuts the part of a label out of a text that was made by a template; a text that was not is returned as it is. */
function partIn(template: string, raw: string, label: string): string {
  const [start = "", ...pieces] = template.split(/\{([^{}]*)\}/);
  let at = start.length;
  let part = raw;
  for (let i = 0; i < pieces.length; i += 2) {
    const behind = pieces[i + 1] ?? "";
    const isLast = i + 2 === pieces.length;
    const end = isLast ? raw.length - behind.length : raw.indexOf(behind, at);
    if (end < at || !raw.startsWith(behind, end)) return raw;
    if (pieces[i] === label) part = raw.slice(at, end);
    at = end + behind.length;
  }
  return raw.startsWith(start) ? part : raw;
}

/**
 * Lists the pairs that were sent elsewhere before the form, such as a file that is uploaded once it is chosen; keys
 * contain the path. Earlier requests of the form itself do not count.
 */
export function uploaded(exchanges: readonly Exchange[], form: Exchange, saves: readonly string[] = []): PostedPair[] {
  const own = { method: form.method, path: pathOf(form) };
  const nameOf = (path: string): string => saves.find((save) => pathPattern(save, path) === save) ?? path;
  return exchanges
    .filter((e) => e.method !== "GET" && !isSame(own, e) && (e.answer?.status ?? 200) < 400)
    .flatMap((e) => e.posted.map(([key, value]): PostedPair => [`before ${nameOf(pathOf(e))} ${key}`, value]));
}
