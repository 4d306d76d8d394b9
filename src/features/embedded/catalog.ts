import { readFileSync } from "node:fs";
import { parse } from "yaml";
import type { FieldKind, Tier } from "../../env/site.js";
import { kindOf } from "./fields.js";
import { type Form, fieldsOf, readForms } from "./form.js";
import { generatedForm } from "./generate.js";

const FILE = new URL("../../../../src/features/embedded/forms.yaml", import.meta.url);

/** All forms of the embedded site: 25 in 8 domains, 20 to train on and 5 held out; the options that they share, by name. */
export const { forms: FORMS, options: OPTIONS } = readForms(parse(readFileSync(FILE, "utf8")));

export const TRAINING_FORMS: readonly Form[] = FORMS.filter((form) => !form.heldout);
export const HELDOUT_FORMS: readonly Form[] = FORMS.filter((form) => form.heldout);

/** Returns the form of an id (`<domain>/<slug>`), generated ones too. @throws RangeError if there is none. */
export function formOf(id: string): Form {
  const found = FORMS.find((form) => form.id === id) ?? generatedForm(id);
  if (found === undefined) throw new RangeError(`The embedded site has no form "${id}"`);
  return found;
}

/** Returns the controls, defaults and options of one form's page by label, without a browser. */
export const fieldKinds = (formId: string, tier: Tier): Record<string, FieldKind> =>
  Object.fromEntries(fieldsOf(formOf(formId), tier).map((field) => [field.label, kindOf(field)]));
