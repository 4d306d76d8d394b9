import { isNamed, looseLabel, normalizeLabel } from "../forms/normalize.js";
import type { ControlKind, FieldValue } from "../site.js";
import type { Held, WidgetName } from "./page/aria.js";
import type { RawControl } from "./page/fields.js";
import { type KnownControl, type PageForm, type RawButton, readPage, readValues } from "./page/reader.js";
import type { PageHandle, PageWorld } from "./page/world.js";

/** One control of a page, as a person sees it. */
export interface Control {
  /** Its place on the page, which is also how it is reached. */
  readonly index: number;
  readonly kind: ControlKind;
  /** How it is operated. */
  readonly widget: WidgetName;
  /** Accessible name. */
  readonly label: string;
  /** What a person may call it too. */
  readonly also: readonly string[];
  /** What names the group or section that it stands in. */
  readonly section: string;
  /** Under which name it is posted; `id` where a page posts by id. */
  readonly name: string;
  readonly id: string;
  readonly required: boolean;
  /** How a date has to be written where the control is a text field that says so: `YYYY/MM/DD`. */
  readonly notation?: string;
  /** What it holds on a page nobody has touched; shaped as a FieldValue of its kind. */
  readonly default: FieldValue;
  readonly options: readonly { readonly text: string; readonly value: string }[];
  /** Its form's place on the page, -1 without one. */
  readonly form: number;
  /** Whether it can be reached now. */
  readonly present: boolean;
  /** It was not there on the untouched page. */
  readonly late?: true;
  /** Of another form than the one that the task is about. */
  readonly elsewhere?: true;
}

/** A read page: its controls as data, and the handle through which they are changed. It is read again as it changes. */
export interface ReadForm {
  controls: readonly Control[];
  buttons: readonly RawButton[];
  handle: PageHandle<PageForm>;
  /** Whether the page's scripts may listen, so that it has to be used as a person does. */
  scripted: boolean;
  /** Whether fields of the page listen to their keys; found out when it matters. */
  keyed: boolean | undefined;
  /** What controls came to that the page does not tell by itself. */
  readonly recorded: Map<number, FieldValue>;
  /** What was typed into controls. */
  readonly typed: Map<number, string>;
  /** Hidden fields that changed with a control. */
  readonly mirrors: Map<number, (readonly [string, string])[]>;
  /** What controls held when the step that they belong to was left. */
  readonly left: Map<number, FieldValue>;
  /** The task's labels, by which its form is told from others. */
  readonly labels: readonly string[];
}

/**
 * Reads a page's controls in one round trip to the page and one for the data.
 * @param before what was read of the page that this one has taken the place of.
 */
export async function readForm(
  world: PageWorld,
  patienceMs: number,
  labels: readonly string[] = [],
  before?: ReadForm,
): Promise<ReadForm> {
  const known = (before?.controls ?? []).map(
    ({ kind, label, name, section }): KnownControl => ({ kind, label, name, section }),
  );
  const handle = await world.hold(readPage, { patienceMs, known, labels });
  const form: ReadForm = {
    controls: before?.controls ?? [],
    buttons: [],
    handle,
    scripted: false,
    keyed: undefined,
    recorded: before?.recorded ?? new Map(),
    typed: before?.typed ?? new Map(),
    mirrors: before?.mirrors ?? new Map(),
    left: before?.left ?? new Map(),
    labels,
  };
  take(form, await handle.evaluate(dataOf));
  return form;
}

/** Reads the page again after it has changed: known controls keep their place, new ones come after them. */
export async function rescan(form: ReadForm): Promise<void> {
  take(form, await form.handle.evaluate(scanned));
}

type PageData = Pick<PageForm, "controls" | "scripted"> & { readonly buttons: RawButton[] };

const dataOf = (page: PageForm): PageData => ({
  controls: page.controls,
  buttons: page.buttonData,
  scripted: page.scripted,
});
const scanned = (page: PageForm): PageData => {
  page.scan();
  return { controls: page.controls, buttons: page.buttonData, scripted: page.scripted };
};

