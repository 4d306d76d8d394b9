/** Finds the notation in which the texts of a request stand for a field's values. */
import { isDeepStrictEqual } from "node:util";
import type { Notation, Wire } from "../../../env/forms/contract.js";
import { looseLabel, parseDate, parseTime } from "../../../env/forms/normalize.js";
import { type Kind, parseRange, prefixOf } from "../../../env/forms/values.js";
import {
  carries,
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

/** A key of a request, or one of several texts under it. */
export type Slot = Pick<Wire, "key" | "nth">;

/** A field whose keys are known, and the submissions that have a value of it. */
export interface Sought {
  readonly label: string;
  readonly kind: Kind;
  /** Set if the value is typed: only a text that reads as the value stands for it, and no code. */
  readonly isTyped: boolean;
  readonly samples: readonly Sample[];
  /** Places whose texts change with this field and with nothing else. */
  readonly slots: readonly Slot[];
}

const SAME: Notation = { as: "same" };
const SLUGS = (["lower", "upper", "-", "_", "", "camel"] as const).map((by): Notation => ({ as: "slug", by }));
const SECONDS = [1, 0.001].map((times): Notation => ({ as: "seconds", times }));
const COMPACT = ["DDMMYYYY", "MMDDYYYY", "YYMMDD", "YYYY.MM.DD", "MM.DD.YYYY"];
const byPattern = (patterns: readonly string[]): Notation[] => patterns.map((pattern) => ({ as: "pattern", pattern }));

/** Lists the notations that a kind of value may have, plain ones first. */
function notationsFor(kind: Kind): Notation[] {
  switch (kind) {
    case "number":
      return [...[1, 100, 0.01, 1000, 0.001, 60].map((times): Notation => ({ as: "number", times })), { as: "digits" }];
    case "date":
      return [SAME, { as: "day" }, ...byPattern([...DAY_PATTERNS, ...COMPACT]), ...SECONDS];
    case "range":
      return [SAME, ...byPattern(DAY_PATTERNS)];
    case "time":
      return [SAME, { as: "time" }];
    case "moment":
      return [SAME, { as: "moment" }, ...byPattern(MOMENTS.map(({ day, time }) => `${day} ${time}`)), ...SECONDS];
    case "text":
      return [SAME, { as: "html" }, { as: "digits" }, ...SLUGS, { as: "loose" }];
    case "list":
      return [SAME, ...SLUGS, { as: "loose" }];
    default:
      return [SAME];
  }
}

const LISTS = ["repeated", ",", ";", "|", "\n"] as const;

/** Most parts of a value under keys of their own. */
const MOST_PIECES = 12;

const valueIn = ({ label }: Pick<Sought, "label">, { fields }: Sample): FieldValue => fields[label] as FieldValue;

/** Tells whether a wire reads each submission's own value, and no other one's. */
function fits(sought: Sought, wire: Wire): boolean {
  const { kind, samples } = sought;
  const holds = (value: FieldValue, { posted, fields }: Sample): boolean => carries(wire, kind, value, posted, fields);
  const isOther = (a: FieldValue, b: FieldValue): boolean => canonical(kind, a) !== canonical(kind, b);
  return samples.every((one) => {
    const own = valueIn(sought, one);
    return (
      holds(own, one) &&
      samples.every((other) => !isOther(own, valueIn(sought, other)) || !holds(valueIn(sought, other), one))
    );
  });
}

/** Finds a wire whose texts read as the values themselves. */
export function readable(sought: Sought): Wire | undefined {
  const { kind, slots } = sought;
  if (kind === "flag") return flag(sought);
  const all = [...notationsFor(kind), ...(kind === "text" ? prefixed(sought) : [])];
  for (const notation of all)
    for (const list of kind === "list" ? LISTS : [undefined])
      for (const slot of slots) {
        const wire: Wire = { ...slot, notation, ...(list === undefined ? {} : { list }) };
        if (!(kind === "list" && slot.nth !== undefined) && fits(sought, wire)) return wire;
      }
  return dayParts(sought) ?? ends(sought) ?? pieces(sought);
}

/** Lists notations of phone numbers with the country codes that stand before a field's values. */
const prefixed = (sought: Sought): Notation[] =>
  sought.samples.flatMap((one) =>
    sought.slots.flatMap(({ key }) =>
      rawsOf(one.posted, key).flatMap((raw): Notation[] => {
        const prefix = prefixOf(raw, String(valueIn(sought, one)));
        return prefix ? [{ as: "digits", prefix }] : [];
      }),
    ),
  );

function flag(sought: Sought): Wire | undefined {
  const of = (on: boolean): Sample | undefined => sought.samples.find((one) => valueIn(sought, one) === on);
  const [yes, no] = [of(true), of(false)];
  if (yes === undefined || no === undefined) return undefined;
  for (const { key } of sought.slots) {
    const [on, off] = [yes, no].map(({ posted }) => rawsOf(posted, key).at(-1));
    const wire: Wire | undefined = on ? { key, notation: { as: "flag", on, off: off ?? null } } : undefined;
    if (wire !== undefined && on !== off && fits(sought, wire)) return wire;
  }
  return undefined;
}

/** Finds a day's parts under keys of their own. */
function dayParts(sought: Sought): Wire | undefined {
  if (sought.kind !== "date") return undefined;
  const [year, month, day] = [0, 1, 2].map(
    (part) =>
      sought.slots.find(({ key, nth }) =>
        sought.samples.every((one) => {
          const [raw = "", ...more] = rawsOf(one.posted, key);
          const wanted = (parseDate(valueIn(sought, one) as string) ?? "").split("-")[part];
          return nth === undefined && more.length === 0 && raw !== "" && Number(raw) === Number(wanted);
        }),
      )?.key,
  );
  if (year === undefined || month === undefined || day === undefined) return undefined;
  return { key: year, notation: { as: "parts", year, month, day } };
}

/** Finds the first and the last day of a range, under two keys or in a list under one. */
function ends(sought: Sought): Wire | undefined {
  if (sought.kind !== "range") return undefined;
  const [from, to] = ([0, 1] as const).map(
    (part) =>
      sought.slots.find(({ key }) =>
        sought.samples.every((one) => {
          const day = parseRange(valueIn(sought, one) as string)?.[part] ?? "-";
          return denotes({ as: "day" }, "date", day, rawsOf(one.posted, key).at(-part));
        }),
      )?.key,
  );
  return from === undefined || to === undefined ? undefined : { key: from, notation: { as: "ends", from, to } };
}

/** Finds a text whose parts stand under keys of their own. */
function pieces(sought: Sought): Wire | undefined {
  const { kind, samples, slots } = sought;
  if (kind === "list" || kind === "file") return undefined;
  const rows = samples.map((one) => ({ text: String(valueIn(sought, one)), posted: one.posted }));
  const keys = slots
    .map(({ key }) => key)
    .filter((key) => rows.every(({ posted }) => rawsOf(posted, key).length === 1));
  const search = (at: readonly number[], before: readonly string[], between: string): string[] | undefined => {
    if (at.every((n, i) => n - between.length === rows[i]?.text.length))
      return before.length > 1 ? [...before] : undefined;
    for (const key of before.length < MOST_PIECES ? keys : []) {
      const parts = rows.map(({ posted }) => rawsOf(posted, key)[0] as string);
      if (before.includes(key) || !parts.every((part, i) => part !== "" && rows[i]?.text.startsWith(part, at[i])))
        continue;
      const next = at.map((n, i) => n + (parts[i] as string).length);
      const goesOn = next.every((n, i) => n === rows[i]?.text.length || rows[i]?.text.startsWith(between, n));
      const then = next.map((n) => n + between.length);
      const found = goesOn ? search(then, [...before, key], between) : undefined;
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
    const wire: Wire = { key: found?.[0] ?? "", notation: { as: "pieces", keys: found ?? [], between } };
    if (found !== undefined && fits(sought, wire)) return wire;
  }
  return undefined;
}

/** Finds a longer text that is made of this field's value and of others' in the same template each time. */
export function template(label: string, slots: readonly Slot[], samples: readonly Sample[]): Wire | undefined {
  // a field that never changed may be a constant of the page
  const texts = (name: string): Set<string> =>
    new Set(samples.flatMap(({ fields: { [name]: value } }) => (value === undefined ? [] : [String(value)])));
  const changed = new Set(Object.keys(samples[0]?.fields ?? {}).filter((name) => texts(name).size > 1));
  for (const { key, nth } of changed.has(label) ? slots : []) {
    if (nth !== undefined) continue;
    const templates = samples.map(({ fields, posted }) => {
      const [raw, ...more] = rawsOf(posted, key);
      if (raw === undefined || more.length > 0 || raw.length > 2000 || !(label in fields)) return undefined;
      return Object.entries(fields)
        .filter(
          ([name, value]) => changed.has(name) && /^(?:string|number)$/.test(typeof value) && String(value).length > 1,
        )
        .sort((a, b) => String(b[1]).length - String(a[1]).length)
        .reduce(
          (text, [name, value]) => (/[{}]/.test(String(value)) ? text : text.replace(String(value), `{${name}}`)),
          raw,
        );
    });
    const known = new Set(templates.filter((one) => one !== undefined));
    const [of] = known;
    if (known.size === 1 && of?.includes(`{${label}}`)) return { key, notation: { as: "part", of } };
  }
  return undefined;
}

/** Why the texts under a key are no codes of a field's values. */
export class NoCode extends Error {}

/** Texts of a page's options with their values. */
type Offers = readonly (readonly [text: string, value: string])[];

/**
 * Finds a key that holds a code for each value of a field that is chosen.
 * @param offers the page's own options, which may give the codes of further values. @param wanted those values.
 * @throws NoCode if one code stands for two values.
 */
export function codes(sought: Sought, offers: Offers, wanted: readonly string[]): Wire | undefined {
  const { kind, isTyped, slots } = sought;
  if (isTyped || !/^(?:text|number|time)$/.test(kind)) return undefined;
  const found = slots.flatMap((slot) => {
    const known = codesUnder(slot, sought);
    return known === undefined ? [] : [{ slot, known, isOwn: areOffered(known, offers) }];
  });
  // of keys with codes of their own none counts where one of them holds one code for two values
  const chosen = found.find(({ isOwn }) => isOwn);
  const all = (chosen === undefined ? found : [chosen]).map(
    ({ slot, known }): Wire => ({ ...slot, notation: { as: "codes", codes: coded(known, offers, wanted) } }),
  );
  return all[0];
}

/** Reads the code of each value under a key; undefined if a submission has none there, or its text is another value. */
function codesUnder({ key, nth }: Slot, sought: Sought): Record<string, string> | undefined {
  const { kind, samples } = sought;
  const known: Record<string, string> = {};
  for (const one of samples) {
    const value = valueIn(sought, one);
    const raws = rawsOf(one.posted, key);
    const [raw, ...more] = nth === undefined ? wholeOf(value, raws) : raws.slice(nth, nth + 1);
    if (raw === undefined || raw === "" || raw.length > 64 || more.length > 0) return undefined;
    known[String(value)] = raw;
  }
  // a number whose point stands elsewhere and another time are no codes but other values
  const isMisread = ([value, raw]: [string, string]): boolean =>
    (kind === "number" && hasDigits(raw, value)) || (kind === "time" && parseTime(raw) !== undefined);
  const pairs = Object.entries(known);
  return pairs.length < 2 || pairs.some(isMisread) ? undefined : known;
}

/** Returns the options that a value names: by their whole text, else by its beginning before a description. */
function named(offers: Offers, value: string): Offers {
  const whole = offers.filter(([text]) => looseLabel(text) === looseLabel(value));
  return whole.length > 0 ? whole : offers.filter(([text]) => text.trim().startsWith(value));
}

/** Lists the values of the options that a value names. */
const offered = (offers: Offers, value: string): string[] => [...new Set(named(offers, value).map(([, code]) => code))];

/** Tells whether codes are those of the page's own options. */
export const areOffered = (codes: Readonly<Record<string, string>>, offers: Offers): boolean =>
  Object.entries(codes).every(([value, code]) => isDeepStrictEqual(offered(offers, value), [code]));

/** Adds the codes that a page's own options give, if they agree with the known ones. @throws NoCode if two values share one. */
function coded(
  known: Readonly<Record<string, string>>,
  offers: Offers,
  wanted: readonly string[],
): Record<string, string> {
  const isOffered = areOffered(known, offers);
  const all = { ...known };
  for (const value of isOffered ? wanted : []) {
    const [code, ...more] = offered(offers, value);
    if (code && more.length === 0) all[value] ??= code;
  }
  for (const [value, code] of Object.entries(all)) {
    const own = named(offers, value);
    const others = isOffered ? offers.filter((one) => !own.includes(one)) : [];
    const [twin] = [...Object.entries(all).filter(([other]) => other !== value), ...others].find(
      ([text, other]) => other === code && looseLabel(text) !== "",
    ) ?? [undefined];
    if (twin !== undefined) throw new NoCode(`${value} and ${twin.trim()} are both sent as ${code}`);
  }
  return all;
}

/** Finds the codes of a list's items, or a key for each item: a text that comes with an item and never without it. */
export function itemCodes(sought: Sought, offers: Offers, wanted: readonly string[]): Wire | undefined {
  const { samples, slots } = sought;
  if (sought.kind !== "list") return undefined;
  const items = [...new Set(samples.flatMap((one) => valueIn(sought, one) as string[]))];
  const has = (one: Sample, item: string): boolean => (valueIn(sought, one) as string[]).includes(item);
  const each = itemKeys(sought, items, has);
  if (each !== undefined) return each;
  for (const list of ["repeated", ","] as const)
    for (const { key, nth } of slots) {
      const got = samples.map((one) => itemsIn(rawsOf(one.posted, key), list));
      // a separator after the last item was typed: the text is no list
      if (samples.some(({ posted }) => rawsOf(posted, key)[0]?.trim().endsWith(list) === true)) continue;
      if (
        nth !== undefined ||
        !got.every((raws, i) => raws.length === (valueIn(sought, samples[i] as Sample) as string[]).length)
      )
        continue;
      const possible = [...new Set(got.flat())];
      const known = Object.fromEntries(
        matched(items, possible, (item, raw) => samples.every((one, i) => has(one, item) === got[i]?.includes(raw))),
      );
      if (Object.keys(known).length > 0 && new Set(got.flat()).size === items.length)
        return { key, notation: { as: "codes", codes: coded(known, offers, wanted) }, list };
    }
  return undefined;
}

/** Finds a key for each item of a list, whose text differs between a chosen item and one that is not chosen. */
function itemKeys(
  { samples, slots }: Sought,
  items: readonly string[],
  has: (one: Sample, item: string) => boolean,
): Wire | undefined {
  const says = new Map<string, Map<string, string>>();
  for (const { key } of slots)
    for (const item of items) {
      const raws = (chosen: boolean): (string | null)[] => [
        ...new Set(samples.filter((one) => has(one, item) === chosen).map((one) => rawsOf(one.posted, key)[0] ?? null)),
      ];
      const [[on, ...more], [off, ...others]] = [raws(true), raws(false)];
      if (!on || off === undefined || more.length + others.length > 0 || on === off) continue;
      const how = JSON.stringify([on, off]);
      says.set(how, (says.get(how) ?? new Map()).set(JSON.stringify([item, key]), key));
    }
  for (const [how, pairs] of says) {
    const [on, off] = JSON.parse(how) as [string, string | null];
    const keys = Object.fromEntries(
      matched(items, [...new Set(pairs.values())], (item, key) => pairs.has(JSON.stringify([item, key]))),
    );
    const [key, ...more] = Object.values(keys);
    if (key !== undefined && more.length > 0) return { key, notation: { as: "each", keys, on, off } };
  }
  return undefined;
}

/** Pairs what has one possible partner only, again and again: a partner that is taken leaves the others fewer. */
function matched(
  items: readonly string[],
  partners: readonly string[],
  fits: (item: string, partner: string) => boolean,
): Map<string, string> {
  const found = new Map<string, string>();
  for (let before = -1; found.size > before; ) {
    before = found.size;
    for (const item of items.filter((one) => !found.has(one))) {
      const free = partners.filter((one) => ![...found.values()].includes(one) && fits(item, one));
      if (free.length === 1) found.set(item, free[0] as string);
    }
  }
  return found;
}

/** Lists the values of a field in tasks that its wire does not know yet. */
export function openIn({ notation }: Wire, values: readonly FieldValue[]): string[] {
  const known = notation.as === "codes" ? notation.codes : notation.as === "each" ? notation.keys : undefined;
  const all = values
    .filter((value) => !isBlank(value))
    .flatMap((value) => (Array.isArray(value) ? value : [String(value)]));
  return known === undefined ? [] : [...new Set(all)].filter((value) => !Object.hasOwn(known, value));
}
