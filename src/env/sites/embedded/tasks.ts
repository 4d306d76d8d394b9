import { z } from "zod";
import { Rng } from "../../../core/rng.js";
import type { Split } from "../../environment.js";
import { spoken } from "../../forms/oracle.js";
import type { Task, Tier } from "../../site.js";
import { FORMS, formOf } from "./catalog.js";
import { type Form, fieldsOf, pathOf } from "./form.js";
import { generatedForms, recordOf } from "./generate.js";
import { LEVELS, type LetterLevel, withLetter } from "./letters/letter.js";
import { type FormRecord, recordsOf } from "./records.js";
import { isAsked, WIZARDS, type Wizard } from "./wizards.js";

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

/** All shared options of the tasks except the tier. */
export const optionsOfTasks = {
  seed: z.int().min(0).default(1).describe("seed of the records"),
  sizes: z
    .strictObject({ train: size(64), val: size(16), test: size(16), heldout: size(32) })
    .prefault({})
    .describe("records a form: train, val and test of the 20 training forms, heldout of the 5 held-out forms"),
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

/** Makes the tasks of a form of several pages, without values for fields that are not asked for. */
function wizardTasks(wizard: Wizard, split: Split, count: number, seed: number): Task[] {
  const trim = (record: FormRecord): FormRecord =>
    Object.fromEntries(Object.entries(record).filter(([label]) => isAsked(wizard, label, record)));
  return recordsOf(wizard, "wizard", split, count, seed, trim).map((fields, i) => ({
    ...taskOf(wizard, "wizard", split, i, fields),
    pages: wizard.pages.map((page) => page.map(({ label }) => label).filter((label) => label in fields)),
  }));
}

/** Makes all tasks of one tier by form and split, then those of generated forms; equal options give equal tasks. */
export function embeddedTasks(
  tier: Tier,
  seed: number,
  sizes: Sizes,
  level: LetterLevel = "off",
  generated = 0,
): Task[] {
  const forms: readonly Form[] = tier === "wizard" ? WIZARDS : FORMS;
  const made = tier === "wizard" ? [] : generatedForms(seed, generated);
  const tasks: Task[] = [
    ...forms.flatMap((form) => {
      const splits: readonly Split[] = form.heldout ? ["heldout"] : ["train", "val", "test"];
      return splits.flatMap((split) =>
        tier === "wizard"
          ? wizardTasks(form as Wizard, split, sizes[split], seed)
          : recordsOf(form, tier, split, sizes[split], seed).map((record, i) => taskOf(form, tier, split, i, record)),
      );
    }),
    // every generated form has one task
    ...made.map((form) => taskOf(form, tier, "train", 0, recordOf(form, tier, seed))),
  ];
  if (level === "off" || tier === "wizard") return tasks;
  return tasks.map((task) =>
    withLetter(task, fieldsOf(formOf(task.form), tier), level, Rng.named(seed, `letter/${level}/${task.id}`)),
  );
}
