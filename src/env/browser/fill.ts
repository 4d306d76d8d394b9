import {
  findOption,
  listItems,
  normalizeLabel,
  parseBoolean,
  parseDate,
  parseNumber,
  parseTime,
  writeDate,
} from "../forms/normalize.js";
import type { Action } from "../forms/plan.js";
import type { ControlKind } from "../site.js";
import { type Control, findControl, type ReadForm, submitButton } from "./controls.js";
import { applyOps, type PageOp } from "./page/actions.js";

/** The value, tick or other state that an action asks of a control. */
export interface Wanted {
  readonly value?: string;
  readonly on?: boolean;
  readonly toggle?: boolean;
}

/**
 * Fate of an action. `done`: it took effect. `rejected`: the page or the control did not take it (a text
 * in a number field, a submit that the page's own validation stops). `timeout`: the page did not react in time.
 */
export type Fate =
  | "done"
  | "no-such-control"
  | "no-such-option"
  | "ambiguous"
  | "rejected"
  | "after-submit"
  | "timeout";

/** An action and what became of it. */
export interface ActionRecord {
  readonly action: Action;
  readonly fate: Fate;
  readonly detail?: string;
  /** The control it acted on, by index; absent for goto, submit and whatever found no control. */
  readonly control?: number;
  /** Set where an action asked for nothing that counts: going to the page one is on, a click into a text field, a file where uploads are off. */
  readonly neutral?: true;
  /** The submit whose form post reached the server. */
  readonly submitted?: true;
}

/** A step that an action becomes on this page, before anything is touched. */
export type Step =
  | {
      readonly do: "ops";
      readonly control: number | undefined;
      readonly ops: readonly PageOp[];
      readonly detail?: string;
    }
  | { readonly do: "upload"; readonly control: number; readonly file: string }
  | { readonly do: "operate"; readonly control: number; readonly wanted: Wanted }
  | { readonly do: "submit"; readonly button: number | undefined }
  | { readonly do: "nothing"; readonly fate: Fate; readonly control?: number; readonly detail?: string };

const TEXT_KINDS: readonly ControlKind[] = [
  "text",
  "textarea",
  "email",
  "tel",
  "url",
  "password",
  "number",
  "date",
  "time",
];
const isChoice = (kind: ControlKind): boolean => kind === "select" || kind === "radio" || kind === "checkbox-group";
const isTick = (kind: ControlKind): boolean => kind === "checkbox" || kind === "checkbox-group";

/** Tells which kinds a verb is meant for: it decides only between several controls of one label. */
function preference(action: Action): (kind: ControlKind) => boolean {
  switch (action.kind) {
    case "fill":
      return (kind) => TEXT_KINDS.includes(kind) || kind === "file";
    case "select":
      return isChoice;
    case "check":
    case "uncheck":
      return isTick;
    default:
      return () => true;
  }
}

/**
 * Finds out what an action means on this page. Lenient about the verb where the meaning is plain: `fill` picks an option
 * of a select, `select` of a radio group, `fill X | yes` ticks a box; a `no` unticks it.
 * @param path the task's own path: to navigate there again is no change.
 */
export function resolveAction(action: Action, form: Pick<ReadForm, "controls" | "buttons">, path: string): Step {
  if (action.kind === "submit") return { do: "submit", button: submitButton(form) };
  if (action.kind === "goto") {
    return pathOf(action.url) === pathOf(path)
      ? { do: "ops", control: undefined, ops: [] }
      : { do: "nothing", fate: "rejected", detail: "not the task's page" };
  }
  const target = findControl(form.controls, action.label, preference(action));
  if (target === "ambiguous") return { do: "nothing", fate: "ambiguous" };
  if (target === "none")
    return action.kind === "click" ? pressButton(action.label, form) : { do: "nothing", fate: "no-such-control" };
  const { control, option } = target;
  if (control.widget !== "native")
    return { do: "operate", control: control.index, wanted: wantedOf(action, control, option) };
  if (option !== undefined) return onOption(action, control, option);
  switch (action.kind) {
    case "fill":
    case "select":
      return giveValue(control, action.value);
    case "check":
    case "uncheck":
      return tick(control, action.kind === "check");
    case "click":
      // a click on a text field only moves the focus
      return {
        do: "ops",
        control: control.index,
        ops: control.kind === "checkbox" ? [{ op: "toggle", control: control.index }] : [],
      };
  }
}

function wantedOf(action: Action, control: Control, option: number | undefined): Wanted {
  if (option !== undefined) return { value: control.options[option]?.text ?? "" };
  if (action.kind === "fill" || action.kind === "select") return { value: action.value };
  return action.kind === "click" ? { toggle: true } : { on: action.kind === "check" };
}

function pathOf(url: string): string | undefined {
  try {
    return new URL(url, "http://site.invalid").pathname.replace(/\/+$/, "");
  } catch {
    return undefined;
  }
}

