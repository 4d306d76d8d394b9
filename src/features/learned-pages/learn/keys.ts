/** Tells from plays of one form, in which one field after the other was changed, which keys belong to which field. */
import { type Exchange, nameOf, pathOf, pathPattern } from "../../../env/browser/network/exchange.js";
import type { Wire } from "../../../env/forms/contract.js";
import { innermost } from "../../../env/forms/native.js";
import { looseLabel } from "../../../env/forms/normalize.js";
import type { Kind } from "../../../env/forms/values.js";
import { counted, isBlank, rawsOf, type Sample, uploaded } from "../../../env/forms/wire.js";
import type { FieldValue } from "../../../env/site.js";
import { canonical } from "../values.js";
import { codes, itemCodes, NoCode, readable, type Slot, type Sought, template } from "./notations.js";
import type { Options } from "./offered-options.js";

/** Values by label. */
export type Values = Readonly<Record<string, FieldValue>>;

/** A field whose keys are sought. */
export interface Field {
  readonly label: string;
  readonly kind: Kind;
  /** All values that the tasks have. */
  readonly values: readonly FieldValue[];
  /** Set if the value is typed: then a text that does not read as the value is no code of it. */
  readonly isTyped: boolean;
  /** The control's own name, if it has one. */
  readonly name?: string | undefined;
  /** A key that a person has declared. */
  readonly wire?: Wire | undefined;
}

/** One play of the form. */
export interface Run {
  /** The values that were entered. A label is missing if its field was hidden, or could not be operated. */
  readonly entered: Values;
  /** All requests since the page was opened, in their order. */
  readonly exchanges: readonly Exchange[];
  /** The options that the page offers for each label. */
  readonly options: Readonly<Record<string, Options>>;
}

/** The request that holds a form's values, the keys of its fields, and why other fields have none. */
export interface Proof {
  readonly request: { readonly method: string; readonly path: string } | undefined;
  readonly wires: ReadonlyMap<string, Wire>;
  readonly reasons: ReadonlyMap<string, string>;
}

type Request = NonNullable<Proof["request"]>;

/** Most texts under one key that are looked at one by one. */
const MOST_SHARED = 12;

const isSent = ({ phase, how }: Exchange): boolean => phase === "submit" && how !== "beacon";

/** Lists the requests after the press, in the order in which the first play sent them last; a part of a path that differs is `*`. */
function requestsIn(runs: readonly Run[]): Request[] {
  const found: { method: string; path: string }[] = [];
  for (const { exchanges } of runs) {
    const sent = exchanges.filter(isSent).reverse();
    const isHere = ({ method, path }: Request): boolean => sent.some((e) => e.method === method && pathOf(e) === path);
    const fresh: Request[] = [];
    for (const e of sent) {
      const [method, path] = [e.method, pathOf(e)];
      const isKnown = (one: Request): boolean => one.method === method && pathPattern(one.path, path) === one.path;
      if (found.some(isKnown) || fresh.some(isKnown)) continue;
      const like = found.find((one) => one.method === method && !isHere(one) && pathPattern(one.path, path));
      if (like !== undefined) like.path = pathPattern(like.path, path) as string;
      else fresh.push({ method, path });
    }
    found.unshift(...fresh.reverse());
  }
  return found;
}

const lastOf = ({ method, path }: Request, { exchanges }: Run): Exchange | undefined =>
  exchanges.findLast((e) => isSent(e) && e.method === method && pathPattern(path, pathOf(e)) === path);

/** Lists the plays that sent a request, with what they entered and what came. @param saves declared requests before the press. */
function samplesOf(request: Request, runs: readonly Run[], saves: readonly string[]): Sample[] {
  return runs.flatMap((run) => {
    const form = lastOf(request, run);
    if (form === undefined) return [];
    const before = run.exchanges.filter(({ phase }) => phase !== "submit");
    const saved = uploaded(before, form, saves).filter(([key]) =>
      saves.some((save) => key.startsWith(`before ${save} `)),
    );
    return [{ fields: run.entered, posted: [...form.posted, ...saved] }];
  });
}

