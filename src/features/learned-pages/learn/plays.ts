/** Plays one form again and again: enters values into a fresh page, presses its button, and keeps what was sent. */
import { EnvironmentFault } from "../../../env/browser/browser.js";
import { PolicyFailure } from "../../../env/browser/episode.js";
import { beforePress, follow } from "../../../env/browser/follow.js";
import type { Exchange } from "../../../env/browser/network/exchange.js";
import type { Session } from "../../../env/browser/session.js";
import type { Acceptance } from "../../../env/forms/contract.js";
import type { Verdict } from "../../../env/forms/judge.js";
import type { Kind } from "../../../env/forms/values.js";
import { isBlank } from "../../../env/forms/wire.js";
import type { FieldValue } from "../../../env/site.js";
import { buttonAt, buttonsOf, openersOf } from "../buttons.js";
import type { PlaceOf } from "../contract.js";
import { showsValue } from "../evidence.js";
import { clickButton, closeOpenAt, PATIENCE, rest, slowed } from "../gestures.js";
import { type Operation, openPage, operate, pressChain, savesDone, shownLines, stepOn } from "../operate.js";
import { boxIndex, type Shown, shownIn } from "../place.js";
import { enterPlainly } from "../plain.js";
import { placeOf } from "../record/actions.js";
import type { Way } from "../way.js";
import type { Run, Values } from "./keys.js";
import { optionsIn } from "./offered-options.js";

/** Time that the form's request may take to appear after a click, and the next part of a form, in milliseconds. */
const SEND_MS = 2500;
const STEP_MS = 1500;
/** Most buttons that are tried where the right one is not known. */
const MOST_BUTTONS = 4;
/** Most times that fields appear after others were filled in. */
const MOST_ROUNDS = 4;

/** A field that is played. */
export interface PlayedField {
  readonly label: string;
  readonly kind: Kind;
  /** How it is operated, once that is known. */
  operation: Operation | undefined;
  /** Number of the form's part that shows it, from 0. */
  step: number;
  /** Set if it cannot be operated: it is not tried again. */
  isLost: boolean;
  /** The value that it shows untouched, once it was seen. */
  preset: FieldValue | undefined;
}

/** A play of the form. */
export interface Play extends Run {
  /** Labels that could not be entered, and those that the other values hide. */
  readonly failed: readonly string[];
  readonly absent: readonly string[];
  /** Set if a request was sent after the press. */
  readonly isSent: boolean;
  readonly verdict: Verdict | undefined;
  /** HTTP status of the last answer, if there was one. */
  readonly status: number | undefined;
  /** Lines that the page showed before the press, and those that are new after it. */
  readonly before: readonly string[];
  readonly news: readonly string[];
}

const isPost = ({ method, how }: Exchange): boolean => how !== "beacon" && (method !== "GET" || how === "navigation");

/** A form with what is known of it: its fields, its parts and its buttons. What is not known is found by the first play. */
export class Form {
  readonly steps: PlaceOf[] = [];
  submit: PlaceOf | undefined;
  confirm: PlaceOf[] = [];
  /** Longest time that the form took to send, in milliseconds. */
  sendsWithinMs = 0;
  /** Buttons that send nothing and take the entered values away, as one that clears the form. */
  private readonly clearing = new Set<string>();

  /** @param url of the page. @param opener the button that shows the first field, where none is there before. @param isSaved whether the page saves fields before it is sent. */
  constructor(
    public url: string,
    private readonly fields: readonly PlayedField[],
    private readonly ways: ReadonlyMap<string, Way>,
    private readonly acceptance: Acceptance,
    private readonly opener: PlaceOf | undefined,
    private readonly isSaved: boolean,
  ) {}

  get labels(): string[] {
    return this.fields.map(({ label }) => label);
  }

  /** Opens the untouched page. */
  async open(session: Session): Promise<void> {
    const first = this.fields.every(({ step }) => step > 0) ? this.steps[0] : undefined;
    await openPage(session, this.url, this.labels, this.opener ?? first);
  }