function pressButton(label: string, form: Pick<ReadForm, "buttons">): Step {
  const wanted = normalizeLabel(label);
  const button = form.buttons.findIndex((b) => wanted !== "" && normalizeLabel(b.label) === wanted);
  if (button < 0) return { do: "nothing", fate: "no-such-control" };
  return form.buttons[button]?.submits === true
    ? { do: "submit", button }
    : { do: "ops", control: undefined, ops: [{ op: "press", button }] };
}

/** The label named one option of a group: `check Jazz`, `click Jazz`, `fill Jazz | yes`. */
function onOption(action: Action, control: Control, option: number): Step {
  let on: boolean | undefined = action.kind !== "uncheck";
  if (action.kind === "fill" || action.kind === "select") on = parseBoolean(action.value);
  if (on === undefined || (!on && control.kind === "radio"))
    return { do: "nothing", fate: "no-such-option", control: control.index };
  return { do: "ops", control: control.index, ops: [optionOp(control, option, on)] };
}

function tick(control: Control, on: boolean): Step {
  if (control.kind === "checkbox")
    return { do: "ops", control: control.index, ops: [{ op: "check", control: control.index, on }] };
  if (control.kind === "checkbox-group" && !on) return setOptions(control, []);
  return { do: "nothing", fate: "rejected", control: control.index, detail: `a ${control.kind} cannot be ticked` };
}

function giveValue(control: Control, value: string): Step {
  const index = control.index;
  switch (control.kind) {
    case "checkbox": {
      const on = parseBoolean(value);
      return on === undefined ? { do: "nothing", fate: "no-such-option", control: index } : tick(control, on);
    }
    case "select":
    case "radio": {
      const option = findOption(control.options, value);
      if (option === undefined) return { do: "nothing", fate: "no-such-option", control: index };
      return { do: "ops", control: index, ops: [optionOp(control, option, true)] };
    }
    case "checkbox-group": {
      const items = listItems(control.options, value);
      const chosen = items.map((item) => findOption(control.options, item));
      const known = chosen.filter((option) => option !== undefined);
      if (known.length < chosen.length) return { do: "nothing", fate: "no-such-option", control: index };
      // one item adds to what is ticked, so that items can come one a line; a list is the whole choice
      if (known.length === 1)
        return {
          do: "ops",
          control: index,
          ops: known.map((option) => optionOp(control, option, true)),
        };
      return setOptions(control, known);
    }
    case "file":
      return { do: "upload", control: index, file: value };
    default:
      return { do: "ops", control: index, ops: [{ op: "value", control: index, value: typed(control, value) }] };
  }
}

const optionOp = ({ index: control, options }: Control, option: number, on: boolean): PageOp => ({
  op: "option",
  control,
  option,
  value: options[option]?.value ?? "",
  on,
});

function setOptions(control: Control, chosen: readonly number[]): Step {
  const ops = control.options.map((_, option) => optionOp(control, option, chosen.includes(option)));
  return { do: "ops", control: control.index, ops };
}

/** The notation that a control takes; what cannot be read goes in as it is and the control refuses it. */
function typed({ kind, notation }: Control, value: string): string {
  switch (kind) {
    case "date": {
      const date = parseDate(value);
      return date === undefined ? value : notation === undefined ? date : writeDate(date, notation);
    }
    case "time":
      return parseTime(value) ?? value;
    case "number": {
      const number = parseNumber(value);
      return number === undefined ? value : /^[-+]?\d*\.?\d+$/.test(value) ? value.replace(/^\+/, "") : String(number);
    }
    case "textarea":
      return value;
    default:
      // a one-line control would glue the lines together
      return value.replace(/\s*[\r\n]+\s*/g, " ");
  }
}

/** Applies steps that only set values, in one round trip. @returns a record for each. */
export async function applySteps(
  form: ReadForm,
  batch: readonly { readonly action: Action; readonly step: Step }[],
): Promise<ActionRecord[]> {
  const ops = batch.flatMap(({ step }) => (step.do === "ops" ? step.ops : []));
  const took = ops.length === 0 ? [] : await form.handle.evaluate(applyOps, ops);
  let next = 0;
  return batch.map(({ action, step }): ActionRecord => {
    const on = "control" in step && step.control !== undefined ? { control: step.control } : {};
    if (step.do === "nothing")
      return { action, fate: step.fate, ...(step.detail === undefined ? {} : { detail: step.detail }), ...on };
    const count = step.do === "ops" ? step.ops.length : 0;
    const fine = took.slice(next, next + count).every(Boolean);
    next += count;
    if (!fine) return { action, fate: "rejected", detail: "the control did not take the value", ...on };
    return { action, fate: "done", ...on, ...(count === 0 ? { neutral: true } : {}) };
  });
}
