import { z } from "zod";
import { Rng } from "../../core/rng.js";
import type { Split } from "../../env/environment.js";
import { spoken } from "../../env/forms/oracle.js";
import type { Task, Tier } from "../../env/site.js";
import { FORMS, formOf } from "./catalog.js";
import { type Form, fieldsOf, pathOf } from "./form.js";
import { generatedForms, recordOf } from "./generate.js";
import { LEVELS, type LetterLevel, withLetter } from "./letters/letter.js";
import { type FormRecord, recordsOf } from "./records.js";

/** Option of the embedded site's tasks, shared by the browser and paper. */
export const letters = z
  .literal(LEVELS)
  .default("off")
  .describe(
    "a letter a task, for prompt.style=page or document: 1 short and plain, 2 varied, 3 with gaps and corrections",
  );

const generated = z
  .int()
  .min(0)
  .max(20_000)
  .default(0)
  .describe("training tasks beside the others, each of a form of its own that is made from the seed");

const size = (preset: number): z.ZodDefault<z.ZodInt> => z.int().min(0).max(5000).default(preset);

/** Options of the records of forms. */
export const optionsOfRecords = {
  seed: z.int().min(0).default(1).describe("seed of the records"),
  sizes: z
    .strictObject({ train: size(64), val: size(16), test: size(16), heldout: size(32) })
    .prefault({})
    .describe("records a form: train, val and test of the training forms, heldout of the held-out forms"),
};

/** All shared options of the tasks except the tier. */
export const optionsOfTasks = {
  ...optionsOfRecords,
  letters,
  generated,
};

/** Number of records for each form: `train`, `val`, `test` for training forms, `heldout` for held-out forms. */
export type Sizes = Readonly<Record<Split, number>>;

/** Writes the task in words. No value contains a semicolon, so that the sentence can be parsed again. */
export function instructionFor(path: string, title: string, fields: FormRecord): string {
  const wishes = Object.entries(fields).map(([label, value]) => `${label}: ${spoken(value)}`);
  return `Go to ${path}. Fill in the ${title} form with: ${wishes.join("; ")}; and submit it.`;
}

/** Makes a task of a record. @param index of the record among those of the split. */
export function taskOf(form: Form, tier: Tier, split: Split, index: number, fields: FormRecord): Task {
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

/** Returns the splits that a form has records in. */
export const splitsOf = ({ heldout }: Form): readonly Split[] => (heldout ? ["heldout"] : ["train", "val", "test"]);

/** Makes all tasks of one tier by form and split, then those of generated forms; equal options give equal tasks. */
export function embeddedTasks(
  tier: Tier,
  seed: number,
  sizes: Sizes,
  generated = 0,
  letters: LetterLevel = "off",
): Task[] {
  const made = generatedForms(seed, generated);
  const tasks: Task[] = [
    ...FORMS.flatMap((form) =>
      splitsOf(form).flatMap((split) =>
        recordsOf(form, tier, split, sizes[split], seed).map((record, i) => taskOf(form, tier, split, i, record)),
      ),
    ),
    // every generated form has one task
    ...made.map((form) => taskOf(form, tier, "train", 0, recordOf(form, tier, seed))),
  ];
  if (letters === "off") return tasks;
  return tasks.map((task) =>
    withLetter(task, fieldsOf(formOf(task.form), tier), letters, Rng.named(seed, `letter/${letters}/${task.id}`)),
  );
}
