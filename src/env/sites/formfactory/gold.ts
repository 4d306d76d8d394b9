import { UserError } from "../../../core/errors.js";
import type { FieldValue, Task } from "../../site.js";
import { recordSplit } from "../parts/split-hash.js";
import { type CatalogRow, formId, formTitle } from "./catalog.js";
import type { Checkout, GoldRow } from "./checkout.js";
import { EXCEPTIONS } from "./exceptions.js";

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
      if (!isFieldValue(value))
        throw new UserError(`data1: ${form}: ${label}: ${JSON.stringify(value)} is no value of a form`);
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
