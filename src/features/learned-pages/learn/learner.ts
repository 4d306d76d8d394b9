import { readForm } from "../../../env/browser/controls.js";
import type { EpisodeRunner } from "../../../env/browser/episode.js";
import type { Session } from "../../../env/browser/session.js";
import { checkedLabels } from "../../../env/forms/absent-label.js";
import type { Acceptance, Wire } from "../../../env/forms/contract.js";
import type { FieldValue, Task } from "../../../env/site.js";
import { type Action, type Contract, type ContractField, type PlaceOf, RECORDED } from "../contract.js";
import { wayOf, waysOf } from "../operate.js";
import { boxAt, type Shown, shownIn } from "../place.js";
import { placeOf } from "../record/actions.js";
import type { Asserted } from "../record/sign.js";
import { kindOfAll } from "../values.js";
import type { Way } from "../way.js";
import { completed, othersOf, richestFirst } from "./interventions.js";
import { type Field, type Proof, proved, type Values } from "./keys.js";
import { areOffered, openIn } from "./notations.js";
import { namesIn } from "./offered-options.js";
import { Form, type Play, type PlayedField, presetOf } from "./plays.js";
import { proposals } from "./proposals.js";

/** A form as people have shown it: the steps of its fields in their order, its parts and its buttons. */
export interface Recording {
  readonly fields: ReadonlyMap<string, { readonly actions: readonly Action[]; readonly step: number }>;
  readonly steps: readonly PlaceOf[];
  readonly submit: PlaceOf | undefined;
  /** What people's assertions declare: the site accepted the form. */
  readonly success?: Asserted | undefined;
}

/** Limits of learning one form. */
export interface LearnLimits {
  /** Time that one form may take, and one play of it, in milliseconds. */
  readonly formMs: number;
  readonly playMs: number;
  /** Most times that the form is sent. */
  readonly submissions: number;
  /** Ends learning early; what is proved by then is kept. */
  readonly signal?: AbortSignal | undefined;
}

/** What is known of a form before it is played. */
export interface Given {
  /** Fields of an earlier contract, or written by hand. */
  readonly fields?: Contract["fields"];
  readonly saves?: readonly string[] | undefined;
  readonly acceptance: Acceptance;
  readonly recording?: Recording | undefined;
}

/** What learning found. */
export interface Learned {
  readonly contract: Contract;
  /** Why the form could not be sent. */
  readonly words: string;
  /** Picture (JPEG) of a form that was not sent. */
  readonly picture: Uint8Array | undefined;
}

/** Most options that are played one by one. */
const MOST_OPTIONS = 12;

type LearnedField = Field & PlayedField & { isDeclared: boolean; name: string | undefined };

/**
 * Learns how a form is operated and under which keys its values are sent: plays one task's values, then the same with
 * one field changed at a time. A key is a field's if it changes with this field and with nothing else.
 * @param tasks tasks of this form. @param tell reports progress, and what is for a person to decide.
 */
export async function learnForm(
  runner: EpisodeRunner,
  tasks: readonly Task[],
  limits: LearnLimits,
  tell: (text: string) => void,
  given: Given,
): Promise<Learned> {
  const learning = await Learning.begin(runner, tasks, limits, tell, given);
  const base = await learning.playBase();
  if (base !== undefined) {
    await learning.changeEach(base);
    await learning.playAgain(base);
    await learning.codes(base);
    await learning.propose();
  }
  return learning.result();
}

/** One form while it is learned. */
class Learning {
  private readonly runs: Play[] = [];
  private readonly reasons = new Map<string, string>();
  private sent = 0;
  private words = "";
  private picture: Uint8Array | undefined;
  private readonly end: number;

  private constructor(
    private readonly runner: EpisodeRunner,
    private readonly tasks: readonly Task[],
    private readonly limits: LearnLimits,
    private readonly tell: (text: string) => void,
    private readonly given: Given,
    private readonly fields: readonly LearnedField[],
    private readonly form: Form,
  ) {
    this.end = performance.now() + limits.formMs;
  }

