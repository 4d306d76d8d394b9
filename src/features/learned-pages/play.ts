import { EnvironmentFault } from "../../env/browser/browser.js";
import type { Control } from "../../env/browser/controls.js";
import { PolicyFailure } from "../../env/browser/episode.js";
import { type ActionRecord, recordOf, resolveAction, type Step, type Wanted } from "../../env/browser/fill.js";
import { type Carrier, carryOut } from "../../env/browser/filler.js";
import { beforePress, follow } from "../../env/browser/follow.js";
import { type Exchange, isSame, nameOf } from "../../env/browser/network/exchange.js";
import { playwright } from "../../env/browser/playwright.js";
import type { Session } from "../../env/browser/session.js";
import { sentRecord } from "../../env/browser/submit.js";
import { acceptanceOf } from "../../env/forms/contract.js";
import { type Played, playedBy } from "../../env/forms/episode.js";
import { type Evidence, keptRequest } from "../../env/forms/judge.js";
import { listItems, parseBoolean } from "../../env/forms/normalize.js";
import { type Action, type Plan, textsOf } from "../../env/forms/plan.js";
import type { ControlKind, FieldValue, Task } from "../../env/site.js";
import type { Contract, ContractField, PlaceOf } from "./contract.js";
import { closeOpenAt, PATIENCE } from "./gestures.js";
import { openPage, operate, pressChain, savesDone, stepOn, wayOf } from "./operate.js";
import { boxIndex, shownIn } from "./place.js";
import { placeOf } from "./record/actions.js";
import { partsOf } from "./values.js";
import { NoOption, type Way } from "./way.js";

/** Least time in which a form has to be sent, in milliseconds: a busy machine is slower than the one that learned it. */
const SENDS_MS = 4000;

/** Time that the next part of a form may take to appear, in milliseconds. */
const STEP_MS = 1500;

/** A learned form with its controls and ways. */
export interface LearnedForm {
  readonly contract: Contract;
  readonly controls: readonly Control[];
  readonly ways: ReadonlyMap<string, Way>;
}

/** Converts the fields of a contract to controls, which plans and rewards refer to. */
export function controlsOf(contract: Contract, tasks: readonly Task[]): Control[] {
  return Object.entries(contract.fields).map(([label, field], index): Control => {
    const values = tasks.flatMap(({ fields: { [label]: value } }) => (value === undefined ? [] : [value]));
    const { kind, options } = shapeOf(field, values);
    return {
      index,
      kind,
      widget: "found",
      label,
      name: field.wire?.key ?? "",
      required: false,
      default: field.kind === "list" && !Array.isArray(field.default) ? [] : field.default,
      options: options.map((text) => ({ text, value: text })),
      present: true,
      ...(field.step > 0 ? { late: true as const } : {}),
    };
  });
}

function shapeOf(
  { kind, wire }: ContractField,
  values: readonly FieldValue[],
): { kind: ControlKind; options: string[] } {
  const texts = [...new Set(values.flatMap((value) => (Array.isArray(value) ? value : [String(value)])))].filter(
    (t) => t !== "",
  );
  if (kind === "flag") return { kind: "checkbox", options: [] };
  if (kind === "list") return { kind: "checkbox-group", options: texts };
  if (kind === "number" || kind === "date" || kind === "time" || kind === "file") return { kind, options: [] };
  // a moment or a range is right or wrong as a whole, as a time is
  if (kind === "moment" || kind === "range") return { kind: "time", options: [] };
  if (wire?.notation.as === "codes" || wire?.notation.as === "slug") return { kind: "select", options: texts };
  const every = (pattern: RegExp): boolean => texts.length > 0 && texts.every((text) => pattern.test(text));
  if (every(/^[^\s@]+@[^\s@]+\.[^\s@]+$/)) return { kind: "email", options: [] };
  if (every(/^https?:\/\/\S+$/)) return { kind: "url", options: [] };
  if (wire?.notation.as === "digits" || every(/^\+?[\d\s().-]{6,20}$/)) return { kind: "tel", options: [] };
  return { kind: "text", options: [] };
}

