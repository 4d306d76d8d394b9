import type { EpisodeRunner } from "../../browser/episode.js";
import { nameOf } from "../../browser/network/exchange.js";
import type { Session } from "../../browser/session.js";
import { isError } from "../../forms/judge.js";
import type { PostedPair } from "../../forms/posted.js";
import type { FieldValue, Task } from "../../site.js";
import type { Contract } from "../contract.js";
import { openPage, waysOf } from "../operate.js";
import { type Shown, shownIn } from "../place.js";
import { structureHash } from "../structure.js";
import { canonical, type Kind, kindOfAll } from "../values.js";
import { carries, keysOf, type Sample, uploaded } from "../wire.js";
import { type Attempt, attempt, type LearnLimits, type Play, type Submitted } from "./attempt.js";
import { LearnedField } from "./candidates.js";
import { isCoded, isOffered, learnCodes, learnOne } from "./codes.js";
import { claimed, explain, isLeftOf, LIKENESS, type Observed } from "./explain.js";
import { type Person, Progress, RESTS_MS } from "./fill-in.js";
import { exchangeIn, learnVerdict } from "./verdict.js";

/** Most persons that a form is learned from; of three or more one is left to confirm it. */
const MOST_PERSONS = 3;
/** Shares of the time and of the submissions after which the search, the confirmation and the verdict end. */
const SHARES = { search: 0.7, confirmation: 0.8, verdict: 0.9, codes: 1 } as const;
/** Most rounds with the same result, and most faults of the environment in a row. */
const MOST_SAME = 10;
const MOST_FAULTS = 2;

/** A search of one form. */
interface Search {
  readonly progress: Progress;
  readonly persons: Person[];
  readonly play: Play;
  /** Attempts in which values were missing. */
  readonly earlier: Submitted[];
  /** What the page or its server said last. */
  words: string;
  /** Tells whether this share of the time or of the submissions is used up. */
  isOver(share: number): boolean;
  /** Reports a finding, with what it cost so far. */
  note(text: string): void;
}

/**
 * Learns a form by sending known values to its server: the requests show which way operates each control, and under
 * which key its value stands.
 * @param tasks tasks of this form with different values.
 * @param given fields that are known already: written by hand, or from an earlier search.
 * @returns the contract, and what the page or its server said last.
 */
export async function learnForm(
  runner: EpisodeRunner,
  tasks: readonly Task[],
  limits: LearnLimits,
  tell: (text: string) => void,
  given: Partial<Contract["fields"]> = {},
): Promise<{ readonly contract: Contract; readonly words: string }> {
  const task = tasks[0] as Task;
  const start = performance.now();
  const end = start + limits.formMs;
  const ways = await waysOf(Object.values(given).map((field) => field?.way ?? ""));
  const fields = [...valuesByLabel(tasks)].map(
    ([label, all]) => new LearnedField(label, kindOfAll(all), ways, all, limits.formMs, given[label]),
  );
  const progress = new Progress(task.url, ways, fields);
  const page = await untouched(runner, task, fields, end);
  const { persons, spare } = unlike(tasks, fields);
  const search: Search = {
    progress,
    persons,
    earlier: [],
    words: "",
    isOver: (share) =>
      performance.now() > start + share * limits.formMs || progress.sent >= Math.ceil(share * limits.submissions),
    note: (text) =>
      tell(`${task.form}: ${text} (${progress.sent} submissions, ${Math.round((performance.now() - start) / 1000)} s)`),
    async play(person, isSearch) {
      if (search.isOver(SHARES.codes)) return undefined;
      const work = (session: Session): Promise<Attempt> => attempt(session, progress, person, isSearch);
      const played = await runner.converse(work, limits.attemptMs, end);
      if (!("fault" in played)) return played.result;
      search.words = `${played.fault}${progress.at === undefined ? "" : `, after ${progress.at} was entered`}`;
      search.note(search.words);
      return undefined;
    },
  };
  const found = await repeated(search, await confirmed(search, await rounds(search), spare));
  const verdict = await learnVerdict(search, found);
  heldBy(search, found, verdict.request);
  if (!search.isOver(SHARES.verdict)) await learnCodes(tasks, fields, found, search.play);
  const missing = fields.filter((field) => field.good === undefined);
  search.note(`learned ${fields.length - missing.length} of ${fields.length} fields`);
  const { request: _, ...answers } = verdict;
  const contract = {
    form: task.form,
    url: task.url,
    page,
    fields: Object.fromEntries(fields.flatMap((field) => entryOf(field))),
    steps: progress.steps,
    ...(progress.submit === undefined ? {} : { submit: progress.submit }),
    confirm: progress.confirm,
    ...(progress.request === undefined ? {} : { request: progress.request }),
    rests_ms: progress.restsMs,
    sends_within_ms: progress.sendsWithinMs,
    ...answers,
    not_learned: Object.fromEntries(missing.map((field) => [field.label, field.tried])),
  };
  return { contract, words: search.words };
}

