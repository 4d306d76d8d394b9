import { fail } from "../../core/errors.js";
import type { FieldValue, Task } from "../../env/site.js";
import { recordSplit } from "../../env/sites/parts/split-hash.js";
import { type CatalogRow, formId, formTitle } from "./catalog.js";
import type { Checkout, GoldRow } from "./checkout.js";

/**
 * Names that differ between a gold file and its page. Everything else is matched by the control's accessible
 * name alone. Documented in docs/sites.md; a test keeps the two equal.
 */
interface FormExceptions {
  /** Gold key to the page's label. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Gold key to the keys of the object that it holds, and the page's label of each. */
  readonly objects?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Page label to what the gold file calls an option, and what the page does. */
  readonly values?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** By form id. */
export const EXCEPTIONS: Readonly<Record<string, FormExceptions>> = {
  "academic-research/scholarship-application": {
    labels: { "Statement of Purpose": "Statement of Purpose (500 words max)" },
    values: { "Current Financial Aid": { "Other Scholarship": "Other Scholarships" } },
  },
  "academic-research/course-registration": { labels: { "Selected Courses": "Select Courses" } },
  "professional-business/workshop-registration": { values: { "Highest Education Level": { PhD: "Doctorate" } } },
  // ten of its rows are keyed by other names, and give the reference as an object
  "professional-business/membership-application": {
    labels: {
      name: "Full Name",
      email: "Email Address",
      phone: "Phone Number",
      date_of_birth: "Date of Birth",
      degree: "Highest Education Level",
      experience_years: "Years of Experience",
      current_position: "Job Title",
      membership_type: "Membership Level",
    },
    objects: { reference: { name: "Reference Name", contact: "Reference Email" } },
    values: { "Highest Education Level": { PhD: "Doctorate" } },
  },
  "finance-banking/account-opening": { values: { "Account Type": { "Saving Account": "Savings Account" } } },
  "legal-compliance/nda-submission": { labels: { "Party Name": "Party Name (Individual/Company)" } },
};

/** All gold rows of a checkout as tasks, by the page's own labels; nothing is left out yet. */
export function goldTasks(checkout: Checkout, heldout: ReadonlySet<string>): Task[] {
  return [...checkout.gold].flatMap(([row, rows]) =>
    rows.map((gold, i) => taskOf(row, gold, i, checkout.documents.get(row)?.[i], heldout.has(formId(row)))),
  );
}

function taskOf(row: CatalogRow, gold: GoldRow, index: number, document: string | undefined, heldout: boolean): Task {
  const form = formId(row);
  // by the record as it stands in the file: cleaning moves no record to another split, and twins share one
  const split = heldout ? "heldout" : recordSplit(`formfactory/${form}/${JSON.stringify(gold)}`);
  const title = formTitle(row);
  return {
    id: `formfactory/${form}/${split}/${String(index).padStart(4, "0")}`,
    form,
    formTitle: title,
    url: row.path,
    instruction: `Go to ${row.path}, fill in the form "${title}" and submit it.`,
    fields: goldFields(form, gold),
    // its server takes whatever is posted
    success: { status: 200 },
    ...(document === undefined ? {} : { document }),
    split,
    tier: "full",
  };
}

/**
 * A gold row by the page's labels (see `EXCEPTIONS`), in the order of the file.
 * @throws UserError where a value is none that a form can hold.
 */
export function goldFields(form: string, gold: GoldRow): Record<string, FieldValue> {
  const { labels = {}, objects = {}, values = {} } = EXCEPTIONS[form] ?? {};
  const pairs = Object.entries(gold).flatMap(([key, value]): [string, unknown][] => {
    const parts = objects[key];
    return parts !== undefined && typeof value === "object" && value !== null
      ? Object.entries(parts).map(([part, label]) => [label, (value as Record<string, unknown>)[part] ?? ""])
      : [[labels[key] ?? key, value]];
  });
  return Object.fromEntries(
    pairs.map(([label, value]) => {
      if (!isFieldValue(value)) fail(`data1: ${form}: ${label}: ${JSON.stringify(value)} is no value of a form`);
      return [label, typeof value === "string" ? (values[label]?.[value] ?? value) : value];
    }),
  );
}

function isFieldValue(value: unknown): value is FieldValue {
  return (
    ["string", "number", "boolean"].includes(typeof value) ||
    (Array.isArray(value) && value.every((item) => typeof item === "string"))
  );
}
