import type { ControlKind, DeclaredField, FieldKind, FieldValue } from "../../site.js";
import type { Option } from "./options.js";
import type { Source } from "./values.js";
import * as values from "./values.js";

/**
 * Tells how a control gets its visible label: `<label for>`, a `<label>` around it, `aria-label`, or only a heading
 * above.
 */
export type Labelling = "for" | "wrap" | "aria" | "heading";

/** One field of a form: its control, its label and the values it is asked to take. */
export interface Field {
  readonly kind: ControlKind;
  readonly label: string;
  /** The control's `name`, under which it is posted: never the label. */
  readonly name: string;
  readonly source: Source;
  readonly labelling: Labelling;
  readonly options?: readonly Option[];
  /** Value on the untouched page; an option is given by its text. */
  readonly preset?: FieldValue;
  /** Enforced by the page and by the server. */
  readonly required: boolean;
  /** A star is shown: always where required, on some fields also where nothing enforces it. */
  readonly star: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly step?: number;
}

/** Holds what a form says about a field beyond kind, label and name. */
export interface Extra {
  readonly required?: boolean;
  readonly star?: boolean;
  readonly labelling?: Labelling;
  readonly preset?: FieldValue;
}

type Rest = Partial<Pick<Field, "options" | "min" | "max" | "step">>;

function field(
  kind: ControlKind,
  label: string,
  name: string,
  source: Source,
  extra: Extra = {},
  rest: Rest = {},
): Field {
  const required = extra.required ?? false;
  return {
    kind,
    label,
    name,
    source,
    labelling: extra.labelling ?? "for",
    ...(extra.preset === undefined ? {} : { preset: extra.preset }),
    required,
    star: required || (extra.star ?? false),
    ...rest,
  };
}

const texts = (options: readonly Option[]): string[] => options.map((option) => option.text);

export const text = (label: string, name: string, source: Source, extra?: Extra): Field =>
  field("text", label, name, source, extra);
export const area = (label: string, name: string, extra?: Extra): Field =>
  field("textarea", label, name, values.note, extra);
export const email = (label: string, name: string, extra?: Extra): Field =>
  field("email", label, name, values.email, extra);
export const tel = (label: string, name: string, extra?: Extra): Field => field("tel", label, name, values.tel, extra);
export const url = (label: string, name: string, extra?: Extra): Field => field("url", label, name, values.url, extra);
export const time = (label: string, name: string, extra?: Extra): Field =>
  field("time", label, name, values.time, extra);
export const date = (label: string, name: string, extra?: Extra): Field =>
  field("date", label, name, values.day(), extra);
/** A date of the past century. */
export const birthday = (label: string, name: string, extra?: Extra): Field =>
  field("date", label, name, values.day(1950, 2009), extra);

export function number(
  label: string,
  name: string,
  min: number,
  max: number,
  extra?: Extra & { step?: number },
): Field {
  const step = extra?.step ?? 1;
  return field("number", label, name, values.numbers(min, max, step), extra, { min, max, step });
}

/** A drop-down list that opens on "Choose one"; with `preset` it opens on that option and has no such entry. */
export const select = (label: string, name: string, options: readonly Option[], extra?: Extra): Field =>
  field("select", label, name, values.oneOf(texts(options)), extra, { options });
export const radio = (label: string, name: string, options: readonly Option[], extra?: Extra): Field =>
  field("radio", label, name, values.oneOf(texts(options)), extra, { options });
export const group = (label: string, name: string, options: readonly Option[], extra?: Extra): Field =>
  field("checkbox-group", label, name, values.someOf(texts(options)), extra, { options });
/** A box on its own. A required one must be ticked to submit, so its true value is always true. */
export const check = (label: string, name: string, extra?: Extra): Field =>
  field("checkbox", label, name, extra?.required ? values.alwaysYes : values.yesNo, { labelling: "wrap", ...extra });
export const file = (label: string, name: string, extension: string, extra?: Extra): Field =>
  field("file", label, name, values.fileName(extension), extra);

/** Tells what the field's control holds on a page nobody has touched, and its options. */
export function kindOf(field: Field): FieldKind {
  const empty: FieldValue = field.kind === "checkbox" ? false : field.kind === "checkbox-group" ? [] : "";
  const fallback: FieldValue = field.preset ?? empty;
  return {
    kind: field.kind,
    default: fallback,
    ...(field.options === undefined ? {} : { options: texts(field.options) }),
    name: field.name,
    ...(field.required ? { required: true } : {}),
    ...(field.min === undefined ? {} : { min: field.min }),
    ...(field.max === undefined ? {} : { max: field.max }),
  };
}

/** Holds what a list says before anything is chosen. */
export const NO_CHOICE = "Choose one";

/** A field as the site declares it: with what its options send. */
export function declared(field: Field): DeclaredField {
  const { kind, name, preset, options = [] } = field;
  const offers = kind === "select" && preset === undefined ? [{ text: NO_CHOICE, value: "" }, ...options] : options;
  return { ...kindOf(field), name, offers };
}