/**
 * Plays persons that the form was not learned from, until every value of one arrives; what does not is searched again
 * with that person's values. @returns the attempts of the last round, and the one that confirms it.
 */
async function confirmed(search: Search, found: Submitted[], spare: Task[]): Promise<Submitted[]> {
  const { progress, persons, play, note } = search;
  let right = found;
  while (progress.request !== undefined && !search.isOver(SHARES.confirmation)) {
    const person = spare.shift()?.fields;
    if (person === undefined) {
      note(`not confirmed on a person of its own: ${persons.length} tasks are too few`);
      break;
    }
    const attempt = await play(person, false);
    if (attempt === undefined) continue;
    const one = { person, attempt };
    const missed = missedBy(progress, one);
    if (missed.length === 0) {
      for (const field of progress.fields) learnOne(field, one, progress.fields);
      return [...right, one];
    }
    note(`not confirmed: ${missed.map(({ label }) => label).join(", ")} of a further person did not arrive`);
    persons.push(person);
    right = await rounds(search);
  }
  return right;
}

/**
 * Plays the first person again if a field has codes that the page's options do not confirm: the same value has to be
 * sent in the same way, which a number that counts on, or a token, is not.
 */
async function repeated(search: Search, found: Submitted[]): Promise<Submitted[]> {
  const { progress, persons, play } = search;
  const [person] = persons;
  if (person === undefined || found.length === 0 || progress.fields.every((field) => isOffered(field, found)))
    return found;
  const attempt = await play(person, false);
  if (attempt?.exchange === undefined) return found;
  const right = [...found, { person, attempt }];
  for (const field of unexplained(progress, right, true)) field.lose();
  return right;
}

/** Lists the learned fields whose values of a person a submission does not hold. */
function missedBy(progress: Progress, { person, attempt }: Submitted): LearnedField[] {
  const { fields } = progress;
  const posted = postedBy(attempt, progress);
  return fields.filter(({ label, kind, good, wire }, i) => {
    const value = person[label];
    if (good === undefined || wire === undefined || value === undefined || attempt.absent.includes(label)) return false;
    return isCoded(fields[i] as LearnedField, value) && !carries(wire, kind, value, posted, person);
  });
}

/** Takes another request for the form's, if its answers show that, and explains it anew. */
function heldBy({ progress, note }: Search, right: readonly Submitted[], request: Contract["request"]): void {
  const before = progress.request;
  if (request === undefined || (request.method === before?.method && request.path === before.path)) return;
  progress.request = request;
  for (const field of unexplained(progress, right, true)) field.lose();
  note(`${request.method} ${request.path} is the form's request: its answer differs for a form that is not complete`);
}

function entryOf(field: LearnedField): [string, Contract["fields"][string]][] {
  const { good, wire, kind, label, step, default: preset } = field;
  // an operation whose value the page showed is kept even if nothing was sent
  const found = good ?? (field.isSure ? field.current?.operation : undefined);
  if (found === undefined) return [];
  return [[label, { ...found, kind, step, default: preset, ...(wire && { wire }), hand: field.byHand }]];
}