/** A place in requests, with its texts in all submissions. */
interface Place extends Slot {
  readonly texts: readonly (string | undefined)[];
}

/** Lists the places of all texts: each key, and each of several texts under a key. */
function placesIn(samples: readonly Sample[]): Place[] {
  const keys = new Set(samples.flatMap(({ posted }) => posted.flatMap(([key]) => [key, counted(key)])));
  return [...keys]
    .filter((key) => key !== "")
    .flatMap((key): Place[] => {
      const all = samples.map(({ posted }) => rawsOf(posted, key));
      const saved = key.startsWith("before ") ? all.map((raws) => raws.slice(-1)) : all;
      const count = all[0]?.length ?? 0;
      const isShared = count > 1 && count <= MOST_SHARED && all.every((raws) => raws.length === count);
      const each = Array.from({ length: isShared ? count : 0 }, (_, nth) => nth);
      return [
        { key, texts: saved.map((raws) => JSON.stringify(raws)) },
        ...each.map((nth) => ({ key, nth, texts: all.map((raws) => raws[nth]) })),
      ];
    });
}

/**
 * Tells whether a place follows a field: its text is the same wherever the field's value is, and was another one where
 * that was. A play that did not enter the field says nothing about it.
 */
function follows({ texts }: Place, { label, kind }: Field, samples: readonly Sample[]): boolean {
  const known = samples.flatMap(({ fields: { [label]: value } }, i) =>
    value === undefined ? [] : [{ value: canonical(kind, value), text: texts[i] }],
  );
  const byValue = new Map(known.map(({ value, text }) => [value, text]));
  return known.every(({ value, text }) => byValue.get(value) === text) && new Set(byValue.values()).size > 1;
}

/** Proves the keys of all fields within one kind of request. */
function provedIn(fields: readonly Field[], samples: readonly Sample[], options: (label: string) => Options) {
  const wires = new Map<string, Wire>();
  const reasons = new Map<string, string>();
  const places = placesIn(samples);
  const owners = new Map(places.map((place) => [place, fields.filter((field) => follows(place, field, samples))]));
  for (const field of fields) {
    const { label, kind } = field;
    const isNamed = ({ key }: Place): boolean => looseLabel(innermost(key)) === looseLabel(label);
    const near = places.filter((place) => owners.get(place)?.includes(field));
    const own = near
      .filter((place) => owners.get(place)?.length === 1)
      .sort((a, b) => Number(isNamed(b)) - Number(isNamed(a)));
    const known = samples.filter(
      ({ fields: { [label]: value } }) => value !== undefined && (kind === "flag" || !isBlank(value)),
    );
    const sought: Sought = { label, kind, isTyped: field.isTyped, samples: known, slots: own.map(bare) };
    const wanted = field.values.filter((value) => !isBlank(value)).flatMap((value) => [value].flat().map(String));
    try {
      const wire =
        field.wire ??
        readable(sought) ??
        template(label, places.map(bare), samples) ??
        codes(sought, options(label), wanted) ??
        itemCodes(sought, options(label), wanted);
      if (wire !== undefined) wires.set(label, wire);
      else reasons.set(label, whyNot(field, { own, near, owners, known }));
    } catch (error) {
      if (!(error instanceof NoCode)) throw error;
      reasons.set(label, error.message);
    }
  }
  const following = fields.filter(
    (field) => wires.has(field.label) || [...owners.values()].some((own) => own.includes(field)),
  ).length;
  return { wires, reasons, following };
}

const bare = ({ key, nth }: Place): Slot => ({ key, ...(nth === undefined ? {} : { nth }) });

