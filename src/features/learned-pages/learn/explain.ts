import type { Notation, Wire } from "../../../env/forms/contract.js";
import { innermost } from "../../../env/forms/native.js";
import { looseLabel, parseDate, parseTime } from "../../../env/forms/normalize.js";
import { dayIn, type Kind, parseMoment, parseRange, prefixOf } from "../../../env/forms/values.js";
import {
  carries,
  counted,
  denotes,
  hasDigits,
  isBlank,
  itemsIn,
  rawsOf,
  type Sample,
  wholeOf,
} from "../../../env/forms/wire.js";
import type { FieldValue } from "../../../env/site.js";
import { canonical, DAY_PATTERNS, MOMENTS } from "../values.js";
import { isOthers, type Options } from "./offered-options.js";

/** Lists the notations to try for a kind of value, plain ones first. */
function notationsFor(kind: Kind): Notation[] {
  const same: Notation = { as: "same" };
  const slugs = (["lower", "upper", "-", "_", "", "camel", "first"] as const).map(
    (by): Notation => ({ as: "slug", by }),
  );
  switch (kind) {
    case "number":
      return [...[1, 100, 0.01, 1000, 0.001, 60].map((times): Notation => ({ as: "number", times })), { as: "digits" }];
    case "date":
      return [same, { as: "day" }, ...byPattern([...DAY_PATTERNS, ...COMPACT]), ...seconds];
    case "range":
      return [same, ...byPattern(DAY_PATTERNS)];
    case "time":
      return [same, { as: "time" }];
    case "moment":
      return [same, { as: "moment" }, ...byPattern(MOMENTS.map(({ day, time }) => `${day} ${time}`)), ...seconds];
    case "text":
      return [same, { as: "html" }, { as: "digits" }, ...slugs, { as: "loose" }];
    case "list":
      return [same, ...slugs, { as: "loose" }];
    default:
      return [same];
  }
}

const byPattern = (patterns: readonly string[]): Notation[] => patterns.map((pattern) => ({ as: "pattern", pattern }));

/** Lists notations of phone numbers with the country codes that stand before a label's values. */
const prefixed = (label: string, relevant: readonly Sample[]): Notation[] =>
  relevant.flatMap(({ fields, posted }) =>
    posted.flatMap(([, raw]): Notation[] => {
      const prefix = prefixOf(raw, String(fields[label]));
      return prefix ? [{ as: "digits", prefix }] : [];
    }),
  );

const COMPACT = ["DDMMYYYY", "MMDDYYYY", "YYMMDD", "YYYY.MM.DD", "MM.DD.YYYY"];

const seconds: Notation[] = [1, 0.001].map((times) => ({ as: "seconds", times }));

/** One submission, with the options that the page offered for each label. */
export interface Observed extends Sample {
  readonly options?: Readonly<Record<string, Options>>;
}

/** A search for the key and the notation of a label's values. */
interface Sought {
  readonly label: string;
  readonly kind: Kind;
  /** The submissions that have a value. */
  readonly relevant: readonly Observed[];
  /** The keys to look at, those that resemble the label most first. */
  readonly keys: readonly string[];
  readonly isSure: boolean;
  readonly isFreeText: boolean;
  /** Tells whether a wire has each submission's own value, and no other's. */
  fits(wire: Wire): boolean;
}

/** Most labels that share a key, and most parts of a value under keys of their own. */
const MOST_SHARED = 12;
/** Length in characters from which a value does not occur in a request by chance. */
const TELLING = 4;

/** Lists the keys that hold a value of the label in a known notation: they hold no code of another label. */
export function claimed(label: string, kind: Kind, samples: readonly Sample[]): string[] {
  if (kind === "flag" || kind === "list") return [];
  return samples.flatMap(({ fields: { [label]: value }, posted }) => {
    const isHeld = (raw: string): boolean =>
      raw.length >= TELLING && notationsFor(kind).some((one) => denotes(one, kind, value as string | number, raw));
    const isLong = value !== undefined && String(value).length >= TELLING;
    return isLong ? posted.filter(([, raw]) => isHeld(raw)).map(([key]) => key) : [];
  });
}