function valuesByLabel(tasks: readonly Task[]): Map<string, FieldValue[]> {
  const values = new Map<string, FieldValue[]>();
  for (const { fields } of tasks)
    for (const [label, value] of Object.entries(fields)) values.set(label, [...(values.get(label) ?? []), value]);
  return values;
}

/** Reads the preset of each field from the fresh page. @returns a hash of its structure; empty after a fault. */
async function untouched(
  runner: EpisodeRunner,
  task: Task,
  fields: readonly LearnedField[],
  end: number,
): Promise<string> {
  const read = await runner.converse(
    async (session: Session) => {
      const labels = fields.map(({ label }) => label);
      await openPage(session, task.url, labels);
      const shown = await shownIn(session, labels);
      return { shown, hash: await structureHash(session.view) };
    },
    undefined,
    end,
  );
  if ("fault" in read) return "";
  fields.forEach((field, i) => {
    field.readPreset(read.result.shown[i] as Shown);
  });
  return read.result.hash;
}

/**
 * Chooses persons whose values differ in as many fields as possible. The first one has a value for every field, and the
 * first two differ at every checkbox.
 * @returns the persons to learn from, and the other tasks.
 */
function unlike(tasks: readonly Task[], fields: readonly LearnedField[]): { persons: Person[]; spare: Task[] } {
  const persons: Person[] = [];
  const rest = [...tasks];
  const most = Math.min(MOST_PERSONS, Math.max(2, tasks.length - 1));
  while (persons.length < most && rest.length > 0) {
    const differs = (task: Task): number =>
      fields.filter(
        ({ label, kind }) =>
          label in task.fields &&
          persons.every(
            (p) =>
              label in p &&
              canonical(kind, p[label] as FieldValue) !== canonical(kind, task.fields[label] as FieldValue),
          ),
      ).length;
    const best = rest.reduce((top, task) => (differs(task) > differs(top) ? task : top));
    rest.splice(rest.indexOf(best), 1);
    persons.push({ ...best.fields });
  }
  const [first = {}, second] = persons;
  const busy: Record<string, FieldValue> = { ...first };
  const idle: Record<string, FieldValue> = { ...(second ?? first) };
  for (const field of fields) {
    const { label, kind } = field;
    const filled = tasks.map((task) => task.fields[label]).find((value) => value !== undefined && value !== "");
    const now = busy[label];
    if (kind === "flag") {
      if (label in busy) busy[label] = field.default !== true;
      if (label in idle) idle[label] = field.default === true;
    } else if (kind === "list" && now !== undefined) {
      // the first person gets the longest list in exchange for its own
      const longest = persons
        .map(({ [label]: list }) => list)
        .reduce((top, list) => (Array.isArray(list) && list.length > (top as string[]).length ? list : top), now);
      const from = persons.findIndex(({ [label]: list }) => list === longest);
      busy[label] = longest as FieldValue;
      if (from === 1) idle[label] = now;
      else if (from > 1) persons[from] = { ...persons[from], [label]: now };
    } else if (now === "" && filled !== undefined) busy[label] = filled;
  }
  return { persons: [busy, idle, ...persons.slice(2)], spare: rest };
}

