import {
  type Blank,
  type BlankKind,
  fillTemplate,
  type Action as PolicyAction,
  type Template,
  valueIn,
} from "../../core/interaction.js";
import { SEPARATOR } from "../../text/prompt.js";
import { type Control, controlNamed, findControl } from "../browser/controls.js";
import type { AnswerPart } from "../environment.js";
import type { ControlKind, FieldKind, FieldValue, Task } from "../site.js";
import { isNoFile, listItems, looseLabel, parseBoolean } from "./normalize.js";
import { fieldActions, spoken } from "./oracle.js";
import { type Action, type Plan, parsePlan } from "./plan.js";

/** A control as a template has it: what the page says of it, and nothing of a task. */
export interface TemplateControl extends FieldKind {
  readonly label: string;
}

/** The line of a page without fields: the only thing to say there is that it may be sent. */
const SUBMIT: TemplateControl = { label: "submit", kind: "checkbox", default: false };

const KINDS: Readonly<Record<ControlKind, BlankKind>> = {
  text: "text",
  textarea: "paragraph",
  password: "text",
  email: "email",
  tel: "tel",
  url: "url",
  number: "number",
  date: "date",
  time: "time",
  file: "file",
  select: "choice",
  radio: "choice",
  "checkbox-group": "list",
  checkbox: "flag",
};

/** The word that a control's line begins with, as plans have it. */
const VERBS: Partial<Record<BlankKind, string>> = { choice: "select", list: "select", flag: "check" };

/**
 * A form as lines with blanks, one a control, in page order:
 * ```
 * fill Guest Name | ____
 * select Visit Time | ____
 * check Print Card | ____
 * ```
 * A box is a blank of yes or no; the submit follows by itself. A page without fields is the line `submit | ____`.
 */
export function formTemplate(controls: readonly TemplateControl[]): Template {
  const blanks = blanksOf(controls);
  if (controls.length === 0) return { parts: [`${SUBMIT.label}${SEPARATOR}`, ...blanks] };
  return {
    parts: controls.flatMap(({ label }, i) => {
      const blank = blanks[i] as Blank;
      const line = `${VERBS[blank.kind] ?? "fill"} ${label.replace(/\s+/gu, " ").trim()}${SEPARATOR}`;
      return [i === 0 ? line : `\n${line}`, blank];
    }),
  };
}

function blanksOf(controls: readonly TemplateControl[]): Blank[] {
  const taken = new Set<string>();
  return (controls.length === 0 ? [SUBMIT] : controls).map(({ label, kind, options, longest }) => {
    let name = label;
    for (let n = 2; taken.has(name); n++) name = `${label} (${n})`;
    taken.add(name);
    const all = kind === "checkbox" ? ["yes", "no"] : (options ?? []);
    return {
      name,
      kind: KINDS[kind],
      ...(all.length === 0 ? {} : { options: all }),
      ...(longest === undefined ? {} : { longest }),
    };
  });
}

/** The controls of a form whose kinds are known by label, in page order. */
export function controlsOf(kinds: Readonly<Record<string, FieldKind>>): TemplateControl[] {
  return Object.entries(kinds).map(([label, kind]) => ({ label, ...kind }));
}

/**
 * The controls of a page that was read: those that can be filled in now, and those that tasks of the form name. Each is
 * called as those tasks call it; what they name and the page does not show may come with what is filled in before it.
 * @param tasks all of the form, so that none of its own tasks tells what is asked for.
 * @param labels of the page, where the form has several; default: all that the tasks name.
 */
