import type { Tier } from "../../site.js";
import type { Field } from "./fields.js";

/** One form of the embedded site. Its starter variant is a page of its own with some of its fields. */
export interface Form {
  /** `<domain>/<slug>`. */
  readonly id: string;
  readonly title: string;
  /** One sentence under the title. */
  readonly intro: string;
  readonly fields: readonly Field[];
  /** Labels of the fields of the starter variant. */
  readonly starter: readonly string[];
  /** Never trained on. */
  readonly heldout: boolean;
  /** Built in the browser from `<url>/form-config`, submitted by fetch; the page stays. */
  readonly scripted: boolean;
  /** Tells how the browser encodes the post. `multipart` sends a file; `urlencoded` sends only its name, as text. */
  readonly encoding: "urlencoded" | "multipart";
}

/** A form; throws where the starter variant names a field that the form lacks. */
export function form(
  id: string,
  title: string,
  intro: string,
  starter: readonly string[],
  fields: readonly Field[],
  traits: Partial<Pick<Form, "heldout" | "scripted" | "encoding">> = {},
): Form {
  const unknown = starter.filter((label) => !fields.some((field) => field.label === label));
  if (unknown.length > 0) throw new Error(`${id}: no field "${unknown.join('", "')}" for the starter variant`);
  return { id, title, intro, starter, fields, heldout: false, scripted: false, encoding: "urlencoded", ...traits };
}

/** The form's fields on the page of this tier, in page order. */
export function fieldsOf(form: Form, tier: Tier): readonly Field[] {
  return tier === "starter" ? form.fields.filter((field) => form.starter.includes(field.label)) : form.fields;
}

/** The form's path on the site. */
export function pathOf(form: Pick<Form, "id">, tier: Tier): string {
  return tier === "full" ? `/${form.id}` : `/${tier}/${form.id}`;
}