function wantedValue(
  field: ContractField,
  control: Control,
  { value, on, toggle }: Wanted,
  before: FieldValue | undefined,
): FieldValue | undefined {
  if (field.kind === "flag") return on ?? (toggle === true ? control.default !== true : parseBoolean(value ?? ""));
  if (field.kind === "list") {
    if (value === undefined) return on === false ? [] : undefined;
    const items = listItems(control.options, value);
    return [...new Set([...(Array.isArray(before) ? before : []), ...items])];
  }
  return value;
}

/** The fate of a field's operation. */
type Fate = "done" | "rejected" | "no-such-option";

/** Tells whether a text has a letter or a digit, and not only a mask's signs. */
const isWritten = (text: FieldValue): boolean => partsOf(text).length > 0;

/** One plan on the page of a known form. */
class Play implements Carrier {
  readonly records: ActionRecord[] = [];
  /** The values that the plan wants, by the index of the control. */
  private readonly wanted = new Map<number, FieldValue>();
  /** The records whose fate is that of their control's operation, and the fates by the index of the control. */
  private readonly open = new Set<ActionRecord>();
  private readonly fates = new Map<number, Fate>();
  private readonly labels: readonly string[];
  /** The reason why the form's own request did not come. */
  private instead = "the form sent nothing";

  constructor(
    private readonly session: Session,
    private readonly form: LearnedForm,
    private readonly task: Task,
  ) {
    this.labels = form.controls.map(({ label }) => label);
  }

  resolve(action: Action): Step {
    return resolveAction(action, { controls: this.form.controls, buttons: [] }, this.task.url);
  }

  put(action: Action, step: Step): void {
    if (step.do !== "operate") return void this.records.push(recordOf(action, step));
    const control = this.form.controls[step.control] as Control;
    const { index } = control;
    const value = wantedValue(this.fieldOf(control), control, step.wanted, this.wanted.get(index));
    const record: ActionRecord = { action, control: index, fate: "rejected" };
    const isFocus = value === undefined && action.kind === "click";
    this.records.push(isFocus ? { ...record, fate: "done", neutral: true } : record);
    if (value === undefined) return;
    this.wanted.set(index, value);
    this.open.add(record);
  }

  /** Ends the plan: the form is sent once all of its parts are filled in. */
  send(action: Action): ActionRecord {
    return { action, fate: "done" };
  }

  private fieldOf({ label }: Control): ContractField {
    return this.form.contract.fields[label] as ContractField;
  }

  async play({ actions }: Plan, uploads: "dummy" | "none"): Promise<Played> {
    const { session, labels, fates } = this;
    const { contract, controls } = this.form;
    const submits = await carryOut(actions, this);
    const [first] = controls;
    const opener = controls.every(({ late }) => late)
      ? contract.steps[0]
      : first && placeOf(this.fieldOf(first).actions ?? []);
    await openPage(session, this.task.url, labels, opener);
    let isThere = true;
    for (let step = 0; step <= contract.steps.length && isThere; step++) {
      for (const control of controls) {
        const { step: own, kind } = this.fieldOf(control);
        const value = this.wanted.get(control.index);
        if (own === step && value !== undefined && !(uploads === "none" && kind === "file"))
          fates.set(control.index, await this.enter(control, value));
      }
      await this.enterAgain(step);
      const next = contract.steps[step];
      const later = labels.filter((label) => contract.fields[label]?.step === step + 1);
      const then = later.flatMap((label) => placeOf(contract.fields[label]?.actions ?? []) ?? []);
      if (later.length === 0) then.push(contract.steps[step + 1] ?? (contract.submit as PlaceOf));
      isThere = next === undefined || !submits || (await stepOn(session, next, later, STEP_MS, then));
    }
    if (submits && (contract.saves ?? []).length > 0) await savesDone(session);
    const sent = submits && isThere ? await this.submit(textsOf(actions)) : undefined;
    const sending = sent && sentRecord(sent.verdict?.why);
    const records = this.records.map((record): ActionRecord => {
      const { action, control = -1 } = record;
      if (action.kind === "submit" && record.fate === "done")
        return { action, ...(sending ?? { fate: "rejected", detail: this.instead }) };
      const done = fates.get(control);
      if (!this.open.has(record)) return record;
      return done === undefined ? { ...record, neutral: true } : { ...record, fate: done };
    });
    const form = { controls, contract, fields: contract.fields };
    return playedBy(form, { requests: [], ...sent }, records, this.task);
  }