function take(form: ReadForm, raw: PageData): void {
  const last = form.controls;
  const controls = raw.controls.slice(0, READ_LIMITS.controls).map((control, i) => {
    const read = toControl(control, i);
    const known = last[i];
    if (known === undefined) return last.length === 0 ? read : { ...read, late: true as const };
    // of a page that was left behind, and of a list that is closed, what was seen of them stays known
    if (!read.present) return { ...known, present: false };
    // what was learned of it in use stays: its options, and whether it takes several
    return {
      ...read,
      kind: known.kind,
      ...(known.late === undefined ? {} : { late: known.late }),
      default: known.default,
      options: read.options.length > 0 ? read.options : known.options,
    };
  });
  form.controls = withoutOthers(controls, form.labels);
  form.buttons = raw.buttons;
  form.scripted = raw.scripted;
}

/** Marks controls of other forms than the one that has most of the task's labels: a search, a newsletter, a login. */
function withoutOthers(controls: readonly Control[], labels: readonly string[]): Control[] {
  const wanted = new Set(labels.map(looseLabel));
  const counts = new Map<number, number>();
  for (const control of controls)
    if (control.present && isCalled(control, wanted)) counts.set(control.form, (counts.get(control.form) ?? 0) + 1);
  const [best] = [...counts].sort((a, b) => b[1] - a[1]);
  if (best === undefined) return [...controls];
  return controls.map((control) => {
    const { elsewhere: _, ...rest } = control;
    return control.form === best[0] || !control.present ? rest : { ...rest, elsewhere: true };
  });
}

function isCalled(control: Control, wanted: ReadonlySet<string>): boolean {
  const { loose, sectioned, also } = formsOf(control);
  return [loose, ...sectioned, ...also].some((name) => wanted.has(name));
}

