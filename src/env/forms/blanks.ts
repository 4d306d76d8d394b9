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

/** A control in a template: only facts of the page, none of a task. */
export interface TemplateControl extends FieldKind {
  readonly label: string;
}

/** The line of a page without fields: the only answer is whether to send the page. */
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

/** The first word of a control's line, as in plans. */
const VERBS: Partial<Record<BlankKind, string>> = { choice: "select", list: "select", flag: "check" };

/**
 * Writes a form as lines with blanks, one for each control, in page order:
 * ```
 * fill Guest Name | ____
 * select Visit Time | ____
 * check Print Card | ____
 * ```
 * A checkbox is a blank of yes or no; the submit is added automatically. A page without fields is `submit | ____`.
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
  return (controls.length === 0 ? [SUBMIT] : controls).map(({ label, kind, options, longest, required }) => {
    let name = label;
    for (let n = 2; taken.has(name); n++) name = `${label} (${n})`;
    taken.add(name);
    const all = kind === "checkbox" ? ["yes", "no"] : (options ?? []);
    return {
      name,
      kind: KINDS[kind],
      ...(all.length === 0 ? {} : { options: all }),
      ...(longest === undefined ? {} : { longest }),
      // a box is ticked or not, and a page may refuse a form without a choice
      ...(kind === "checkbox" || (required === true && all.length > 0 && kind !== "checkbox-group")
        ? { required: true as const }
        : {}),
    };
  });
}

/** Lists the controls of a form whose kinds are known by label, in page order. */
export const controlsOf = (kinds: Readonly<Record<string, FieldKind>>): TemplateControl[] =>
  Object.entries(kinds).map(([label, kind]) => ({ label, ...kind }));

/** Returns a template's controls by label, as a prompt of the style `page` shows them. */
export const shownOf = (controls: readonly TemplateControl[]): Record<string, FieldKind> =>
  Object.fromEntries(controls.map(({ label, ...control }) => [label, control]));

/**
 * Lists the controls of a page that was read: those that are present, and those that tasks of the form name, with the
 * labels of the tasks. A named control that is not on the page may appear after others are filled in.
 * @param tasks all tasks of the form, so that the template does not depend on a single one.
 * @param labels labels of this page, if the form has several; default: all labels of the tasks.
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
    // an option without a value is no choice
    const options = control.options.flatMap(({ text, value }) => (value === "" ? [] : [text]));
    return label === "" ? [] : [{ label, kind, default: preset, options, name, required }];
  });
  return [...shown, ...others];
}

/** Turns filled blanks into actions: one for each value that the page does not hold already, then the submit. */
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
    if (value === EMPTIED && isPreset(control)) return [{ kind: "fill", label, value: "" }];
    return fieldActions(label, on ?? (kind === "checkbox-group" ? listItems(options, value) : value), control);
  });
  return [...actions, { kind: "submit" }];
}

/** Returns the plan of an answer: from its blanks if it filled in a template, else from its text. */
export const planOf = ({ text = "", values }: PolicyAction, controls: readonly TemplateControl[]): Plan =>
  values === undefined ? parsePlan(text) : { actions: blankActions(controls, values), unresolved: [] };

/**
 * Returns the values of a perfect policy: each control's true value as plans write it, or an empty text. A required box
 * that the truth does not name has none: leaving it cannot be right.
 */
export function trueValues(
  controls: readonly TemplateControl[],
  fields: Readonly<Record<string, FieldValue>>,
): Record<string, string> {
  if (controls.length === 0) return { [SUBMIT.label]: "yes" };
  return Object.fromEntries(
    blanksOf(controls).flatMap(({ name, kind }, i) => {
      const control = controls[i] as TemplateControl;
      const truth = byLabel(fields, control.label)?.[1];
      if (truth === undefined && control.required === true && kind === "flag") return [];
      return [[name, written(truth ?? (kind === "flag" ? control.default === true : ""), control)]];
    }),
  );
}

/** Finds the entry of a label in a record, in a loose spelling too. */
function byLabel<T>(record: Readonly<Record<string, T>>, label: string): readonly [string, T] | undefined {
  if (Object.hasOwn(record, label)) return [label, record[label] as T];
  return Object.entries(record).find(([other]) => looseLabel(other) === looseLabel(label));
}

/** The text of a blank that empties a field. */
const EMPTIED = "none";

/** Tells whether a text stands in a field that takes any. */
const isPreset = ({ default: preset, options, kind }: TemplateControl): boolean =>
  typeof preset === "string" && preset !== "" && (options ?? []).length === 0 && kind !== "file" && kind !== "checkbox";

function written(truth: FieldValue, control: TemplateControl): string {
  const { kind, default: preset } = control;
  if (kind === "file" && isNoFile(truth)) return "";
  // what is not empty has to be emptied; an empty blank leaves it as it is
  const clears = Array.isArray(truth) && truth.length === 0 && Array.isArray(preset) && preset.length > 0;
  if (clears || (truth === "" && isPreset(control))) return EMPTIED;
  // one spelling for a box, whatever the task's: the blank's options are yes and no
  const ticked = kind === "checkbox" && truth !== "" ? parseBoolean(spoken(truth)) : undefined;
  return spoken(ticked ?? truth);
}

/**
 * Returns each blank as the attempt at its field; the part includes the end mark of its value.
 * @param scores scores of the task's fields by label, 0 to 1.
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
    // the end mark follows the value's text
    return [{ name: scored[0], start: span.start, end: span.end + 1, reward: scored[1] }];
  });
}
