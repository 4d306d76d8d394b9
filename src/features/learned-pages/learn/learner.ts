import type { EpisodeRunner } from "../../../env/browser/episode.js";
import type { Session } from "../../../env/browser/session.js";
import { carries } from "../../../env/forms/wire.js";
import type { FieldValue, Task } from "../../../env/site.js";
import { type Action, type Contract, type PlaceOf, RECORDED } from "../contract.js";
import { openPage, waysOf } from "../operate.js";
import { boxAt, type Shown, shownIn } from "../place.js";
import { placeOf } from "../record/actions.js";
import { structureHash } from "../structure.js";
import { canonical, kindOfAll } from "../values.js";
import { type Attempt, attempt, type LearnLimits, type Submitted } from "./attempt.js";
import { LearnedField } from "./candidates.js";
import { isCoded, isOffered, learnCodes, learnOne } from "./codes.js";
import { type Person, SearchState } from "./fill-in.js";
import { postedBy, rounds, type Search, SHARES, unexplained } from "./rounds.js";
import { learnVerdict } from "./verdict.js";

/** A form as people have shown it: the steps of its fields in their order, its parts and its button. */
export interface Recording {
  readonly fields: ReadonlyMap<string, { readonly actions: readonly Action[]; readonly step: number }>;
  readonly steps: readonly PlaceOf[];
  readonly submit: PlaceOf | undefined;
}

/** Most persons that a form is learned from; of three or more one is left to confirm it. */
const MOST_PERSONS = 3;
/**
 * Learns a form by sending known values to its server: the requests show which way operates each control, and under
 * which key its value stands.
 * @param tasks tasks of this form with different values.
 * @param given fields that are known already: written by hand, or from an earlier search.
 * @returns the contract, the last message of the page or its server, and a picture of the form if it sent nothing.
 */
