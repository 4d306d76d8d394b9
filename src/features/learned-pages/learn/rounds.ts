import { nameOf } from "../../../env/browser/network/exchange.js";
import type { Wire } from "../../../env/forms/contract.js";
import { isError } from "../../../env/forms/judge.js";
import type { PostedPair } from "../../../env/forms/posted.js";
import type { Kind } from "../../../env/forms/values.js";
import { type Sample, uploaded } from "../../../env/forms/wire.js";
import type { Attempt, Play, Submitted } from "./attempt.js";
import type { LearnedField } from "./candidates.js";
import { claimed, explain, isLeftOf, LIKENESS, type Observed } from "./explain.js";
import { type Person, RESTS_MS, type SearchState } from "./fill-in.js";
import { exchangeIn } from "./verdict.js";

/** Shares of the time and of the submissions after which the search, the confirmation and the verdict end. */
export const SHARES = { search: 0.7, confirmation: 0.8, verdict: 0.9, codes: 1 } as const;
/** Most rounds with the same result, and most faults of the environment in a row. */
const MOST_SAME = 10;
const MOST_FAULTS = 2;

/** A search of one form. */
export interface Search {
  readonly progress: SearchState;
  readonly persons: Person[];
  readonly play: Play;
  /** Attempts in which values were missing. */
  readonly earlier: Submitted[];
  /** The last complaint of the page or its server. */
  words: string;
  /** Tells whether this share of the time or of the submissions is used up. */
  isOver(share: number): boolean;
  /** Reports a finding, with what it cost so far. */
  note(text: string): void;
}

/** Fills in and sends until every value arrives, or time is over. @returns the submissions of the best round. */
export async function rounds(search: Search, persons: readonly Person[] = search.persons): Promise<Submitted[]> {
  const { progress, play, earlier, note } = search;
  const { fields } = progress;
  let sure: Submitted[] = [];
  let [still, same, faults, before] = [0, 0, 0, ""];
  /** Number of wrong fields before a pause was tried; undefined until then. */
  let unrested: number | undefined;
  for (let last = false; ; ) {
    const played: Submitted[] = [];
    let wrong: LearnedField[] = [];
    for (const [i, person] of persons.entries()) {
      const result = await play(person, i === 0);
      faults = result === undefined ? faults + 1 : 0;
      if (result === undefined) continue;
      search.words = summaryOf(result);
      if (result.exchange === undefined) {
        wrong = suspectsOf(progress, result);
        if (last) continue;
        break;
      }
      const entered = Object.entries(person).filter(([label]) => !result.absent.includes(label));
      played.push({ person: Object.fromEntries(entered), attempt: result });
      // a field that is given up does not stop the search for others
      wrong = unexplained(progress, played, i === persons.length - 1).filter((field) => !field.isLost);
      if (wrong.length > 0) earlier.push(...played.slice(-1));
      if (wrong.length > 0 && i < persons.length - 1) break;
    }
    const open = wrong.length > 0 ? `; not yet ${wrong.map(({ label }) => label).join(", ")}` : "";
    const held = fields.filter((field) => !wrong.includes(field) && !field.isLost).length;
    const line = `${held} of ${fields.length} fields${open}; ${search.words}`;
    if (faults === 0) note(line);
    if (last && played.length > 0) unexplained(progress, played, true);
    if (played.length > sure.length || wrong.length === 0) sure = played;
    if (wrong.length === 0 && played.length === persons.length) return played;
    if (progress.piecemeal !== undefined) {
      search.words = `the page sends each field by itself while it is filled in (${progress.piecemeal}): no request holds the form`;
      progress.request = undefined;
      return [];
    }
    if (last) break;
    // a page may take a value over late, or change it back
    if (unrested === undefined && wrong.length > 0 && wrong.every((field) => field.isSure)) {
      unrested = wrong.length;
      progress.restsMs = RESTS_MS;
      continue;
    }
    if (unrested !== undefined && wrong.length >= unrested) progress.restsMs = 0;
    // a way is tried once more if an earlier try had changed the field, or the page was slow
    const moved = wrong.map((field) => {
      const isRetried = !field.isClean || field.isWorthRound();
      field.isClean = true;
      return isRetried || (field.surveyed && field.advance("wrong"));
    });
    same = line === before ? same + 1 : 0;
    before = line;
    // one more round without the missing fields confirms the rest
    last =
      search.isOver(SHARES.search) ||
      same >= MOST_SAME ||
      faults > MOST_FAULTS ||
      (!moved.some(Boolean) && ++still > 1);
    if (last) for (const field of wrong) field.isGivenUp = true;
  }
  return sure;
}

/** Most texts of a page that are quoted, and most characters of an answer. */
const MOST_QUOTED = 3;
const MOST_LETTERS = 160;

/** Summarises an attempt: the request of the form, its answer, and the texts of the page. */
function summaryOf({ exchange, complaints, before, after }: Attempt): string {
  const fresh = after
    .filter((line) => !before.includes(line) && line.startsWith("shows "))
    .map((line) => line.slice(6));
  const quoted = [...new Set([...complaints, ...fresh])].slice(0, MOST_QUOTED).map((text) => JSON.stringify(text));
  const words = quoted.length === 0 ? "" : `; the page says ${quoted.join(", ")}`;
  if (exchange === undefined) return `nothing sent${words}`;
  const { status = Number.NaN, text = "" } = exchange.answer ?? {};
  const own = words === "" && isError(status) ? ` ${text.slice(0, MOST_LETTERS)}` : "";
  return `${nameOf(exchange)}: ${Number.isNaN(status) ? "no answer" : `HTTP ${status}`}${own}${words}`;
}

