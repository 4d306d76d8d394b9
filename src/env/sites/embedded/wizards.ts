import type { FieldKind, KnownPage } from "../../site.js";
import { formOf, WIZARD_ROWS } from "./catalog.js";
import { type Field, kindOf, NO_CHOICE } from "./fields.js";
import type { Form, WizardSpec } from "./form.js";
import type { FormRecord } from "./records.js";

/** A form of several pages, with the fields of a form of the full tier. */
export interface Wizard extends Form, Omit<WizardSpec, "pages"> {
  readonly pages: readonly (readonly Field[])[];
}

function wizardOf(id: string, { pages: labels, when, ...steps }: WizardSpec): Wizard {
  const base = formOf(id);
  const pages = labels.map((page) =>
    page.map((label): Field => {
      const field = base.fields.find((one) => one.label === label);
      if (field === undefined) throw new RangeError(`${id}: no field "${label}" for the wizard`);
      return Object.hasOwn(when, label) ? { ...field, required: true, star: true } : field;
    }),
  );
  return { ...base, starter: [], fields: pages.flat(), pages, when, ...steps, scripted: false, encoding: "urlencoded" };
}

/** All forms of several pages: 12 to train on, 2 held out. A conditional field is required if it is asked for. */
export const WIZARDS: readonly Wizard[] = [...WIZARD_ROWS].map(([id, row]) => wizardOf(id, row));

/** Tells whether a field is asked for, given the other values of its page. */
export const isAsked = ({ when }: Wizard, label: string, values: FormRecord): boolean => {
  const conditions = Object.hasOwn(when, label) ? Object.entries(when[label] ?? {}) : [];
  return conditions.every(([other, is]) => values[other] === is);
};

/**
 * Returns the fields and headings of each untouched page of a wizard.
 * @param labels labels of the fields that are asked for: the last page may list them.
 * @throws RangeError if there is no such wizard.
 */
export function knownPages(id: string, labels: readonly string[]): KnownPage[] {
  const wizard = WIZARDS.find((one) => one.id === id);
  if (wizard === undefined) throw new RangeError(`The embedded site has no wizard "${id}"`);
  const { pages, review } = wizard;
  const untouched = Object.fromEntries(wizard.fields.map((field) => [field.label, kindOf(field).default]));
  const steps = pages.map((fields, k): KnownPage => {
    const asked = fields.filter(({ label }) => isAsked(wizard, label, untouched));
    const groups = asked.filter(({ kind }) => kind === "radio" || kind === "checkbox-group");
    return {
      headings: [stepHeading(k, pages.length), ...groups.map(({ label, star }) => (star ? `${label} *` : label))],
      fields: Object.fromEntries(asked.map((field) => [field.label, shownKind(field)])),
    };
  });
  return review ? [...steps, { headings: [REVIEW_HEADING, ...labels], fields: {} }] : steps;
}

/** Adds the placeholder option to a list without a preset. */
function shownKind(field: Field): FieldKind {
  const kind = kindOf(field);
  if (field.kind !== "select" || field.preset !== undefined) return kind;
  return { ...kind, options: [NO_CHOICE, ...(kind.options ?? [])] };
}

/** Returns the heading of a step. @param k index of the step, from 0. */
export const stepHeading = (k: number, pages: number): string => `Step ${k + 1} of ${pages}`;
export const REVIEW_HEADING = "Check your answers";