export async function learnForm(
  runner: EpisodeRunner,
  tasks: readonly Task[],
  limits: LearnLimits,
  tell: (text: string) => void,
  given: Partial<Contract["fields"]> = {},
  recording?: Recording,
): Promise<{ readonly contract: Contract; readonly words: string; readonly picture: Uint8Array | undefined }> {
  const task = tasks[0] as Task;
  const start = performance.now();
  const end = start + limits.formMs;
  const ways = await waysOf(Object.values(given).map((field) => field?.way ?? ""));
  const shown = [...(recording?.fields.keys() ?? [])];
  const values = [...valuesByLabel(tasks)].sort(([a], [b]) => orderIn(shown, a) - orderIn(shown, b));
  const fields = values.map(([label, all]) => {
    const own = recording?.fields.get(label);
    const first = own && { way: RECORDED, variant: {}, locator: "css=body", nth: 0, hand: false, actions: own.actions };
    const known = first ?? given[label];
    const field = new LearnedField(label, kindOfAll(all), ways, all, limits.formMs, known, own !== undefined);
    field.step = own?.step ?? 0;
    return field;
  });
  const progress = new SearchState(task.url, ways, fields);
  if (recording !== undefined) {
    progress.isShown = true;
    progress.steps.push(...recording.steps);
    progress.submit = recording.submit;
    progress.opener =
      recording.steps.length > 0 && fields[0]?.step !== 0
        ? recording.steps[0]
        : placeOf(recording.fields.get(shown[0] ?? "")?.actions ?? []);
  }
  progress.mostSent = limits.submissions;
  progress.signal = limits.signal;
  let picture: Uint8Array | undefined;
  const page = await untouched(runner, task, fields, end, progress.opener);
  const { persons, spare } = unlike(tasks, fields);
  const search: Search = {
    progress,
    persons,
    earlier: [],
    words: "",
    isOver: (share) =>
      limits.signal?.aborted === true ||
      performance.now() > start + share * limits.formMs ||
      progress.sent >= Math.ceil(share * limits.submissions),
    note: (text) =>
      tell(`${task.form}: ${text} (${progress.sent} submissions, ${Math.round((performance.now() - start) / 1000)} s)`),
    async play(person, isSearch) {
      if (search.isOver(SHARES.codes)) return undefined;
      const work = async (session: Session): Promise<Attempt | undefined> => {
        const done = await attempt({ surface: session, progress, person, search: isSearch });
        if (done !== undefined && done.exchange === undefined) picture = await pictured(session, done);
        return done;
      };
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
  const saves = progress.saves.filter((save) => fields.some(({ wire }) => wire?.key.startsWith(`before ${save} `)));
  const contract = {
    form: task.form,
    url: task.url,
    page: recording === undefined ? page : "",
    ...(recording && { recorded: true as const }),
    ...(saves.length > 0 && { saves }),
    fields: Object.fromEntries(fields.flatMap((field) => entryOf(field))),
    steps: progress.steps,
    ...(progress.submit === undefined ? {} : { submit: progress.submit }),
    confirm: progress.confirm,
    ...(progress.request === undefined ? {} : { request: progress.request }),
    rests_ms: progress.restsMs,
    sends_within_ms: progress.sendsWithinMs,
    ...answers,
    not_learned: Object.fromEntries(
      missing.map(({ label, tried }) => [label, [tried, progress.reasons.get(label) ?? []].flat().join("; ")]),
    ),
  };
  return { contract, words: search.words, picture };
}

/** Takes a picture (JPEG) of a form that sent nothing, with a frame around the fields that may be the reason. */
async function pictured(session: Session, { failed, invalid }: Attempt): Promise<Uint8Array | undefined> {
  for (const label of [...failed, ...invalid])
    await boxAt(session, label, 0)
      .then((box) =>
        box.evaluate((e) => e.setAttribute("style", "outline: 3px solid red"), undefined, { timeout: 500 }),
      )
      .catch(() => undefined);
  return session.photograph().catch(() => undefined);
}

/**
 * Plays persons that the form was not learned from, until all values of one arrive. Fields whose values do not arrive
 * are searched again with the values of that person.
 * @returns the attempts of the last round, and the one that confirms it.
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
    // what was sent may show another key or notation; else the further person comes first, as its values fail
    const all = [...right, one];
    const wrong = unexplained(progress, all, true).filter((field) => !field.isLost);
    if (wrong.length === 0) right = all;
    else {
      // of a form that the page did not send, the fields that it marks are in question, not all of them
      if (attempt.exchange !== undefined) for (const field of wrong) field.advance("wrong");
      right = await rounds(search, [person, ...persons.slice(0, -1)]);
    }
  }
  return right;
}

/**
 * Plays the first person again if a field has codes that the page's options do not confirm. A code is the same in both
 * requests; a counter or a token is not.
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
function missedBy(progress: SearchState, { person, attempt }: Submitted): LearnedField[] {
  const { fields } = progress;
  const posted = postedBy(attempt, progress);
  return fields.filter(({ label, kind, good, wire }, i) => {
    const value = person[label];
    if (good === undefined || wire === undefined || value === undefined || attempt.absent.includes(label)) return false;
    return isCoded(fields[i] as LearnedField, value) && !carries(wire, kind, value, posted, person);
  });
}

/** Takes another request for the form's if the answers show one, and gives up fields that it does not explain. */
function heldBy({ progress, note }: Search, right: readonly Submitted[], request: Contract["request"]): void {
  const before = progress.request;
  if (request === undefined || (request.method === before?.method && request.path === before.path)) return;
  progress.request = request;
  for (const field of unexplained(progress, right, true)) field.lose();
  note(`${request.method} ${request.path} is the form's request: its answer differs for a form that is not complete`);
}

function entryOf(field: LearnedField): [string, Contract["fields"][string]][] {
  const { good, wire, kind, label, step, isUploaded, default: preset } = field;
  // an operation whose value the page showed is kept even if nothing was sent
  const found = good ?? (field.isSure ? field.current?.operation : undefined);
  if (found === undefined) return [];
  const variant = { ...found.variant, ...(isUploaded && { late: true as const }) };
  return [[label, { ...found, variant, kind, step, default: preset, ...(wire && { wire }), hand: field.byHand }]];
}

const orderIn = (shown: readonly string[], label: string): number =>
  shown.includes(label) ? shown.indexOf(label) : shown.length;

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
  opener?: PlaceOf,
): Promise<string> {
  const read = await runner.converse(
    async (session: Session) => {
      const labels = fields.map(({ label }) => label);
      await openPage(session, task.url, labels, opener);
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
      // the first person swaps its own list for the longest one
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
