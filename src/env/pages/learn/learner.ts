import type { EpisodeRunner } from "../../browser/episode.js";
import type { Session } from "../../browser/session.js";
import type { FieldValue, Task } from "../../site.js";
import type { Contract } from "../contract.js";
import { openPage, waysOf } from "../operate.js";
import { type Shown, shownIn } from "../place.js";
import { structureHash } from "../structure.js";
import { canonical, type Kind, kindOfAll } from "../values.js";
import { keysOf, type Sample, uploaded } from "../wire.js";
import { type Attempt, attempt, type LearnLimits, type Play } from "./attempt.js";
import { LearnedField } from "./candidates.js";
import { learnCodes } from "./codes.js";
import { claimed, explain, LIKENESS } from "./explain.js";
import { type Person, Progress } from "./fill-in.js";
import { learnVerdict } from "./verdict.js";

/** Most persons whose values are entered. */
const MOST_PERSONS = 3;

/**
 * Learns a form by sending known values to its server: the requests show which way operates each control, and under
 * which key its value stands.
 * @param tasks tasks of this form with different values.
 * @param given fields that are known already: written by hand, or from an earlier search.
 */
export async function learnForm(
  runner: EpisodeRunner,
  tasks: readonly Task[],
  limits: LearnLimits,
  tell: (text: string) => void,
  given: Partial<Contract["fields"]> = {},
): Promise<Contract> {
  const task = tasks[0] as Task;
  const ways = await waysOf(Object.values(given).map((field) => field?.way ?? ""));
  const values = valuesByLabel(tasks);
  const fields = [...values].map(([label, all]) => {
    const known = given[label];
    return new LearnedField(label, kindOfAll(all), ways, all, limits.formMs, known);
  });
  const progress = new Progress(task.url, ways, fields);
  const end = performance.now() + limits.formMs;
  const play: Play = async (person, search) => {
    const played = await runner.converse((session) => attempt(session, progress, person, search), limits.attemptMs);
    if ("fault" in played) tell(`${task.form}: ${played.fault}`);
    return "fault" in played ? undefined : played.result;
  };
  const page = await untouched(runner, task, fields);
  const persons = unlike(tasks, fields);
  const accepted = await rounds(progress, persons, play, end, (text) => tell(`${task.form}: ${text}`));
  if (performance.now() < end + limits.formMs / 2)
    await learnCodes(tasks, fields, accepted, play, end + limits.formMs / 2);
  const verdict = await learnVerdict(runner, progress, persons, accepted, limits, end + limits.formMs);
  return {
    form: task.form,
    url: task.url,
    page,
    fields: Object.fromEntries(fields.flatMap((field) => entryOf(field))),
    steps: progress.steps,
    ...(progress.submit === undefined ? {} : { submit: progress.submit }),
    confirm: progress.confirm,
    ...(progress.request === undefined ? {} : { request: progress.request }),
    sends_within_ms: progress.sendsWithinMs,
    ...verdict,
    not_learned: Object.fromEntries(fields.filter((f) => f.good === undefined).map((f) => [f.label, f.tried])),
  };
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
async function untouched(runner: EpisodeRunner, task: Task, fields: readonly LearnedField[]): Promise<string> {
  const read = await runner.converse(async (session: Session) => {
    const labels = fields.map(({ label }) => label);
    await openPage(session, task.url, labels);
    const shown = await shownIn(session, labels);
    return { shown, hash: await structureHash(session.view) };
  });
  if ("fault" in read) return "";
  fields.forEach((field, i) => {
    field.readPreset(read.result.shown[i] as Shown);
  });
  return read.result.hash;
}

/**
 * Chooses persons whose values differ in as many fields as possible. The first one has a value for every field, and the
 * first two differ at every checkbox.
 */
function unlike(tasks: readonly Task[], fields: readonly LearnedField[]): Person[] {
  const persons: Person[] = [];
  const rest = [...tasks];
  while (persons.length < MOST_PERSONS && rest.length > 0) {
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
  return [busy, idle, ...persons.slice(2)];
}

/** Fills in and sends until every value arrives, or time is over. @returns the submissions of the best round. */
async function rounds(
  progress: Progress,
  persons: readonly Person[],
  play: Play,
  end: number,
  tell: (text: string) => void,
): Promise<{ person: Person; attempt: Attempt }[]> {
  const { fields } = progress;
  let sure: { person: Person; attempt: Attempt }[] = [];
  let still = 0;
  for (let round = 1, last = false; ; round++) {
    const played: { person: Person; attempt: Attempt }[] = [];
    let wrong: LearnedField[] = [];
    for (const [i, person] of persons.entries()) {
      const result = await play(person, i === 0);
      if (result === undefined) continue;
      if (result.exchange === undefined) {
        wrong = blamed(progress, result);
        tell(`nothing sent; ${[...result.failed, ...result.invalid].join(", ")}`);
        if (last) continue;
        break;
      }
      const there = Object.entries(person).filter(([label]) => !result.absent.includes(label));
      played.push({ person: Object.fromEntries(there), attempt: result });
      // a field that is given up does not stop the search for others
      wrong = unexplained(fields, played, i === persons.length - 1).filter((field) => !field.isLost);
      if (wrong.length > 0 && i < persons.length - 1) break;
    }
    tell(
      `round ${round}: ${fields.length - wrong.length} of ${fields.length} fields${wrong.length > 0 ? `; not yet ${wrong.map((f) => f.label).join(", ")}` : ""}`,
    );
    if (last && played.length > 0) unexplained(fields, played, true);
    if (played.length > sure.length || wrong.length === 0) sure = played;
    if (wrong.length === 0 && played.length === persons.length) return played;
    // a way is tried once more if an earlier try had changed the field, or the page was slow
    const moved = wrong.map((field) => {
      const again = !field.isClean || field.isWorthRound();
      field.isClean = true;
      return again || (field.surveyed && field.advance("wrong"));
    });
    if (last) break;
    // one more round without the missing fields confirms the rest
    last = performance.now() > end || (!moved.some(Boolean) && ++still > 1);
    if (last) for (const field of wrong) field.isGivenUp = true;
  }
  return sure;
}

/** Lists fields whose values the requests do not hold. @param all whether every person's values were entered. */
function unexplained(
  fields: readonly LearnedField[],
  played: readonly { person: Person; attempt: Attempt }[],
  all: boolean,
): LearnedField[] {
  const samples = played.map(({ person, attempt: { exchange, exchanges } }): Sample => {
    const posted = exchange === undefined ? [] : [...exchange.posted, ...uploaded(exchanges, exchange)];
    return { fields: person, posted };
  });
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
      const wire = explain(label, kind, samples, isSure, new Set([...taken, ...others(field)]), degree);
      if (wire !== undefined) {
        found.add(field);
        for (const key of keysOf(wire)) taken.add(key);
        field.wire = wire;
        if (all) field.good = field.current?.operation;
      } else if (likeness === 0 && (all || isPlain(field, told, taken))) {
        if (!missed.has(label) || field.current !== undefined) wrong.push(field);
      }
    }
  return wrong;
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