  /**
   * Enters again the values that a late script of the page has blanked, such as one that draws the mask of an input.
   */
  private async enterAgain(step: number): Promise<void> {
    const { session, fates } = this;
    const { controls, ways } = this.form;
    const entered = controls.flatMap((control) => {
      const field = this.fieldOf(control);
      const value = this.wanted.get(control.index) ?? "";
      const way = wayOf(ways, field);
      const isTyped = way.isTyping === true && isWritten(value);
      return isTyped && field.step === step && fates.get(control.index) === "done" ? [{ control, field, value }] : [];
    });
    if (entered.length === 0) return;
    const labels = entered.map(({ control }) => control.label);
    const boxes = entered.map(({ field }) => boxIndex(field));
    for (const [i, shown] of (await shownIn(session, labels, boxes)).entries()) {
      const { control, value } = entered[i] as (typeof entered)[number];
      const isBlanked = shown.values.length > 0 && !shown.values.some(isWritten);
      if (shown.present && isBlanked) fates.set(control.index, await this.enter(control, value));
    }
  }

  private async enter(control: Control, value: FieldValue): Promise<Fate> {
    const { session, form } = this;
    const { ways } = form;
    const { label } = control;
    try {
      await operate(session, ways, label, this.fieldOf(control), value, PATIENCE);
      return "done";
    } catch (error) {
      if (error instanceof PolicyFailure || session.page.isClosed() || !session.browser.isConnected()) throw error;
      await this.checkIsThere(label);
      await closeOpenAt(session, label);
      return error instanceof NoOption ? "no-such-option" : "rejected";
    }
  }

  /** @throws EnvironmentFault if a field that every task has stands nowhere on an untouched first part of the form. */
  private async checkIsThere(label: string): Promise<void> {
    const { contract } = this.form;
    const [shown] = await shownIn(this.session, [label]);
    const isFirst = [...this.fates.values()].every((fate) => fate !== "done") && contract.fields[label]?.step === 0;
    if (shown?.present === true || contract.recorded === true || !isFirst) return;
    throw new EnvironmentFault(
      `${contract.form}: the page is not the one that was learned, ${label} is not there: \`refusion-train learn\` learns it anew`,
    );
  }

  /** Sends the form. @returns the evidence of it; undefined if nothing was sent. */
  private async submit(written: readonly string[]): Promise<Pick<Evidence, "requests" | "verdict"> | undefined> {
    const { session, task, labels } = this;
    const { traffic } = session;
    const { contract } = this.form;
    const { request, submit: button, confirm } = contract;
    if (request === undefined || button === undefined)
      throw new EnvironmentFault(`${contract.form}: its request is not known`);
    const isForm = (exchange: Exchange): boolean => isSame(request, exchange);
    const acceptance = acceptanceOf(task, contract);
    const before = await beforePress(session, acceptance, written);
    const isOver = async (): Promise<boolean> => (await shownIn(session, labels)).some(({ invalid }) => invalid);
    const patience = session.stretched(Math.max(SENDS_MS, 3 * contract.sends_within_ms + 500));
    const formOf = (): Exchange[] => traffic.exchanges.filter((one) => one.phase === "submit" && isForm(one));
    try {
      const isPressed = await pressChain(session, [button, ...confirm], isForm, patience, isOver).then(
        () => true,
        (error: unknown) => {
          // a button that is covered or gone means that the form refuses the values
          if (session.page.isClosed() || !(error instanceof playwright().errors.TimeoutError)) throw error;
          return false;
        },
      );
      if (!isPressed || formOf().length === 0) {
        const other = traffic.exchanges.find(({ phase, method }) => phase === "submit" && method !== "GET");
        if (other) this.instead = `it sent ${nameOf(other)}, where the contract has ${request.method} ${request.path}`;
        return undefined;
      }
      const verdict = await follow(session, acceptance, { before, written, formOf });
      return { requests: [keptRequest(formOf().at(-1) as Exchange, contract, traffic.exchanges)], verdict };
    } finally {
      traffic.disarm();
    }
  }
}

/** Carries out a plan on a known form. @throws EnvironmentFault if the page is not the one that was learned. */
export const playPlan = (
  session: Session,
  form: LearnedForm,
  task: Task,
  plan: Plan,
  uploads: "dummy" | "none",
): Promise<Played> => new Play(session, form, task).play(plan, uploads);