/** Fills in and sends until every value arrives, or time is over. @returns the submissions of the best round. */
async function rounds(search: Search): Promise<Submitted[]> {
  const { progress, persons, play, earlier, note } = search;
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
      search.words = spoken(result);
      if (result.exchange === undefined) {
        wrong = blamed(progress, result);
        if (last) continue;
        break;
      }
      const there = Object.entries(person).filter(([label]) => !result.absent.includes(label));
      played.push({ person: Object.fromEntries(there), attempt: result });
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
      const again = !field.isClean || field.isWorthRound();
      field.isClean = true;
      return again || (field.surveyed && field.advance("wrong"));
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

/** Says what became of an attempt: the form's request and its answer, and the page's own words. */
function spoken({ exchange, said, before, after }: Attempt): string {
  const fresh = after
    .filter((line) => !before.includes(line) && line.startsWith("shows "))
    .map((line) => line.slice(6));
  const quoted = [...new Set([...said, ...fresh])].slice(0, MOST_QUOTED).map((text) => JSON.stringify(text));
  const words = quoted.length === 0 ? "" : `; the page says ${quoted.join(", ")}`;
  if (exchange === undefined) return `nothing sent${words}`;
  const { status = Number.NaN, text = "" } = exchange.answer ?? {};
  const own = words === "" && isError(status) ? ` ${text.slice(0, MOST_LETTERS)}` : "";
  return `${nameOf(exchange)}: ${Number.isNaN(status) ? "no answer" : `HTTP ${status}`}${own}${words}`;
}

/** Lists what a submission holds in the form's request, and what the page sent before it. */
function postedBy(attempt: Attempt, { request }: Progress): PostedPair[] {
  const exchange = (request && exchangeIn(attempt, request)) ?? attempt.exchange;
  return exchange === undefined ? [] : [...exchange.posted, ...uploaded(attempt.exchanges, exchange)];
}

/** Lists fields whose values the requests do not hold. @param all whether every person's values were entered. */
function unexplained(progress: Progress, played: readonly Submitted[], all: boolean): LearnedField[] {
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
      const told = samples.filter((sample) => label in sample.fields);
      if (told.length === 0 || found.has(field)) continue;
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
      } else if (likeness === 0 && (all || isPlain(field, told, taken))) {
        if (!missed.has(label) || field.current !== undefined) wrong.push(field);
        field.cut ??= cutIn(told, label);
      }
    }
  return wrong;
}

/** Finds a text of a request that is most of a value, but not all of it. */
function cutIn(told: readonly Sample[], label: string): { readonly key: string; readonly raw: string } | undefined {
  for (const { fields, posted } of told) {
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

/** Tells whether one submission is enough to say that a value did not arrive: no code can stand for it. */
function isPlain({ label, kind }: LearnedField, told: readonly Sample[], taken: ReadonlySet<string>): boolean {
  if (kind === "flag") return false;
  const text = String(told[0]?.fields[label] ?? "");
  // the value may be part of a longer text, which further persons' values will show
  if (
    text.length > (kind === "number" ? 4 : 3) &&
    told[0]?.posted.some(([key, raw]) => !taken.has(key) && raw.includes(text))
  )
    return false;
  if (["date", "time", "moment", "range", "number", "file"].includes(kind)) return true;
  const free = told.flatMap(({ posted }) => posted.filter(([key, value]) => !taken.has(key) && value !== ""));
  return free.length === 0 || text.length > 40;
}

/** Kinds in the order of how likely a field shows a value that it does not hold. */
const ODDEST: readonly Kind[] = ["date", "moment", "range", "time", "list", "text", "number", "file", "flag"];

/** Finds the fields that may prevent sending: invalid ones, else failed ones, else those that are not sure. */
function blamed(progress: Progress, { invalid, failed }: Attempt): LearnedField[] {
  const by = (labels: readonly string[]): LearnedField[] =>
    progress.fields.filter(({ label }) => labels.includes(label));
  for (const told of [by(invalid), by(failed), progress.fields.filter((field) => !field.isSure)]) {
    const open = told.filter(({ good }) => good === undefined);
    if (open.length > 0) return open;
    // a way that worked for one person's value may fail for another's
    if (told.length > 0) return told;
  }
  // no field is in doubt: the page may have been slow, else one field is operated otherwise, the least tried first
  if (progress.silent++ === 0) return [];
  const [suspect] = progress.fields
    .filter(({ good, isLost }) => good === undefined && !isLost)
    .sort((a, b) => a.wrongs - b.wrongs || ODDEST.indexOf(a.kind) - ODDEST.indexOf(b.kind));
  return suspect === undefined ? [] : [suspect];
}
