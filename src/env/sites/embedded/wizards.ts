import type { FieldKind, KnownPage } from "../../site.js";
import { formOf } from "./catalog.js";
import { type Field, kindOf, NO_CHOICE } from "./fields.js";
import { type Form, form } from "./form.js";
import type { FormRecord } from "./records.js";

/** A field that is asked for only where another one of the same page has this value. */
export interface Condition {
  readonly label: string;
  readonly is: string | boolean;
}

/** A form of several pages. Its fields are those of a form of the full tier. */
export interface Wizard extends Form {
  readonly pages: readonly (readonly Field[])[];
  /** `server`: every page is posted and answered with the next one. `client`: one document, posted at the end. */
  readonly steps: "server" | "client";
  /** A last page shows what was given, and asks to confirm it. */
  readonly review: boolean;
  readonly when: Readonly<Record<string, Condition>>;
}

type Row = readonly [
  id: string,
  steps: Wizard["steps"],
  pages: readonly (readonly string[])[],
  extra?: { readonly when?: Wizard["when"]; readonly review?: boolean },
];

const ROWS: readonly Row[] = [
  [
    "library/card-request",
    "server",
    [
      ["First Name", "Last Name"],
      ["Card Type", "Home Branch"],
      ["Email", "Accept Rules"],
    ],
  ],
  [
    "library/book-request",
    "client",
    [
      ["Book Title", "Book Format"],
      ["Member Name", "Member Number"],
    ],
  ],
  [
    "travel/hotel-stay",
    "server",
    [
      ["Guest Name", "Guest Email"],
      ["Arrival Date", "Night Count"],
      ["Room Type", "Breakfast"],
      ["Payment Method", "Company Name"],
    ],
    { when: { "Company Name": { label: "Payment Method", is: "Invoice" } }, review: true },
  ],
  [
    "travel/group-tour",
    "client",
    [
      ["Group Name", "Group Size"],
      ["Start City", "Guide Needed", "Tour Language"],
      ["Leader Name", "Leader Phone"],
    ],
    { when: { "Tour Language": { label: "Guide Needed", is: true } } },
  ],
  [
    "garden/plot-request",
    "server",
    [
      ["Member Name", "Plot Size"],
      ["Start Season", "Water Access"],
    ],
    { review: true },
  ],
  [
    "garden/plant-order",
    "client",
    [["Customer Name", "Plant Type"], ["Plant Count", "Gift Wrap", "Pot Color"], ["Delivery Date"]],
    { when: { "Pot Color": { label: "Gift Wrap", is: true } }, review: true },
  ],
  [
    "garden/tool-loan",
    "server",
    [
      ["Member Number", "Tool Name"],
      ["Power Tool", "Deposit", "Pickup Date"],
    ],
    { when: { Deposit: { label: "Power Tool", is: true } } },
  ],
  [
    "kitchen/table-booking",
    "client",
    [
      ["Guest Name", "Phone Number"],
      ["Seat Count", "Table Place"],
    ],
  ],
  [
    "kitchen/cooking-class",
    "server",
    [["First Name", "Student Email"], ["Class Level", "Class Date"], ["Apron Needed"]],
  ],
  [
    "city/parking-permit",
    "server",
    [
      ["Owner Name", "Street Address"],
      ["Car Number", "Electric Car", "Car Year"],
      ["Permit Type", "Start Date"],
    ],
    { when: { "Car Year": { label: "Electric Car", is: false } }, review: true },
  ],
  [
    "city/market-stall",
    "client",
    [["Stall Name", "Seller Name"], ["Market Day"], ["Stall Size", "Table Count"], ["Power Needed", "Water Needed"]],
  ],
  [
    "events/volunteer-shift",
    "server",
    [
      ["First Name", "Last Name"],
      ["Shift Day", "Shift Time"],
      ["Email", "Own Car", "Transport Type"],
    ],
    { when: { "Transport Type": { label: "Own Car", is: false } } },
  ],
  [
    "library/archive-visit",
    "server",
    [["Guest Name", "Visit Date"], ["Book Number"], ["Print Card", "Visit Email"]],
    { review: true },
  ],
  [
    "city/waste-pickup",
    "client",
    [
      ["Street Name", "House Number"],
      ["House Type", "Pickup Day", "Large Car"],
    ],
  ],
];

/** All forms of several pages: 12 to train on, 2 held out. What is asked for under a condition is required then. */
export const WIZARDS: readonly Wizard[] = ROWS.map(([id, steps, labels, { when = {}, review = false } = {}]) => {
  const base = formOf(id);
  const pages = labels.map((page) =>
    page.map((label): Field => {
      const field = base.fields.find((one) => one.label === label);
      if (field === undefined) throw new Error(`${id}: no field "${label}" for the wizard`);
      return Object.hasOwn(when, label) ? { ...field, required: true, star: true } : field;
    }),
  );
  const { title, intro, heldout } = base;
  return { ...form(id, title, intro, [], pages.flat(), { heldout }), pages, steps, review, when };
});

/** Whether a field is asked for where the others are these. */
export const isAsked = ({ when }: Wizard, label: string, values: FormRecord): boolean => {
  const condition = Object.hasOwn(when, label) ? when[label] : undefined;
  return condition === undefined || values[condition.label] === condition.is;
};

/**
 * Tells what each page of a wizard shows before it is touched.
 * @param labels of the fields that are asked for in the end: the last page may list them.
 * @throws RangeError where there is no such wizard.
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

/** A list that opens on nothing has an option that says so. */
function shownKind(field: Field): FieldKind {
  const kind = kindOf(field);
  if (field.kind !== "select" || field.preset !== undefined) return kind;
  return { ...kind, options: [NO_CHOICE, ...(kind.options ?? [])] };
}

/** @param k from 0. */
export const stepHeading = (k: number, pages: number): string => `Step ${k + 1} of ${pages}`;
export const REVIEW_HEADING = "Check your answers";