  static async begin(
    runner: EpisodeRunner,
    tasks: readonly Task[],
    limits: LearnLimits,
    tell: (text: string) => void,
    given: Given,
  ): Promise<Learning> {
    const { recording, acceptance, fields: known = {} } = given;
    const ways = await waysOf(Object.values(known).map(({ way }) => way));
    const shown = [...(recording?.fields.keys() ?? [])];
    const labels = [...new Set([...shown, ...tasks.flatMap((task) => Object.keys(task.fields))])];
    const fields = labels.map((label) => fieldOf(label, tasks, known[label], recording?.fields.get(label), ways));
    const first = placeOf(recording?.fields.get(shown[0] ?? "")?.actions ?? []);
    const opener = fields[0]?.step === 0 ? first : undefined;
    const form = new Form(tasks[0]?.url as string, fields, ways, acceptance, opener, (given.saves ?? []).length > 0);
    form.steps.push(...(recording?.steps ?? []));
    form.submit = recording?.submit;
    return new Learning(runner, tasks, limits, tell, given, fields, form);
  }

  private note(text: string): void {
    this.tell(`${this.tasks[0]?.form}: ${text}`);
  }

  private get isOver(): boolean {
    return this.limits.signal?.aborted === true || this.sent >= this.limits.submissions || performance.now() > this.end;
  }

  /** Plays values once. @returns undefined if the limits are reached, or the environment failed. */
  private async play(values: Values): Promise<Play | undefined> {
    if (this.isOver) return undefined;
    const work = async (session: Session): Promise<Play> => {
      const done = await this.form.play(session, values);
      if (!done.isSent) this.picture = await pictured(session, done.failed);
      return done;
    };
    const played = await this.runner.converse(work, this.limits.playMs, this.end);
    if ("fault" in played) {
      this.words = played.fault;
      this.note(played.fault);
      return undefined;
    }
    if (played.result.isSent) this.sent++;
    return played.result;
  }

  /** Plays the first task whose values the site does not refuse. @returns its values; undefined if nothing was sent. */
  async playBase(): Promise<Values | undefined> {
    const { tasks, form } = this;
    await this.readPage();
    const count = this.fields.filter(({ isDeclared }) => !isDeclared).length;
    const isOpen = this.given.acceptance.success === undefined;
    const times = 1 + count + Number(count < 3 || this.pages > 1) + Number(isOpen);
    this.note(
      `is sent about ${times} times, and once for each code that the page does not show: one task's values, then ${count} fields changed one at a time (at most ${this.limits.submissions}: site.learn.submissions)`,
    );
    let kept: { readonly values: Values; readonly run: Play; readonly url: string } | undefined;
    for (const [i, task] of richestFirst(tasks).slice(0, 3).entries()) {
      const values = i === 0 ? completed(task, tasks, form.labels) : task.fields;
      const { url } = task;
      form.url = url;
      const run = await this.play(values);
      if (run === undefined) break;
      if (run.isSent) kept ??= { values, run, url };
      if (run.isSent && !isRefused(run)) {
        kept = { values, run, url };
        break;
      }
      this.words = saidOf(run);
      this.note(`${task.id} was not accepted: ${this.words}`);
    }
    if (kept === undefined) return undefined;
    form.url = kept.url;
    this.runs.push(kept.run);
    for (const field of this.fields)
      field.isLost = field.operation === undefined && kept.run.failed.includes(field.label);
    for (const label of kept.run.failed) this.reasons.set(label, "it could not be entered in any plain way: record it");
    for (const label of kept.run.absent) this.reasons.set(label, "its field was not found on the page");
    return kept.values;
  }

  /**
   * Reads the untouched page: what stands in the fields, and the names of their controls.
   * @throws UserError where the tasks name a plain field otherwise than the page does, and nobody has shown it.
   */
  private async readPage(): Promise<void> {
    const { fields, form, given } = this;
    const read = async (session: Session) => {
      await form.open(session);
      const { handle, controls } = await readForm(session.view, 0);
      await handle.dispose();
      return { controls, shown: await shownIn(session, form.labels), names: await namesIn(session, form.labels) };
    };
    const done = await this.runner.converse(read, this.limits.playMs, this.end);
    if ("fault" in done) return;
    if (given.recording === undefined && given.fields === undefined) checkedLabels(done.result.controls, this.tasks);
    fields.forEach((field, i) => {
      field.name = done.result.names[i];
      field.preset = presetOf(field, done.result.shown[i] as Shown);
    });
  }