/** The task's own form: the one that most of its labels are in; undefined where the page shows none of them. */
export function mainForm(form: Pick<ReadForm, "controls">): number | undefined {
  const counts = new Map<number, number>();
  for (const control of form.controls)
    if (control.present && !control.elsewhere) counts.set(control.form, (counts.get(control.form) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
}

/** The controls' values now. @returns one FieldValue a control. */
export async function currentValues(form: ReadForm): Promise<FieldValue[]> {
  const raw = await form.handle.evaluate(readValues);
  return form.controls.map((control, i) => {
    const recorded = form.recorded.get(i);
    if (!control.present) return form.left.get(i) ?? recorded ?? emptyOf(control.kind);
    if (control.widget === "found" || control.widget === "tags") return recorded ?? control.default;
    if (raw[i] === undefined) return "";
    const value = toValue(control.kind, raw[i]);
    // a widget may show what was chosen in its own words, or not at all
    return recorded !== undefined &&
      control.widget !== "native" &&
      control.widget !== "boxes" &&
      control.widget !== "switch"
      ? recorded
      : value;
  });
}

const emptyOf = (kind: ControlKind): FieldValue => (kind === "checkbox" ? false : kind === "checkbox-group" ? [] : "");

/** Beyond these a page is no form that a person fills in: they bound what comparing labels and options may cost. */
const READ_LIMITS = { controls: 1000, options: 2000, text: 1000 };

function toControl(page: RawControl, index: number): Control {
  const raw = {
    ...page,
    label: page.label.slice(0, READ_LIMITS.text),
    options: page.options.slice(0, READ_LIMITS.options).map((option) => ({
      ...option,
      text: option.text.slice(0, READ_LIMITS.text),
      value: option.value.slice(0, READ_LIMITS.text),
    })),
  };
  return {
    index,
    kind: raw.kind,
    widget: raw.widget,
    label: raw.label,
    also: raw.also.map((text) => text.slice(0, READ_LIMITS.text)),
    section: raw.section.slice(0, READ_LIMITS.text),
    form: raw.form,
    present: raw.present,
    name: raw.name,
    id: raw.id,
    required: raw.required,
    ...(raw.notation === undefined ? {} : { notation: raw.notation }),
    default: toValue(raw.kind, raw),
    options: raw.options.map(({ text, value }) => ({ text, value })),
  };
}

function toValue(kind: ControlKind, raw: Held): FieldValue {
  switch (kind) {
    case "checkbox":
      return raw.checked;
    case "checkbox-group":
      return raw.options.filter((option) => option.chosen).map((option) => option.text);
    case "radio":
      return raw.options.find((option) => option.chosen)?.text ?? "";
    case "select": {
      // a placeholder ("Choose one", value "") is no choice
      const chosen = raw.options.find((option) => option.chosen);
      if (chosen === undefined && raw.value !== "") return raw.value;
      return chosen === undefined || chosen.value === "" ? "" : chosen.text;
    }
    default:
      return raw.value;
  }
}

/** A control's label as it is compared: also with the section that it stands in. */
interface LabelForms {
  readonly strict: string;
  readonly loose: string;
  readonly sectioned: readonly string[];
  readonly also: readonly string[];
}

/** Computed once a control: a plan asks for it with every line. */
const knownForms = new WeakMap<Control, LabelForms>();

function formsOf(control: Control): LabelForms {
  const known = knownForms.get(control);
  if (known !== undefined) return known;
  const loose = looseLabel(control.label);
  const section = looseLabel(control.section);
  const forms = {
    strict: normalizeLabel(control.label),
    loose,
    sectioned: section === "" || loose === "" ? [] : [section + loose, loose + section],
    also: control.also.map(looseLabel),
  };
  knownForms.set(control, forms);
  return forms;
}

/** What a label names: a control, or one option of a group. */
export type Target = { readonly control: Control; readonly option?: number } | "none" | "ambiguous";

/** Of several controls of one label: the kind that is meant, those that can be reached, those of the task's form. */
function narrowed(found: readonly Control[], prefer: (kind: ControlKind) => boolean): readonly Control[] {
  let rest = found;
  for (const keep of [
    (control: Control) => control.present,
    (control: Control) => control.elsewhere !== true,
    (control: Control) => control.widget !== "found",
    // several fields that are one to a person, before the first of them
    (control: Control) => control.widget === "parts" || control.widget === "digits",
    (control: Control) => prefer(control.kind),
  ]) {
    const kept = rest.length > 1 ? rest.filter(keep) : rest;
    if (kept.length > 0) rest = kept;
  }
  return rest;
}

/** `Guest name 2`: the second of the controls that are called `Guest name`. */
function nthOf(controls: readonly Control[], label: string): Control | undefined {
  const numbers = label.match(/\d+/g) ?? [];
  const nth = Number(numbers[0]);
  if (numbers.length !== 1 || nth < 1 || nth > 50) return undefined;
  const base = looseLabel(label.replace(/\d+/, " "));
  const found = base === "" ? [] : controls.filter((control) => control.present && formsOf(control).loose === base);
  return found.length > 1 || nth === 1 ? found[nth - 1] : undefined;
}

/**
 * Finds the control a label names: by accessible name, then by its letters and digits alone, then as one option of a
 * radio or checkbox group, at last by what else it may be called. Of several controls with one name, `prefer` may single one out.
 */
export function findControl(
  controls: readonly Control[],
  label: string,
  prefer: (kind: ControlKind) => boolean = () => true,
): Target {
  const strict = normalizeLabel(label);
  const loose = looseLabel(label);
  const named = (same: (control: Control) => boolean): Target => {
    const found = controls.filter(same);
    const [only, second] = narrowed(found, prefer);
    if (only !== undefined && second === undefined) return { control: only };
    return found.length > 0 ? "ambiguous" : "none";
  };
  for (const same of [
    (control: Control) => strict !== "" && formsOf(control).strict === strict,
    (control: Control) => loose !== "" && formsOf(control).loose === loose,
    (control: Control) => loose !== "" && formsOf(control).sectioned.includes(loose),
  ]) {
    const target = named(same);
    if (target !== "none") return target;
  }
  const numbered = nthOf(controls, label);
  if (numbered !== undefined) return { control: numbered };
  const options = controls.flatMap((control) =>
    control.kind === "radio" || control.kind === "checkbox-group"
      ? control.options.flatMap((option, k) =>
          strict !== "" && isNamed(option, strict) ? [{ control, option: k }] : [],
        )
      : [],
  );
  const [only] = options;
  if (only !== undefined) return options.length === 1 ? only : "ambiguous";
  return named((control) => loose !== "" && formsOf(control).also.includes(loose));
}