/** Lists what a submission holds in the form's request, and what the page sent before it. */
export function postedBy(attempt: Attempt, { request, saves }: SearchState): PostedPair[] {
  const exchange = (request && exchangeIn(attempt, request)) ?? attempt.exchange;
  return exchange === undefined ? [] : [...exchange.posted, ...uploaded(attempt.exchanges, exchange, saves)];
}

/** Lists fields whose values the requests do not hold. @param all whether every person's values were entered. */
export function unexplained(progress: SearchState, played: readonly Submitted[], all: boolean): LearnedField[] {
  const { fields } = progress;
  const samples = played.map(
    ({ person, attempt }): Observed => ({
      fields: person,
      posted: postedBy(attempt, progress),
      options: attempt.options,
    }),
  );
  const taken = new Set<string>();
  const wrong: LearnedField[] = [];
  const missed = new Set(played.flatMap(({ attempt: { failed } }) => failed));
  const found = new Set<LearnedField>();
  const sorted = [...fields].sort((a, b) => order(a) - order(b));
  const claims = sorted.map((field) => ({ field, keys: claimed(field.label, field.kind, samples) }));
  const others = (of: LearnedField): string[] => claims.flatMap(({ field, keys }) => (field === of ? [] : keys));
  // known notations come first, then codes under the keys that resemble the label most
  for (const likeness of LIKENESS)
    for (const field of sorted) {
      const { label, kind } = field;
      const relevant = samples.filter((sample) => label in sample.fields);
      if (relevant.length === 0 || found.has(field)) continue;
      const isSure = field.isSure || field.good !== undefined;
      const degree = field.isPicked || kind === "flag" ? likeness : LIKENESS[0];
      const wire = explain(
        label,
        kind,
        samples,
        isSure,
        new Set([...taken, ...others(field)]),
        degree,
        field.isFreeText,
      );
      if (wire !== undefined) {
        found.add(field);
        for (const key of keysOf(wire)) taken.add(key);
        field.wire = wire;
        if (all) field.good = field.current?.operation;
      } else if (likeness === 0 && (all || isPlain(field, relevant, taken))) {
        if (!missed.has(label) || field.current !== undefined) wrong.push(field);
        field.cut ??= cutIn(relevant, label);
      }
    }
  return wrong;
}

/** Lists all keys that hold a value. */
function keysOf({ key, notation }: Wire): string[] {
  if (notation.as === "ends") return [notation.from, notation.to];
  if (notation.as === "parts") return [notation.year, notation.month, notation.day];
  if (notation.as === "pieces") return [...notation.keys];
  return notation.as === "each" ? Object.values(notation.keys) : [key];
}

/** Finds a text of a request that is most of a value, but not all of it. */
function cutIn(relevant: readonly Sample[], label: string): { readonly key: string; readonly raw: string } | undefined {
  for (const { fields, posted } of relevant) {
    const value = String(fields[label]);
    const isCut = (raw: string): boolean => raw !== value && raw.length * 2 > value.length && isLeftOf(raw, value);
    const found = posted.find(([, raw]) => isCut(raw));
    if (found !== undefined) return { key: found[0], raw: found[1] };
  }
  return undefined;
}

/** Ranks fields by kind: kinds that are recognised most surely come first and take their keys. */
const order = ({ kind }: LearnedField): number =>
  ["text", "date", "range", "moment", "time", "file", "number", "list", "flag"].indexOf(kind);

/** Tells whether one submission proves that a value did not arrive, as no code can stand for the value. */
function isPlain({ label, kind }: LearnedField, relevant: readonly Sample[], taken: ReadonlySet<string>): boolean {
  if (kind === "flag") return false;
  const text = String(relevant[0]?.fields[label] ?? "");
  // the value may be part of a longer text, which further persons' values will show
  if (
    text.length > (kind === "number" ? 4 : 3) &&
    relevant[0]?.posted.some(([key, raw]) => !taken.has(key) && raw.includes(text))
  )
    return false;
  if (["date", "time", "moment", "range", "number", "file"].includes(kind)) return true;
  const free = relevant.flatMap(({ posted }) => posted.filter(([key, value]) => !taken.has(key) && value !== ""));
  return free.length === 0 || text.length > 40;
}

/** Kinds of fields, ordered by how often a field shows a value that it does not hold, most often first. */
const LEAST_RELIABLE: readonly Kind[] = ["date", "moment", "range", "time", "list", "text", "number", "file", "flag"];

/** Finds the fields that may prevent sending: invalid ones, else failed ones, else those that are not sure. */
function suspectsOf(progress: SearchState, { invalid, failed }: Attempt): LearnedField[] {
  const by = (labels: readonly string[]): LearnedField[] =>
    progress.fields.filter(({ label }) => labels.includes(label));
  for (const suspects of [by(invalid), by(failed), progress.fields.filter((field) => !field.isSure)]) {
    const open = suspects.filter(({ good }) => good === undefined);
    if (open.length > 0) return open;
    // a way that worked for one person's value may fail for another's
    if (suspects.length > 0) return suspects;
  }
  // no field is in doubt: the page may have been slow, else one field is operated otherwise, the least tried first
  if (progress.silent++ === 0) return [];
  const [suspect] = progress.fields
    .filter(({ good, isLost }) => good === undefined && !isLost)
    .sort((a, b) => a.wrongs - b.wrongs || LEAST_RELIABLE.indexOf(a.kind) - LEAST_RELIABLE.indexOf(b.kind));
  return suspect === undefined ? [] : [suspect];
}