/**
 * Finds the key and the notation of a label's values in the requests that the server received.
 * @param samples submissions whose values differ.
 * @param isSure whether the page showed the values, so that codes may stand for them.
 * @param taken keys that hold other labels' values.
 * @param isFreeText whether the values were typed into a control that takes any text.
 * @param likeness how much a key has to resemble the label for its texts to count as codes: one of `LIKENESS`.
 */
export function explain(
  label: string,
  kind: Kind,
  samples: readonly Observed[],
  isSure: boolean,
  taken: ReadonlySet<string>,
  likeness = 0,
  isFreeText = false,
): Wire | undefined {
  const keys = [...new Set(samples.flatMap(({ posted }) => posted.flatMap(([key]) => [key, counted(key)])))]
    .filter((key) => key !== "")
    .sort((a, b) => likenessOf(b, label) - likenessOf(a, label));
  const isLike = (key: string): boolean => likenessOf(key, label) >= likeness;
  const relevant = samples.filter(
    ({ fields }) => label in fields && (kind === "flag" || !isBlank(fields[label] as FieldValue)),
  );
  if (relevant.length === 0) return undefined;
  const all = samples.filter(({ fields }) => label in fields);
  const value = ({ fields }: Sample): FieldValue => fields[label] as FieldValue;
  const holds = (wire: Wire, of: FieldValue, { posted, fields }: Sample): boolean =>
    carries(wire, kind, of, posted, fields);
  // it has to match each sample's own value, and no other sample's value
  const fits = (wire: Wire): boolean =>
    all.every((sample) => holds(wire, value(sample), sample)) &&
    (wire.notation.as === "part" ||
      relevant.every((sample) =>
        relevant.every(
          (other) =>
            canonical(kind, value(other)) === canonical(kind, value(sample)) || !holds(wire, value(other), sample),
        ),
      ));
  const sought: Sought = { label, kind, relevant, keys, isSure, isFreeText, fits };
  if (kind === "flag") return flagWire({ ...sought, keys: keys.filter((key) => isLike(key) && !taken.has(key)) });
  const free = keys.filter((key) => !taken.has(key));
  const lists = kind === "list" ? (["repeated", ",", ";", "|", "\n"] as const) : [undefined];
  for (const notation of [...notationsFor(kind), ...(kind === "text" ? prefixed(label, relevant) : [])])
    for (const list of lists)
      for (const key of [...free, ...keys.filter((other) => taken.has(other))]) {
        const wire: Wire = { key, notation, ...(list === undefined ? {} : { list }) };
        if (fits(wire)) return wire;
      }
  const found = dayParts(sought) ?? ends(sought) ?? shared(sought) ?? pieces(sought, taken) ?? partOf(label, all, keys);
  if (found !== undefined) return found;
  const like = { ...sought, keys: free.filter(isLike) };
  if (kind !== "list") return codes(like);
  return listCodes(like) ?? (likeness > 0 ? undefined : listKeys({ ...sought, keys: free }));
}

/** Finds a value among the texts of a key that several labels share. */
function shared({ kind, relevant, keys, fits }: Sought): Wire | undefined {
  if (kind === "list") return undefined;
  for (const key of keys) {
    const most = Math.min(...relevant.map(({ posted }) => rawsOf(posted, key).length));
    for (let nth = 0; most > 1 && nth < Math.min(most, MOST_SHARED); nth++)
      for (const notation of notationsFor(kind)) {
        const wire: Wire = { key, nth, notation };
        if (fits(wire)) return wire;
      }
  }
  return undefined;
}