  /** Enters values on a fresh page and sends the form. */
  async play(session: Session, values: Values): Promise<Play> {
    await this.open(session);
    const { entered, failed, absent } = await this.fill(session, values);
    if (this.isSaved) await savesDone(session);
    const before = await shownLines(session);
    const options = await optionsIn(session, this.labels);
    const written = Object.values(values).flatMap((value) => [value].flat().map(String));
    const cleared = this.clearing.size;
    const verdict = await this.send(session, written, entered);
    if (this.clearing.size > cleared) return this.play(session, values);
    const after = await shownLines(session).catch(() => []);
    const exchanges = [...session.traffic.exchanges];
    const sent = exchanges.filter((e) => e.phase === "submit" && isPost(e));
    const news = after.filter((line) => !before.includes(line));
    const status = sent.at(-1)?.answer?.status;
    return { entered, failed, absent, options, exchanges, isSent: sent.length > 0, verdict, status, before, news };
  }

  /** Enters the values of all parts of the form. */
  private async fill(session: Session, values: Values): Promise<Pick<Play, "entered" | "failed" | "absent">> {
    const entered: Record<string, FieldValue> = {};
    const failed: string[] = [];
    const wanted = this.fields.filter(({ label }) => label in values && !isBlank(values[label] as FieldValue));
    let left = wanted.filter(({ isLost }) => !isLost);
    for (let step = 0; ; step++) {
      for (let round = 0; round < MOST_ROUNDS; round++) {
        const due = await this.dueIn(session, left, step);
        if (due.length === 0) break;
        left = left.filter((field) => !due.includes(field));
        for (const field of due) {
          const value = values[field.label] as FieldValue;
          field.step = field.operation === undefined ? step : field.step;
          if (await this.enter(session, field, value, entered)) entered[field.label] = value;
          else failed.push(field.label);
        }
      }
      if (left.length === 0 && this.steps[step] === undefined) break;
      if (!(await this.goOn(session, step, left))) break;
    }
    return { entered, failed, absent: left.map(({ label }) => label) };
  }

  /** Lists the fields that can be operated now: recorded ones of this part, and others whose label is there. */
  private async dueIn(session: Session, left: readonly PlayedField[], step: number): Promise<PlayedField[]> {
    const shown = await shownIn(
      session,
      left.map(({ label }) => label),
    );
    // a field of a later part is untouched when it is first seen
    left.forEach((field, i) => {
      field.preset ??= presetOf(field, shown[i] as Shown);
    });
    return left.filter(({ operation, step: own }, i) =>
      operation?.actions === undefined ? shown[i]?.present === true : own <= step,
    );
  }

  /** Enters a value by the known operation, else by the first plain one that shows it. @returns whether it was entered. */
  private async enter(session: Session, field: PlayedField, value: FieldValue, entered: Values): Promise<boolean> {
    const { label, kind, operation } = field;
    if (operation === undefined) {
      const others = this.fields.filter((other) => other.label in entered && other.step === field.step);
      const before = await this.shownOf(session, others, entered);
      field.operation = await enterPlainly(session, label, kind, value, PATIENCE);
      const after = await this.shownOf(session, before, entered);
      const replaced = before.filter((other) => !after.includes(other));
      if (replaced.length === 0) return field.operation !== undefined;
      // the value went into another field
      field.operation = undefined;
      for (const other of replaced) await this.enter(session, other, entered[other.label] as FieldValue, entered);
      return false;
    }
    try {
      await operate(session, this.ways, label, { ...operation, kind }, value, PATIENCE);
      return true;
    } catch (error) {
      if (error instanceof PolicyFailure || session.page.isClosed()) throw error;
      await closeOpenAt(session, label);
      return false;
    }
  }

  /** Lists the fields that show the values which were entered. */
  private async shownOf(session: Session, fields: readonly PlayedField[], entered: Values): Promise<PlayedField[]> {
    const labels = fields.map(({ label }) => label);
    const shown = await shownIn(
      session,
      labels,
      fields.map(({ operation }) => (operation ? boxIndex(operation) : 0)),
    );
    return fields.filter(({ kind, label }, i) => showsValue(kind, entered[label] as FieldValue, shown[i] as Shown));
  }