  /** Plays the base with one field changed at a time. */
  async changeEach(base: Values): Promise<void> {
    const [first] = this.runs as [Play];
    for (const field of this.fields) {
      const { label, isDeclared } = field;
      if (isDeclared || !(label in first.entered)) continue;
      const others = othersOf(field, base, this.tasks, first.options[label] ?? []);
      for (const other of others.slice(0, 2)) if (await this.changed(field, base, other.value, other.of)) break;
    }
  }

  /**
   * Plays the base with another value of a field. Fields that depend on it take the values of its task.
   * @returns whether the value was entered and sent.
   */
  private async changed({ label }: Field, base: Values, value: FieldValue, of: Values): Promise<boolean> {
    const run = await this.play({ ...base, [label]: value });
    if (run === undefined) return true;
    const isPlayed = (one: Play): boolean => one.isSent && label in one.entered;
    if (isPlayed(run)) this.runs.push(run);
    const depend = run.failed.filter((other) => other !== label && of[other] !== undefined);
    if (depend.length === 0) return isPlayed(run);
    const theirs = Object.fromEntries(depend.map((other) => [other, of[other] as FieldValue]));
    const again = await this.play({ ...base, ...theirs, [label]: value });
    if (again !== undefined && isPlayed(again)) this.runs.push(again);
    return again === undefined || isPlayed(again) || isPlayed(run);
  }

  /**
   * Plays the base once more where fewer fields than three, or codes, could be told from what changes by itself; and
   * where tasks have pages of their own, on another one: what its address changes, as a part of the request's path, is
   * no field's.
   */
  async playAgain(base: Values): Promise<void> {
    const { form, tasks, fields } = this;
    const { wires } = this.proof();
    const isUnsure = [...wires.values()].some(({ notation }) => /^(?:codes|each|flag)$/.test(notation.as));
    if (fields.length >= 3 && !isUnsure && this.pages < 2) return;
    const { url } = form;
    form.url = tasks.find((task) => task.url !== url)?.url ?? url;
    const run = await this.play(base);
    form.url = url;
    if (run?.isSent) this.runs.push(run);
  }

  /** Number of the tasks' pages. */
  private get pages(): number {
    return new Set(this.tasks.map(({ url }) => url)).size;
  }

  /** Plays the values of tasks whose codes are not known, while submissions last. */
  async codes(base: Values): Promise<void> {
    const tried = new Set<string>();
    for (;;) {
      const { wires } = this.proof();
      const open = this.fields.flatMap((field) => {
        const wire = field.isDeclared ? undefined : wires.get(field.label);
        const values = wire === undefined ? [] : openIn(wire, [...field.values, ...this.offered(field, wire)]);
        return values.map((value) => ({ field, value, name: JSON.stringify([field.label, value]) }));
      });
      const next = open.find(({ name }) => !tried.has(name));
      if (next === undefined || this.isOver) break;
      const { field, value } = next;
      tried.add(next.name);
      const of = this.tasks.find((task) => [task.fields[field.label]].flat().map(String).includes(value));
      const raw = field.kind === "list" ? [value] : (of?.fields[field.label] ?? value);
      await this.changed(field, base, raw, of?.fields ?? {});
    }
  }

  /** Lists a page's options whose codes are not their own values, where they are few: two may share one. */
  private offered({ label }: Field, { notation }: Wire): string[] {
    const offers = this.runs[0]?.options[label] ?? [];
    const texts = offers.filter(([text, value]) => text.trim() !== "" && value !== "").map(([text]) => text.trim());
    const isOwn = notation.as !== "codes" || areOffered(notation.codes, offers);
    return isOwn || texts.length > MOST_OPTIONS ? [] : texts;
  }

  private proof(): Proof {
    return proved(this.fields, this.runs, this.given.saves ?? []);
  }

