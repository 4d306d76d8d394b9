import { nativeText } from "../forms/native.js";
import { findOption, listItems, normalizeLabel, parseBoolean } from "../forms/normalize.js";
import type { Action } from "../forms/plan.js";
import type { ControlKind } from "../site.js";
import { type Control, findControl, type ReadForm, submitButton } from "./controls.js";
import { applyOps, type PageOp } from "./page/actions.js";

/** The value or state that an action wants a control to have. */
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

/** An action with its fate. */
export interface ActionRecord {
  readonly action: Action;
  readonly fate: Fate;
  readonly detail?: string;
  /** Index of the control; absent for goto, submit and actions that found no control. */
  readonly control?: number;
  /** Set if an action does not count: going to the same page, a click into a text field, a file with uploads off. */
  readonly neutral?: true;
  /** Set on the submit whose form post reached the server. */
  readonly submitted?: true;
}

/** The step that carries out an action on this page. */
export type Step =
  | { readonly do: "ops"; readonly control: number | undefined; readonly ops: readonly PageOp[] }
  | { readonly do: "upload"; readonly control: number; readonly file: string }
  | { readonly do: "operate"; readonly control: number; readonly wanted: Wanted }
  | { readonly do: "submit"; readonly button: number | undefined }
  | { readonly do: "nothing"; readonly fate: Fate; readonly control?: number; readonly detail?: string };

const isChoice = (kind: ControlKind): boolean => kind === "select" || kind === "radio" || kind === "checkbox-group";
const isTick = (kind: ControlKind): boolean => kind === "checkbox" || kind === "checkbox-group";

/** The kinds that a verb is meant for; they decide only between several controls with one label. */
const PREFERRED: Partial<Record<Action["kind"], (kind: ControlKind) => boolean>> = {
  fill: (kind) => !isChoice(kind) && !isTick(kind),
  select: isChoice,
  check: isTick,
  uncheck: isTick,
};

/**
 * Turns an action into a step on this page. The verb may differ if the meaning is plain: `fill` picks an option of a
 * select, `select` of a radio group, `fill X | yes` ticks a checkbox and `no` unticks it.
 * @param path the task's path: going there again is no change.
 */
export function resolveAction(action: Action, form: Pick<ReadForm, "controls" | "buttons">, path: string): Step {
  if (action.kind === "submit") return { do: "submit", button: submitButton(form) };
  if (action.kind === "goto") {
    return pathOf(action.url) === pathOf(path)
      ? { do: "ops", control: undefined, ops: [] }
      : { do: "nothing", fate: "rejected", detail: "not the task's page" };
  }
  const target = findControl(form.controls, action.label, PREFERRED[action.kind]);
  if (target === "ambiguous") return { do: "nothing", fate: "ambiguous" };
  if (target === "none")
    return action.kind === "click" ? pressButton(action.label, form) : { do: "nothing", fate: "no-such-control" };
  const { control, option } = target;
  const wanted = wantedOf(action);
  if (control.widget !== "native") {
    const named = option === undefined ? wanted : { value: control.options[option]?.text ?? "" };
    return { do: "operate", control: control.index, wanted: named };
  }
  return option === undefined ? onControl(control, wanted) : onOption(control, option, wanted);
}

function wantedOf(action: Action): Wanted {
  if ("value" in action) return { value: action.value };
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

/** Handles a label that names one option of a group: `check Jazz`, `click Jazz`, `fill Jazz | yes`. */
function onOption(control: Control, option: number, { value, on = true }: Wanted): Step {
  const chosen = value === undefined ? on : parseBoolean(value);
  if (chosen === undefined || (!chosen && control.kind === "radio"))
    return { do: "nothing", fate: "no-such-option", control: control.index };
  return { do: "ops", control: control.index, ops: [optionOp(control, option, chosen)] };
}

function onControl(control: Control, { value = "", on, toggle }: Wanted): Step {
  const { kind, index, options } = control;
  const step = (...ops: PageOp[]): Step => ({ do: "ops", control: index, ops });
  const unknown: Step = { do: "nothing", fate: "no-such-option", control: index };
  // a click on a text field only moves the focus
  if (toggle === true) return kind === "checkbox" ? step({ op: "toggle", control: index }) : step();
  if (on !== undefined) {
    if (kind === "checkbox") return step({ op: "check", control: index, on });
    if (kind === "checkbox-group" && !on) return step(...optionOps(control, []));
    return { do: "nothing", fate: "rejected", control: index, detail: `a ${kind} cannot be ticked` };
  }
  switch (kind) {
    case "checkbox": {
      const ticked = parseBoolean(value);
      return ticked === undefined ? unknown : step({ op: "check", control: index, on: ticked });
    }
    case "select":
    case "radio": {
      const option = findOption(options, value);
      return option === undefined ? unknown : step(optionOp(control, option, true));
    }
    case "checkbox-group": {
      const items = listItems(options, value);
      const chosen = items.flatMap((item) => findOption(options, item) ?? []);
      if (chosen.length < items.length) return unknown;
      // one item adds to the ticked ones, so that a plan can have a line for each; a list is the whole choice
      const [only] = chosen;
      return step(
        ...(only !== undefined && chosen.length === 1 ? [optionOp(control, only, true)] : optionOps(control, chosen)),
      );
    }
    case "file":
      return { do: "upload", control: index, file: value };
    default:
      return step({ op: "value", control: index, value: nativeText(kind, value, control.notation) });
  }
}

const optionOp = ({ index: control, options }: Control, option: number, on: boolean): PageOp => ({
  op: "option",
  control,
  option,
  value: options[option]?.value ?? "",
  on,
});

const optionOps = (control: Control, chosen: readonly number[]): PageOp[] =>
  control.options.map((_, option) => optionOp(control, option, chosen.includes(option)));

/** Applies steps that only set values, in one round trip. @returns a record for each. */
export async function applySteps(
  form: ReadForm,
  batch: readonly { readonly action: Action; readonly step: Step }[],
): Promise<ActionRecord[]> {
  const ops = batch.flatMap(({ step }) => (step.do === "ops" ? step.ops : []));
  const took = ops.length === 0 ? [] : await form.handle.evaluate(applyOps, ops);
  let next = 0;
  return batch.map(({ action, step }): ActionRecord => {
    const count = step.do === "ops" ? step.ops.length : 0;
    next += count;
    return recordOf(action, step, took.slice(next - count, next).every(Boolean));
  });
}

/** Returns the record of a step. @param fine whether the page took its values. */
export function recordOf(action: Action, step: Step, fine = true): ActionRecord {
  const on = "control" in step && step.control !== undefined ? { control: step.control } : {};
  if (step.do === "nothing")
    return { action, fate: step.fate, ...(step.detail === undefined ? {} : { detail: step.detail }), ...on };
  if (!fine) return { action, fate: "rejected", detail: "the control did not take the value", ...on };
  const isNeutral = step.do !== "ops" || step.ops.length === 0;
  return { action, fate: "done", ...on, ...(isNeutral ? { neutral: true } : {}) };
}
