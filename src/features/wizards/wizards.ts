import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import type { FieldKind, KnownPage } from "../../env/site.js";
import { formOf } from "../embedded/catalog.js";
import { type Field, kindOf, NO_CHOICE } from "../embedded/fields.js";
import type { Form } from "../embedded/form.js";
import type { FormRecord } from "../embedded/records.js";

const FILE = new URL("../../../../src/features/wizards/wizards.yaml", import.meta.url);

const condition = z.record(z.string(), z.union([z.string(), z.boolean()]));
const spec = z.strictObject({
  /** `server`: every page is posted and answered with the next one. `client`: one document, posted at the end. */
  steps: z.enum(["server", "client"]),
  /** Set if a last page shows the given values and asks to confirm them. */
  review: z.boolean().default(false),
  /** Labels of the fields of each page. */
  pages: z.array(z.array(z.string())),
  /** Fields that apply only if another one of the same page has this value; they are required then. */
  when: z.record(z.string(), condition).default({}),
});
type WizardSpec = z.output<typeof spec>;

/** A form of several pages, with the fields of a form of the full tier. */
export interface Wizard extends Form, Omit<WizardSpec, "pages"> {
  readonly pages: readonly (readonly Field[])[];
}

function made(id: string, { pages: labels, when, ...steps }: WizardSpec): Wizard {
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

/** All forms of several pages: 12 to train on, 2 held out. A conditional field is required where it applies. */
export const WIZARDS: readonly Wizard[] = Object.entries(
  z.record(z.string(), spec).parse(parse(readFileSync(FILE, "utf8"))),
).map(([id, row]) => made(id, row));

/** Tells whether a field applies, given the other values of its page. */
export const isApplicable = ({ when }: Wizard, label: string, values: FormRecord): boolean => {
  const conditions = Object.hasOwn(when, label) ? Object.entries(when[label] ?? {}) : [];
  return conditions.every(([other, is]) => values[other] === is);
};

/** @throws RangeError if there is no such wizard. */
export function wizardOf(id: string): Wizard {
  const wizard = WIZARDS.find((one) => one.id === id);
  if (wizard === undefined) throw new RangeError(`There is no wizard "${id}"`);
  return wizard;
}

/**
 * Returns the fields and headings of each untouched page of a wizard.
 * @param labels labels of the fields that are asked for: the last page may list them.
 */
export function knownPages(id: string, labels: readonly string[]): KnownPage[] {
  const wizard = wizardOf(id);
  const { pages, review } = wizard;
  const untouched = Object.fromEntries(wizard.fields.map((field) => [field.label, kindOf(field).default]));
  const steps = pages.map((fields, k): KnownPage => {
    const applicable = fields.filter(({ label }) => isApplicable(wizard, label, untouched));
    const groups = applicable.filter(({ kind }) => kind === "radio" || kind === "checkbox-group");
    return {
      headings: [stepHeading(k, pages.length), ...groups.map(({ label, star }) => (star ? `${label} *` : label))],
      fields: Object.fromEntries(applicable.map((field) => [field.label, shownKind(field)])),
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
