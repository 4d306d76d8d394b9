import type { FieldKind, Tier } from "../../site.js";
import { kindOf } from "./fields.js";
import { type Form, fieldsOf } from "./form.js";
import { ANIMALS } from "./forms/animals.js";
import { CITY } from "./forms/city.js";
import { EVENTS } from "./forms/events.js";
import { GARDEN } from "./forms/garden.js";
import { KITCHEN } from "./forms/kitchen.js";
import { LIBRARY } from "./forms/library.js";
import { SPORTS_FORMS } from "./forms/sports.js";
import { TRAVEL } from "./forms/travel.js";
import { generatedForm } from "./generate.js";

/** All forms of the embedded site: 25 in 8 domains, 20 to train on and 5 held out. */
export const FORMS: readonly Form[] = [
  ...LIBRARY,
  ...TRAVEL,
  ...GARDEN,
  ...SPORTS_FORMS,
  ...KITCHEN,
  ...ANIMALS,
  ...CITY,
  ...EVENTS,
];

export const TRAINING_FORMS: readonly Form[] = FORMS.filter((form) => !form.heldout);
export const HELDOUT_FORMS: readonly Form[] = FORMS.filter((form) => form.heldout);

/** The form of this id (`<domain>/<slug>`), one that is generated included. @throws RangeError where there is none. */
export function formOf(id: string): Form {
  const found = FORMS.find((form) => form.id === id) ?? generatedForm(id);
  if (found === undefined) throw new RangeError(`The embedded site has no form "${id}"`);
  return found;
}

/** Label to control, default and options of one form's page, without a browser. */
export function fieldKinds(formId: string, tier: Tier): Record<string, FieldKind> {
  return Object.fromEntries(fieldsOf(formOf(formId), tier).map((field) => [field.label, kindOf(field)]));
}
