import type { Split } from "../../environment.js";
import type { FieldValue, Task, Tier } from "../../site.js";
import { FORMS } from "./catalog.js";
import { type Form, pathOf } from "./form.js";
import { type FormRecord, recordsOf } from "./records.js";

/** Records a form: `train`, `val`, `test` of each training form, `heldout` of each held-out form. */
export type Sizes = Readonly<Record<Split, number>>;

const spoken = (value: FieldValue): string =>
  typeof value === "boolean" ? (value ? "yes" : "no") : Array.isArray(value) ? value.join(", ") : String(value);

/** The task in words. No value holds a semicolon, so the sentence can be taken apart again. */
export function instructionFor(path: string, title: string, fields: FormRecord): string {
  const wishes = Object.entries(fields).map(([label, value]) => `${label}: ${spoken(value)}`);
  return `Go to ${path}. Fill in the ${title} form with: ${wishes.join("; ")}; and submit it.`;
}

function taskOf(form: Form, tier: Tier, split: Split, index: number, fields: FormRecord): Task {
  const url = pathOf(form, tier);
  return {
    id: `embedded/${tier}/${form.id}/${split}/${String(index).padStart(4, "0")}`,
    form: form.id,
    formTitle: form.title,
    url,
    instruction: instructionFor(url, form.title, fields),
    fields,
    split,
    tier,
  };
}

/** All tasks of one tier, form by form, split by split. Same seed and sizes: the same tasks. */
export function embeddedTasks(tier: Tier, seed: number, sizes: Sizes): Task[] {
  return FORMS.flatMap((form) => {
    const splits: readonly Split[] = form.heldout ? ["heldout"] : ["train", "val", "test"];
    return splits.flatMap((split) =>
      recordsOf(form, tier, split, sizes[split], seed).map((record, i) => taskOf(form, tier, split, i, record)),
    );
  });
}
