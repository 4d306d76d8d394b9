import { z } from "zod";
import type { ControlKind, DeclaredField, FieldKind, FieldValue } from "../../env/site.js";
import * as values from "./values.js";

/** The text that the page shows, and the posted value. The two always differ. */
export interface Option {
  readonly text: string;
  readonly value: string;
}

/** One field of a form: its control, its label and the source of its values. */
export interface Field {
  readonly kind: ControlKind;
  readonly label: string;
  /** The control's `name`, the key of the posted value: never the label. */
  readonly name: string;
  readonly source: values.Source;
  readonly labelling: Labelling;
  readonly options?: readonly Option[];
  /** Value on the untouched page; an option is given by its text. */
  readonly preset?: FieldValue;
  /** Enforced by the page and by the server. */
  readonly required: boolean;
  /** Tells whether a star is shown: on all required fields, and on some others. */
  readonly star: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly step?: number;
}

/** The labelling of a control: `<label for>`, a `<label>` around it, `aria-label`, or only a heading above. */
const labellings = z.enum(["for", "wrap", "aria", "heading"]);
export type Labelling = z.output<typeof labellings>;

/** Texts with their posted values; without one, the posted value is the text in snake case. */
export const optionSet = z.union([z.array(z.string()), z.record(z.string(), z.string())]);
export type OptionSet = z.output<typeof optionSet>;

const BASIC = { name: z.string(), labelling: labellings, required: z.boolean(), star: z.boolean() };
/** A field in forms.yaml. */
export const fieldSpec = z.strictObject({
  ...z.strictObject(BASIC).partial({ labelling: true, required: true, star: true }).shape,
  kind: z.enum([
    ...["text", "textarea", "email", "tel", "url", "number", "date", "time"],
    ...["select", "radio", "checkbox", "checkbox-group", "file"],
  ] as const satisfies readonly ControlKind[]),
  /** A source of values.ts, `[least, most, step]`, the years of a date, a file extension, or options. */
  of: z.union([z.string(), z.array(z.number()).min(2).max(3), optionSet]).optional(),
  preset: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).optional(),
});
export type FieldSpec = z.output<typeof fieldSpec>;

/** Returns the options of a set: a list of texts, or texts with posted values. */
export function optionsOf(set: OptionSet): readonly Option[] {
  if (!Array.isArray(set)) return Object.entries(set).map(([text, value]) => ({ text, value }));
  return set.map((text: string) => ({ text, value: text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_") }));
}

const texts = (options: readonly Option[]): string[] => options.map((option) => option.text);
const CHOSEN: ReadonlySet<ControlKind> = new Set(["select", "radio", "checkbox-group"]);

/**
 * Makes the field of a label. A required checkbox must be ticked to submit, so its true value is always true.
 * @param sets option sets by name, for a field with the options of a set.
 * @throws RangeError if there is no such source or set.
 */
export function field(label: string, spec: FieldSpec, sets: Readonly<Record<string, readonly Option[]>> = {}): Field {
  const { kind, name, of, preset, required = false } = spec;
  const chosen = (): readonly Option[] | undefined =>
    typeof of === "string" ? sets[of] : of === undefined ? undefined : optionsOf(of as OptionSet);
  const options = CHOSEN.has(kind) ? chosen() : undefined;
  const [min, max, step = 1] = Array.isArray(of) ? (of as number[]) : [];
  const source = sourceOf({ ...spec, required }, texts(options ?? []), [min, max, step]);
  if (source === undefined || (CHOSEN.has(kind) && options === undefined))
    throw new RangeError(`${label}: no values of ${JSON.stringify(of)}`);
  return {
    kind,
    label,
    name,
    source,
    labelling: spec.labelling ?? (kind === "checkbox" ? "wrap" : "for"),
    ...(preset === undefined ? {} : { preset }),
    required,
    star: required || (spec.star ?? false),
    ...(options === undefined ? {} : { options }),
    ...(kind === "number" && min !== undefined && max !== undefined ? { min, max, step } : {}),
  };
}

function sourceOf(
  { kind, of, required }: FieldSpec,
  choices: readonly string[],
  [min, max, step]: readonly (number | undefined)[],
): values.Source | undefined {
  switch (kind) {
    case "number":
      return values.numbers(min ?? 0, max ?? 9, step);
    case "date":
      return values.day(min, max);
    case "select":
    case "radio":
      return values.oneOf(choices);
    case "checkbox-group":
      return values.someOf(choices);
    case "checkbox":
      return required ? values.alwaysYes : values.yesNo;
    case "file":
      return values.fileName(String(of));
    default:
      return values.TEXTS.get(kind === "text" ? String(of) : kind);
  }
}

/** Returns the control's kind, its value on the untouched page, and its options. */
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

/** Text of a list before anything is chosen. */
export const NO_CHOICE = "Choose one";

/** Returns a field as the site declares it, with the posted values of its options. */
export function declared(field: Field): DeclaredField {
  const { kind, name, preset, options = [] } = field;
  const offers = kind === "select" && preset === undefined ? [{ text: NO_CHOICE, value: "" }, ...options] : options;
  return { ...kindOf(field), name, offers };
}