/** Finds a text whose parts stand under keys of their own. */
function pieces({ label, kind, relevant, keys, fits }: Sought, taken: ReadonlySet<string>): Wire | undefined {
  if (kind === "list" || kind === "file") return undefined;
  const rows = relevant.map(({ fields, posted }) => ({ text: String(fields[label]), posted }));
  const free = keys.filter((key) => !taken.has(key) && rows.every(({ posted }) => rawsOf(posted, key).length === 1));
  const search = (at: readonly number[], before: readonly string[], between: string): string[] | undefined => {
    if (at.every((n, i) => n - between.length === rows[i]?.text.length))
      return before.length > 1 ? [...before] : undefined;
    for (const key of before.length < MOST_SHARED ? free : []) {
      const parts = rows.map(({ posted }) => rawsOf(posted, key)[0] as string);
      if (before.includes(key) || !parts.every((part, i) => part !== "" && rows[i]?.text.startsWith(part, at[i])))
        continue;
      const next = at.map((n, i) => n + (parts[i] as string).length);
      const goesOn = next.every((n, i) => n === rows[i]?.text.length || rows[i]?.text.startsWith(between, n));
      const found = goesOn
        ? search(
            next.map((n) => n + between.length),
            [...before, key],
            between,
          )
        : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };
  for (const between of ["", " ", "-", "/", ".", ":"]) {
    const found = search(
      rows.map(() => 0),
      [],
      between,
    );
    const wire: Wire | undefined = found && {
      key: found[0] as string,
      notation: { as: "pieces", keys: found, between },
    };
    if (wire !== undefined && fits(wire)) return wire;
  }
  return undefined;
}

/** Reads the day or time in a text; undefined for other kinds of values. */
function readAs(kind: Kind, text: string): unknown {
  if (kind === "time") return parseTime(text);
  if (kind === "date") return dayIn(text);
  return kind === "moment" ? parseMoment(text) : undefined;
}

/** Finds a key that holds a different code for each value, and rules out chance matches. */
function codes({ label, kind, relevant, keys, isSure, isFreeText, fits }: Sought): Wire | undefined {
  for (const key of keys) {
    const known: Record<string, string> = {};
    for (const { fields, posted } of relevant) {
      const raw = wholeOf(fields[label] as FieldValue, rawsOf(posted, key));
      if (raw.length === 1 && raw[0] !== "") known[String(fields[label])] = raw[0] as string;
    }
    const values = Object.keys(known);
    if (values.length < 2 || new Set(Object.values(known)).size !== values.length) continue;
    if (relevant.some((sample) => standsForOther(sample, label, known))) continue;
    // a text that the page has cut, as by a maximum length or a mask, is no code
    if (isFreeText && values.every((value) => isLeftOf(known[value] as string, value))) continue;
    // a bare number is more likely a part of another date than a code for this one
    const isRead = values.some((value) => readAs(kind, value) !== undefined && /^\d+$/.test(known[value] as string));
    if (isRead && likenessOf(key, label) === 0) continue;
    // a text that reads as a day or time is no code: it is another day or time
    if (values.some((value) => readAs(kind, known[value] as string) !== undefined)) continue;
    // the number itself is no code either, also with its decimal point elsewhere
    const misread = values.filter((value) => kind === "number" && hasDigits(known[value] as string, value));
    if (misread.length * 2 > values.length) continue;
    const alike = values.filter((value) => isAlike(known[value] as string, value)).length;
    const wire: Wire = { key, notation: { as: "codes", codes: known } };
    if ((isSure || alike * 2 > values.length) && Object.values(known).every((code) => code.length <= 64) && fits(wire))
      return wire;
  }
  return undefined;
}

/**
 * Finds the codes of a list's items: a code is sent with its item and never without it. Codes of items that always
 * occur together may stay unknown, if the page showed the items.
 */
function listCodes({ label, relevant, keys, isSure, fits }: Sought): Wire | undefined {
  const items = [...new Set(relevant.flatMap(({ fields }) => fields[label] as string[]))];
  for (const list of ["repeated", ","] as const)
    for (const key of keys) {
      const got = relevant.map(({ fields, posted }) => ({
        items: fields[label] as string[],
        raws: itemsIn(rawsOf(posted, key), list),
      }));
      if (!got.every((one) => one.items.length === one.raws.length)) continue;
      const known: Record<string, string> = {};
      for (let round = 0; round < items.length; round++)
        for (const item of items) {
          if (item in known) continue;
          const used = new Set(Object.values(known));
          const possible = [...new Set(got.flatMap((one) => one.raws))].filter(
            (raw) => !used.has(raw) && got.every((one) => one.items.includes(item) === one.raws.includes(raw)),
          );
          const best = possible.length === 1 ? possible : possible.filter((raw) => isAlike(raw, item));
          if (best.length === 1) known[item] = best[0] as string;
        }
      const wire: Wire = { key, notation: { as: "codes", codes: known }, list };
      // lists of different lengths that all agree prove the key as well as the display of the page
      const vouched = isSure || new Set(got.map((one) => one.items.length)).size > 1;
      if (relevant.some((sample) => standsForOther(sample, label, known))) continue;
      const isPart = vouched && Object.keys(known).length < items.length && relevant.length > 1;
      if (isPart ? new Set(got.flatMap((one) => one.raws)).size === items.length : fits(wire)) return wire;
    }
  return undefined;
}

/** Tells whether one of the codes is the value of an option that the page offered for another text. */
const standsForOther = ({ options }: Observed, label: string, known: Readonly<Record<string, string>>): boolean =>
  Object.entries(known).some(([value, code]) => isOthers(options?.[label] ?? [], value, code));

/** Tells whether the characters of a text occur in a longer one in the same order. */
export function isLeftOf(part: string, whole: string): boolean {
  let at = 0;
  for (const sign of whole.toLowerCase()) if (sign === part.toLowerCase()[at]) at++;
  return at === part.length;
}

/** Finds a key for each item of a list, whose text differs between a chosen item and one that is not chosen. */
function listKeys({ label, relevant, keys, fits }: Sought): Wire | undefined {
  const items = [...new Set(relevant.flatMap(({ fields }) => fields[label] as string[]))];
  const has = ({ fields }: Sample, item: string): boolean => (fields[label] as string[]).includes(item);
  const says = new Map<string, Set<string>>();
  for (const key of keys)
    for (const item of items) {
      const raws = (chosen: boolean): (string | null)[] => [
        ...new Set(relevant.filter((s) => has(s, item) === chosen).map(({ posted }) => rawsOf(posted, key)[0] ?? null)),
      ];
      const [on, off] = [raws(true), raws(false)];
      if (on.length !== 1 || off.length !== 1 || on[0] === off[0] || !on[0]) continue;
      const how = JSON.stringify([on[0], off[0]]);
      says.set(how, (says.get(how) ?? new Set()).add(JSON.stringify([item, key])));
    }
  for (const [how, pairs] of says) {
    const [on, off] = JSON.parse(how) as [string, string | null];
    const possible = [...pairs].map((pair) => JSON.parse(pair) as [string, string]);
    const known: Record<string, string> = {};
    for (let round = 0; round < items.length; round++)
      for (const item of items) {
        if (Object.hasOwn(known, item)) continue;
        const free = possible.filter(([of, key]) => of === item && !Object.values(known).includes(key));
        const named = free.filter(([, key]) => likenessOf(key, item) > 0);
        const [best] = free.length === 1 ? free : named.length === 1 ? named : [];
        if (best !== undefined) known[item] = best[1];
      }
    const [first] = Object.values(known);
    if (first === undefined || Object.keys(known).length !== items.length) continue;
    const wire: Wire = { key: first, notation: { as: "each", keys: known, on, off } };
    if (fits(wire)) return wire;
  }
  return undefined;
}

/** Tells whether a code looks like a short form of a text. */
function isAlike(code: string, text: string): boolean {
  const a = looseLabel(code);
  const b = looseLabel(text);
  if (a === "" || b === "") return false;
  const initials = (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word[0]).join("");
  return b.includes(a) || a.includes(b) || initials === a || (a.length <= 4 && a[0] === b[0] && isLeftOf(a, b));
}

function flagWire({ label, relevant, keys, fits }: Sought): Wire | undefined {
  const on = relevant.filter(({ fields }) => fields[label] === true);
  const off = relevant.filter(({ fields }) => fields[label] === false);
  if (on.length === 0 || off.length === 0) return undefined;
  for (const key of keys) {
    const yes = rawsOf((on[0] as Sample).posted, key).at(-1);
    const no = rawsOf((off[0] as Sample).posted, key).at(-1);
    if (yes === undefined || yes === no || yes === "") continue;
    const wire: Wire = { key, notation: { as: "flag", on: yes, off: no ?? null } };
    if (fits(wire)) return wire;
  }
  return undefined;
}

function dayParts({ label, kind, relevant, keys }: Sought): Wire | undefined {
  if (kind !== "date") return undefined;
  const find = (part: number): string[] =>
    keys.filter((key) =>
      relevant.every(({ fields, posted }) => {
        const [raw = "", ...more] = rawsOf(posted, key);
        const wanted = (parseDate(fields[label] as string) ?? "").split("-")[part];
        return more.length === 0 && raw !== "" && Number(raw) === Number(wanted);
      }),
    );
  const [year, month, day] = [find(0)[0], find(1)[0], find(2)[0]];
  if (year === undefined || month === undefined || day === undefined) return undefined;
  return { key: year, notation: { as: "parts", year, month, day } };
}

function ends({ label, kind, relevant, keys }: Sought): Wire | undefined {
  if (kind !== "range") return undefined;
  const find = (part: 0 | 1): string | undefined =>
    keys.find((key) =>
      relevant.every(({ fields, posted }) =>
        denotes(
          { as: "day" },
          "date",
          parseRange(fields[label] as string)?.[part] ?? "-",
          rawsOf(posted, key).at(-part),
        ),
      ),
    );
  const [from, to] = [find(0), find(1)];
  return from === undefined || to === undefined ? undefined : { key: from, notation: { as: "ends", from, to } };
}

/** Finds a longer text that holds the values of this label and of others in the same template each time. */
function partOf(label: string, all: readonly Sample[], keys: readonly string[]): Wire | undefined {
  for (const key of keys) {
    const templates = all.map(({ fields, posted }) => {
      const raw = rawsOf(posted, key)[0];
      if (raw === undefined || raw.length > 2000) return undefined;
      const texts = Object.entries(fields).filter(
        ([, value]) => (typeof value === "string" || typeof value === "number") && String(value).length > 1,
      );
      return texts
        .sort((a, b) => String(b[1]).length - String(a[1]).length)
        .reduce(
          (text, [name, value]) => (/[{}]/.test(String(value)) ? text : text.replace(String(value), `{${name}}`)),
          raw,
        );
    });
    const [template] = templates;
    const isWhole = all.length > 1 || template === `{${label}}`;
    if (isWhole && template?.includes(`{${label}}`) && new Set(templates).size === 1)
      return { key, notation: { as: "part", of: template } };
  }
  return undefined;
}

/** Degrees of resemblance between a key and a label: out of reach, equal, contained, abbreviated, none. */
export const LIKENESS = [Number.POSITIVE_INFINITY, 3, 2, 1, 0] as const;

/** Measures how much a key resembles a label, from 0 to 3. */
function likenessOf(key: string, label: string): number {
  const a = looseLabel(innermost(key));
  const b = looseLabel(label);
  return a === b ? 3 : a !== "" && (b.includes(a) || a.includes(b)) ? 2 : isAlike(a, label) ? 1 : 0;
}
