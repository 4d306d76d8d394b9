import { fail } from "../../core/errors.js";
import { recordSplit } from "../../env/forms/split-hash.js";
import type { FieldValue, Task } from "../../env/site.js";
import { type CatalogRow, formId, formTitle } from "./catalog.js";
import type { Checkout, GoldRow } from "./checkout.js";

/** Names that differ between a gold file and its page. All others are matched by the control's accessible name. */
interface FormExceptions {
  /** Page label by gold key. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Page labels by gold key and by the keys of its object. */
  readonly objects?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The page's options by page label and by the gold file's option. */
  readonly values?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Exceptions by form id. */
const EXCEPTIONS: Readonly<Record<string, FormExceptions>> = {
  "academic-research/scholarship-application": {
    labels: { "Statement of Purpose": "Statement of Purpose (500 words max)" },
    values: { "Current Financial Aid": { "Other Scholarship": "Other Scholarships" } },
  },
  "academic-research/course-registration": { labels: { "Selected Courses": "Select Courses" } },
  "professional-business/workshop-registration": { values: { "Highest Education Level": { PhD: "Doctorate" } } },
  // ten of its rows use other keys, and give the reference as an object
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

/** Makes tasks of all gold rows of a checkout, with the page's labels, before cleaning. */
export function goldTasks(checkout: Checkout, heldout: ReadonlySet<string>): Task[] {
  return [...checkout.gold].flatMap(([row, rows]) =>
    rows.map((gold, i) => taskOf(row, gold, i, checkout.documents.get(row)?.[i], heldout.has(formId(row)))),
  );
}

function taskOf(row: CatalogRow, gold: GoldRow, index: number, document: string | undefined, heldout: boolean): Task {
  const form = formId(row);
  // from the original record: cleaning does not change the split, and equal records share one
  const split = heldout ? "heldout" : recordSplit(`formfactory/${form}/${JSON.stringify(gold)}`);
  const title = formTitle(row);
  return {
    id: `formfactory/${form}/${split}/${String(index).padStart(4, "0")}`,
    form,
    formTitle: title,
    url: row.path,
    instruction: `Go to ${row.path}, fill in the form "${title}" and submit it.`,
    fields: goldFields(form, gold),
    // its server accepts every post
    success: { status: 200 },
    ...(document === undefined ? {} : { document }),
    split,
    tier: "full",
  };
}

/**
 * Converts a gold row to the page's labels (see `EXCEPTIONS`), in the order of the file.
 * @throws UserError for a value that a form cannot hold.
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
