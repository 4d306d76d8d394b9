import { z } from "zod";
import type { Tier } from "../../env/site.js";
import { type Field, field, fieldSpec, optionSet, optionsOf } from "./fields.js";

const spec = z.strictObject({
  title: z.string(),
  /** One sentence under the title. */
  intro: z.string(),
  /** Labels of the fields of the starter variant. */
  starter: z.array(z.string()).default([]),
  /** Never trained on. */
  heldout: z.boolean().default(false),
  /** Set if the form is built in the browser from `<url>/form-config` and sent by fetch; the page stays. */
  scripted: z.boolean().default(false),
  /** Encoding of the post. `multipart` sends a file; `urlencoded` sends only its name, as text. */
  encoding: z.enum(["urlencoded", "multipart"]).default("urlencoded"),
  fields: z.record(z.string(), fieldSpec),
});
export type FormSpec = z.input<typeof spec>;

/** One form of the embedded site. Its starter variant is a separate page with some of its fields. */
export type Form = Omit<z.output<typeof spec>, "fields"> & {
  /** `<domain>/<slug>`. */
  readonly id: string;
  readonly fields: readonly Field[];
};

/** Makes a form of these fields. @throws RangeError if the starter variant names a field that the form lacks. */
export function formOfFields(id: string, traits: Omit<FormSpec, "fields">, fields: readonly Field[]): Form {
  const { title, intro, starter, fields: _, ...rest } = spec.parse({ ...traits, fields: {} });
  const unknown = starter.filter((label) => !fields.some((field) => field.label === label));
  if (unknown.length > 0) throw new RangeError(`${id}: no field "${unknown.join('", "')}" for the starter variant`);
  return { id, title, intro, starter, fields, ...rest };
}

const file = z.strictObject({
  options: z.record(z.string(), optionSet),
  forms: z.record(z.string(), spec),
});

/**
 * Reads forms and the option sets that they share.
 * @param data of a YAML file. @throws ZodError or RangeError if it is invalid.
 */
export function readForms(data: unknown) {
  const { options: sets, forms } = file.parse(data);
  const options = Object.fromEntries(Object.entries(sets).map(([name, set]) => [name, optionsOf(set)]));
  const made: readonly Form[] = Object.entries(forms).map(([id, { fields, ...traits }]) =>
    formOfFields(
      id,
      traits,
      Object.entries(fields).map(([label, one]) => field(label, one, options)),
    ),
  );
  return { options, forms: made };
}

/** Returns the form's fields on the page of this tier, in page order. */
export const fieldsOf = (form: Form, tier: Tier): readonly Field[] =>
  tier === "starter" ? form.fields.filter((field) => form.starter.includes(field.label)) : form.fields;

/** Returns the form's path on the site. */
export const pathOf = (form: Pick<Form, "id">, tier: Tier): string =>
  tier === "full" ? `/${form.id}` : `/${tier}/${form.id}`;
