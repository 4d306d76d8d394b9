import { isNamed, looseLabel, normalizeLabel } from "../forms/normalize.js";
import type { ControlKind, FieldValue } from "../site.js";
import { type PageForm, type RawButton, type RawControl, readPage, readValues } from "./page-reader.js";
import type { PageHandle, PageWorld } from "./page-world.js";

/** One control of a page, as a person sees it. */
export interface Control {
  /** Its place on the page, which is also how it is reached. */
  readonly index: number;
  readonly kind: ControlKind;
  /** Accessible name. */
  readonly label: string;
  /** Under which name it is posted; `id` where a page posts by id. */
  readonly name: string;
  readonly id: string;
  readonly required: boolean;
  /** How a date has to be written where the control is a text field that says so: `YYYY/MM/DD`. */
  readonly notation?: string;
  /** What it holds on a page nobody has touched; shaped as a FieldValue of its kind. */
  readonly default: FieldValue;
  readonly options: readonly { readonly text: string; readonly value: string }[];
}

/** A read page: its controls as data, and the handle through which they are changed. */
export interface ReadForm {
  readonly controls: readonly Control[];
  readonly buttons: readonly RawButton[];
  readonly handle: PageHandle<PageForm>;
}

/** Reads a page's controls in one round trip to the page and one for the data. */
export async function readForm(world: PageWorld, patienceMs: number): Promise<ReadForm> {
  const handle = await world.hold(readPage, patienceMs);
  const raw = await handle.evaluate((form) => ({ controls: form.controls, buttons: form.buttonData }));
  return { controls: raw.controls.slice(0, READ_LIMITS.controls).map(toControl), buttons: raw.buttons, handle };
}

/** The controls' values now. @returns one FieldValue a control. */
export async function currentValues(form: ReadForm): Promise<FieldValue[]> {
  const raw = await form.handle.evaluate(readValues);
  return form.controls.map((control, i) => (raw[i] === undefined ? "" : toValue(control.kind, raw[i])));
}

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
    label: raw.label,
    name: raw.name,
    id: raw.id,
    required: raw.required,
    ...(raw.notation === undefined ? {} : { notation: raw.notation }),
    default: toValue(raw.kind, raw),
    options: raw.options.map(({ text, value }) => ({ text, value })),
  };
}

function toValue(kind: ControlKind, raw: Pick<RawControl, "value" | "checked" | "options">): FieldValue {
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
      return chosen === undefined || chosen.value === "" ? "" : chosen.text;
    }
    default:
      return raw.value;
  }
}

/** A control's label as it is compared, computed once: a plan asks for it with every line. */
const knownForms = new WeakMap<Control, { readonly strict: string; readonly loose: string }>();

function formsOf(control: Control): { readonly strict: string; readonly loose: string } {
  const known = knownForms.get(control);
  if (known !== undefined) return known;
  const forms = { strict: normalizeLabel(control.label), loose: looseLabel(control.label) };
  knownForms.set(control, forms);
  return forms;
}

/** What a label names: a control, or one option of a group. */
export type Target = { readonly control: Control; readonly option?: number } | "none" | "ambiguous";

/**
 * Finds the control a label names: by accessible name, then by its letters and digits alone, then as one option of a
 * radio or checkbox group. Of several controls with one name, `prefer` may single one out.
 */
export function findControl(
  controls: readonly Control[],
  label: string,
  prefer: (kind: ControlKind) => boolean = () => true,
): Target {
  const strict = normalizeLabel(label);
  const loose = looseLabel(label);
  for (const same of [
    (control: Control) => strict !== "" && formsOf(control).strict === strict,
    (control: Control) => loose !== "" && formsOf(control).loose === loose,
  ]) {
    const found = controls.filter(same);
    const preferred = found.length > 1 ? found.filter((control) => prefer(control.kind)) : found;
    const [only] = preferred;
    if (only !== undefined && preferred.length === 1) return { control: only };
    if (found.length > 0) return "ambiguous";
  }
  const options = controls.flatMap((control) =>
    control.kind === "radio" || control.kind === "checkbox-group"
      ? control.options.flatMap((option, k) =>
          strict !== "" && isNamed(option, strict) ? [{ control, option: k }] : [],
        )
      : [],
  );
  const [only] = options;
  return only === undefined ? "none" : options.length === 1 ? only : "ambiguous";
}