  /** Sends the empty form where no success is declared, and prints what may be declared. */
  async propose(): Promise<void> {
    if (this.given.acceptance.success !== undefined) return;
    const empty = await this.play({});
    for (const text of proposals(this.runs[0] as Play, empty, Object.values(this.runs[0]?.entered ?? {})))
      this.note(text);
  }

  result(): Learned {
    const { tasks, fields, form, given, runs } = this;
    const { request, wires, reasons } = runs.length > 0 ? this.proof() : NOTHING;
    const missing = fields.filter(({ label }) => !wires.has(label));
    this.note(`${fields.length - missing.length} of ${fields.length} fields are proved (${this.sent} submissions)`);
    const why = ({ label }: LearnedField): string =>
      this.reasons.get(label) ?? reasons.get(label) ?? "the form was not sent";
    const { saves, recording } = given;
    const contract: Contract = {
      form: tasks[0]?.form as string,
      url: tasks[0]?.url as string,
      ...(recording && { recorded: true as const }),
      ...(saves && saves.length > 0 && { saves: [...saves] }),
      fields: Object.fromEntries(fields.flatMap((field) => entryOf(field, wires.get(field.label)))),
      steps: form.steps,
      ...(form.submit && { submit: form.submit }),
      confirm: form.confirm,
      ...(request && form.submit && { request }),
      sends_within_ms: form.sendsWithinMs,
      not_proved: Object.fromEntries(missing.map((field) => [field.label, why(field)])),
    };
    return { contract, words: this.words, picture: this.picture };
  }
}

const NOTHING: Proof = { request: undefined, wires: new Map(), reasons: new Map() };

const isRefused = ({ verdict, status }: Play): boolean =>
  verdict === undefined ? (status ?? 0) >= 400 : !verdict.accepted;

const saidOf = ({ isSent, verdict, status, failed, absent, news }: Play): string => {
  const lacks = [...failed, ...absent];
  const shown = news.length > 0 ? `; the page shows ${JSON.stringify(news[0])}` : "";
  if (!isSent) return `nothing was sent${lacks.length > 0 ? `, without ${lacks.join(", ")}` : ""}${shown}`;
  return verdict?.why ?? `HTTP ${status}${shown}`;
};

function fieldOf(
  label: string,
  tasks: readonly Task[],
  known: ContractField | undefined,
  recorded: { readonly actions: readonly Action[]; readonly step: number } | undefined,
  ways: ReadonlyMap<string, Way>,
): LearnedField {
  const values = tasks.flatMap(({ fields: { [label]: value } }) => (value === undefined ? [] : [value]));
  const operation =
    recorded === undefined
      ? known
      : { way: RECORDED, variant: {}, locator: "css=body", nth: 0, actions: recorded.actions };
  const wire = known?.hand ? known.wire : undefined;
  return {
    ...{ label, values, wire, operation, kind: known?.hand ? known.kind : kindOfAll(values) },
    ...{
      step: recorded?.step ?? known?.step ?? 0,
      isDeclared: wire !== undefined,
      preset: undefined,
      name: undefined,
      isLost: false,
    },
    get isTyped() {
      return this.operation !== undefined && wayOf(ways, this.operation).isLiteral === true;
    },
  };
}

function entryOf(field: LearnedField, wire: Contract["fields"][string]["wire"]): [string, ContractField][] {
  const { label, kind, operation, step, preset, isDeclared } = field;
  if (operation === undefined) return [];
  const { way, variant, locator, nth, actions } = operation;
  const blank = kind === "flag" ? false : kind === "list" ? [] : "";
  const at = { way, variant, locator, nth, ...(actions && { actions }) };
  return [[label, { ...at, kind, step, default: preset ?? blank, ...(wire && { wire }), hand: isDeclared }]];
}

/** Takes a picture of a form that was not sent, with a frame around the fields that could not be entered. */
async function pictured(session: Session, failed: readonly string[]): Promise<Uint8Array | undefined> {
  for (const label of failed)
    await boxAt(session, label, 0)
      .then((box) =>
        box.evaluate((e) => e.setAttribute("style", "outline: 3px solid red"), undefined, { timeout: 500 }),
      )
      .catch(() => undefined);
  return session.photograph().catch(() => undefined);
}