export function controlsOnPage(
  controls: readonly Control[],
  tasks: readonly Pick<Task, "fields">[],
  labels: readonly string[] = [...new Set(tasks.flatMap(({ fields }) => Object.keys(fields)))],
): TemplateControl[] {
  const names = new Map<Control, string>();
  const others = labels.flatMap((label): TemplateControl[] => {
    const named = controlNamed(controls, label);
    if (named !== undefined) {
      if (!names.has(named)) names.set(named, label);
      return [];
    }
    const target = findControl(controls, label);
    const { control, option = -1 } = typeof target === "string" ? {} : target;
    const held = [control?.default].flat().includes(control?.options[option]?.text);
    return tasks.some(({ fields }) => Object.hasOwn(fields, label) && typeof fields[label] === "boolean")
      ? [{ label, kind: "checkbox", default: held }]
      : [{ label, kind: "text", default: "" }];
  });
  const shown = controls.flatMap((control): TemplateControl[] => {
    const { kind, default: preset, present, name, required } = control;
    const label = names.get(control) ?? (present ? control.label.replace(/[\s*:]+$/, "") : "");
    // an entry without a value is no choice
    const options = control.options.flatMap(({ text, value }) => (value === "" ? [] : [text]));
    return label === "" ? [] : [{ label, kind, default: preset, options, name, required }];
  });
  return [...shown, ...others];
}

/** Tells what filled blanks ask the page for: an action for each value that is not there already, then the submit. */
export function blankActions(controls: readonly TemplateControl[], values: Readonly<Record<string, string>>): Action[] {
  if (controls.length === 0) return parseBoolean(valueIn(values, { name: SUBMIT.label })) ? [{ kind: "submit" }] : [];
  const actions = blanksOf(controls).flatMap((blank, i): Action[] => {
    const control = controls[i] as TemplateControl;
    const { label, kind } = control;
    const value = valueIn(values, blank).trim();
    const on = kind === "checkbox" ? parseBoolean(value) : undefined;
    if (value === "") return [];
    if (kind === "checkbox" && on === undefined) return [{ kind: "select", label, value }];
    const options = (control.options ?? []).map((text) => ({ text, value: text }));
    return fieldActions(label, on ?? (kind === "checkbox-group" ? listItems(options, value) : value), control);
  });
  return [...actions, { kind: "submit" }];
}

/** The plan of an answer: by its blanks where it filled in a template, else as its text says. */
export function planOf({ text = "", values }: PolicyAction, controls: readonly TemplateControl[]): Plan {
  return values === undefined ? parsePlan(text) : { actions: blankActions(controls, values), unresolved: [] };
}

/** Tells what a perfect policy fills in: each control's true value as plans write it; nothing where there is none. */
export function trueValues(
  controls: readonly TemplateControl[],
  fields: Readonly<Record<string, FieldValue>>,
): Record<string, string> {
  if (controls.length === 0) return { [SUBMIT.label]: "yes" };
  return Object.fromEntries(
    blanksOf(controls).map(({ name }, i) => {
      const { label, kind, default: preset } = controls[i] as TemplateControl;
      const truth = byLabel(fields, label)?.[1] ?? "";
      return [name, written(truth, kind, preset)];
    }),
  );
}

/** Tells what a record has under a label, however it is spelled there. */
function byLabel<T>(record: Readonly<Record<string, T>>, label: string): readonly [string, T] | undefined {
  if (Object.hasOwn(record, label)) return [label, record[label] as T];
  return Object.entries(record).find(([other]) => looseLabel(other) === looseLabel(label));
}

function written(truth: FieldValue, kind: ControlKind, preset: FieldValue): string {
  if (kind === "file" && isNoFile(truth)) return "";
  // an empty list that is not there yet has to be said
  const clears = Array.isArray(truth) && truth.length === 0 && Array.isArray(preset) && preset.length > 0;
  return clears ? "none" : spoken(truth);
}

/**
 * Each blank as the attempt at its field, the end of its value included.
 * @param scores of the task's fields by label, 0 to 1.
 */
export function blankParts(
  controls: readonly TemplateControl[],
  values: Readonly<Record<string, string>>,
  scores: Readonly<Record<string, number>>,
): AnswerPart[] {
  const { spans } = fillTemplate(formTemplate(controls), values);
  return blanksOf(controls).flatMap(({ name }, i) => {
    const span = spans.get(name);
    const scored = byLabel(scores, controls[i]?.label ?? "");
    if (span === undefined || scored === undefined) return [];
    // the end is written where the value's text ends
    return [{ name: scored[0], start: span.start, end: span.end + 1, reward: scored[1] }];
  });
}