  /** Clicks what leads to the next part of the form: a closed section, a tab or a button. @returns whether one did. */
  private async goOn(session: Session, step: number, left: readonly PlayedField[]): Promise<boolean> {
    const labels = left.map(({ label }) => label);
    const known = this.steps[step];
    const some = async (all: Promise<PlaceOf[]>): Promise<PlaceOf[]> => (await all).slice(0, MOST_BUTTONS);
    const isShown = this.submit !== undefined;
    const unknown = isShown ? [] : [...(await some(openersOf(session))), ...(await some(buttonsOf(session)))];
    for (const button of known === undefined ? unknown : [known]) {
      const then = left.flatMap(({ operation }) => placeOf(operation?.actions ?? []) ?? []);
      const end = this.steps[step + 1] ?? this.submit;
      if (left.length === 0 && end !== undefined) then.push(end);
      if (!(await stepOn(session, button, labels, STEP_MS, then))) continue;
      this.steps[step] = button;
      return true;
    }
    return false;
  }

  /** Presses the form's button, or the first of several that sends something, and what the page asks to confirm. */
  private async send(session: Session, written: readonly string[], entered: Values): Promise<Verdict | undefined> {
    const { traffic } = session;
    const formOf = (): Exchange[] => traffic.exchanges.filter((e) => e.phase === "submit" && isPost(e));
    const found = this.submit === undefined ? await buttonsOf(session) : [this.submit];
    const buttons = found.filter(({ locator }) => !this.clearing.has(locator));
    const filled = this.fields.filter(({ label }) => label in entered);
    const held = this.submit === undefined ? await this.shownOf(session, filled, entered) : [];
    const before = await beforePress(session, this.acceptance, written);
    const verdict = (): Promise<Verdict | undefined> => follow(session, this.acceptance, { before, written, formOf });
    const isOpen = (said: Verdict | undefined): boolean =>
      formOf().length === 0 || (said !== undefined && !said.accepted && said.why?.startsWith("refused") !== true);
    try {
      for (const button of buttons.slice(0, MOST_BUTTONS)) {
        if (!(await this.press(session, button))) continue;
        for (const next of this.confirm) await this.press(session, next);
        let said = await verdict();
        if (this.submit === undefined && isOpen(said)) said = await this.confirmed(session, buttons, isOpen, verdict);
        if (formOf().length === 0) {
          const isLost = held.length > 0 && (await this.shownOf(session, held, entered)).length < held.length;
          if (!isLost) continue;
          this.clearing.add(button.locator);
          return undefined;
        }
        this.submit = button;
        return said;
      }
      return undefined;
    } finally {
      traffic.disarm();
    }
  }

  /** Presses one button. @returns false if it cannot be pressed. */
  private async press(session: Session, button: PlaceOf): Promise<boolean> {
    const isOver = async (): Promise<boolean> => (await shownIn(session, this.labels)).some(({ invalid }) => invalid);
    try {
      const { ms } = await pressChain(session, [button], isPost, SEND_MS, isOver);
      this.sendsWithinMs = Math.max(this.sendsWithinMs, Math.round(ms));
      return true;
    } catch (error) {
      if (session.page.isClosed() || error instanceof EnvironmentFault) throw error;
      return false;
    }
  }

  /** Presses buttons that have appeared after the press, until one sends the form, or brings the declared success. */
  private async confirmed(
    session: Session,
    before: readonly PlaceOf[],
    isOpen: (said: Verdict | undefined) => boolean,
    verdict: () => Promise<Verdict | undefined>,
  ): Promise<Verdict | undefined> {
    const known = new Set(before.map(({ locator }) => locator));
    const now = await buttonsOf(session);
    const fresh = now.filter(({ locator }) => /^role=.*\p{L}/u.test(locator) && !known.has(locator));
    let said: Verdict | undefined;
    for (const button of fresh.slice(0, MOST_BUTTONS)) {
      await clickButton(session.page, buttonAt(session.page, button), slowed(session, SEND_MS)).catch(() => undefined);
      await rest(session, 100);
      said = await verdict();
      if (isOpen(said)) continue;
      this.confirm = [button];
      break;
    }
    return said;
  }
}

/** Reads the value that an untouched control shows; undefined if it is not there. */
export function presetOf({ kind }: Pick<PlayedField, "kind">, { present, on, values }: Shown): FieldValue | undefined {
  if (!present) return undefined;
  if (kind === "flag") return on.length > 0;
  return kind === "list" ? [...on] : (values[0] ?? "");
}