function whyNot(
  { label, kind }: Field,
  found: {
    readonly own: readonly Place[];
    readonly near: readonly Place[];
    readonly owners: ReadonlyMap<Place, readonly Field[]>;
    readonly known: readonly Sample[];
  },
): string {
  const values = new Set(found.known.map(({ fields: { [label]: value } }) => canonical(kind, value as FieldValue)));
  const [own] = found.own;
  if (values.size < 2) return "it was never changed alone: no task and no option gives it another value";
  if (own !== undefined) return `the texts under ${own.key} change with it, but do not read as its values`;
  const [shared] = found.near;
  const others = shared && found.owners.get(shared)?.filter((one) => one.label !== label);
  if (shared !== undefined) return `${shared.key} changes with ${others?.map((one) => one.label).join(", ")} too`;
  return "no text that was sent after the press changes with it alone";
}

/**
 * Proves which keys belong to which fields. The form's request is the last of those that change with most fields.
 * @param runs plays of one base, and of the same with one field changed at a time.
 * @param saves requests before the press that are declared to save fields.
 */
export function proved(fields: readonly Field[], runs: readonly Run[], saves: readonly string[]): Proof {
  const options = (label: string): Options => runs.flatMap((run) => run.options[label] ?? []);
  let best: (Proof & { readonly samples: readonly Sample[]; readonly following: number }) | undefined;
  const all = requestsIn(runs).map((request) => {
    const samples = samplesOf(request, runs, saves);
    return { request, samples, ...provedIn(fields, samples, options) };
  });
  for (const one of all) if (one.following >= (best?.following ?? 1)) best = one;
  if (best === undefined) return { request: undefined, wires: new Map(), reasons: new Map() };
  const [wires, reasons] = [new Map(best.wires), new Map(best.reasons)];
  for (const field of fields.filter(({ label }) => !wires.has(label))) {
    const { label } = field;
    const plain = plainKey(field, best.request as Request, runs, best.samples);
    if (plain !== undefined) wires.set(label, plain);
    if (plain !== undefined) reasons.delete(label);
    const other = all.find((one) => one.wires.has(label));
    const early = other === undefined ? earlier(field, runs) : undefined;
    if (other !== undefined && plain === undefined)
      reasons.set(label, `only ${other.request.method} ${other.request.path} has it, not the form's own request`);
    if (early !== undefined)
      reasons.set(
        label,
        `only ${early} has it, before the form is sent: declare that in \`saves\` if it keeps the value`,
      );
  }
  return { request: best.request, wires, reasons };
}

/**
 * Returns the key of a field that nothing could change, in a form that the browser posts by itself: its control's name.
 * A box that has to be ticked is such a field.
 */
function plainKey(
  { label, kind, name }: Field,
  request: Request,
  runs: readonly Run[],
  samples: readonly Sample[],
): Wire | undefined {
  const isPlain = runs.every((run) => (lastOf(request, run)?.how ?? "navigation") === "navigation");
  const known = samples.filter(({ fields }) => fields[label] !== undefined);
  const [value, ...others] = new Set(known.map(({ fields }) => fields[label]));
  if (name === undefined || !isPlain || value === undefined || others.length > 0 || kind === "list") return undefined;
  const [raw = "", ...more] = new Set(known.flatMap(({ posted }) => rawsOf(posted, name)));
  const isOne = more.length === 0 && known.every(({ posted }) => rawsOf(posted, name).length === 1);
  if (!isOne || (kind === "flag" ? value !== true : raw !== String(value))) return undefined;
  return { key: name, notation: kind === "flag" ? { as: "flag", on: raw, off: null } : { as: "same" } };
}

/** Names a request before the press that holds a field's values. */
function earlier({ label }: Field, runs: readonly Run[]): string | undefined {
  const holds = ({ entered: { [label]: value }, exchanges }: Run): string[] =>
    exchanges
      .filter(
        ({ phase, method, posted }) =>
          phase !== "submit" && method !== "GET" && posted.some(([, raw]) => raw === value),
      )
      .map(nameOf);
  const [first = [], ...others] = runs.filter(({ entered }) => entered[label] !== undefined).map(holds);
  return first.find((name) => others.every((names) => names.includes(name)));
}
