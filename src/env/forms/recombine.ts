import type { Rng } from "../../core/rng.js";
import type { ControlKind, FieldKind, FieldValue, KnownTask } from "../site.js";

/** Share of the tasks in which fields get new labels, and the share of fields in these tasks. */
const RENAMED = 0.6;
/** Share of the texts in a renamed task that are replaced by other words. */
const REWORDED = 0.3;
const LONGEST_LABEL = 7;
const LONGEST_TEXT = 12;

const words = new WeakMap<readonly KnownTask[], readonly string[]>();

/** Lists the words of all labels, titles and texts of the known tasks, each once. */
function wordsOf(known: readonly KnownTask[]): readonly string[] {
  const texts = known.flatMap(({ task }) => [
    task.formTitle,
    ...Object.keys(task.fields),
    ...Object.values(task.fields).filter((value) => typeof value === "string"),
  ]);
  const all = words.get(known) ?? [...new Set(texts.flatMap((text) => text.split(/[\s|:]+/).filter(Boolean)))].sort();
  words.set(known, all);
  return all;
}

/**
 * Makes a new task from known ones: some fields of one task, or of two under the title of a third, in random order; in
 * some of them labels, digits and texts are replaced. From such tasks a model learns to read labels and values, and not
 * the fields of each form by heart.
 * @param fromDocument whether the values are in the task's document: then they stay unchanged and together.
 */
export function recombined(known: readonly KnownTask[], rng: Rng, fromDocument = false): KnownTask {
  const [first, second, third] = [rng.pick(known), rng.pick(known), rng.pick(known)];
  const mixed = !fromDocument && rng.uniform() < 0.5;
  const parts = mixed ? [first, second] : [first];
  const values = new Map(parts.flatMap(({ task }) => Object.entries(task.fields)));
  const ownKinds: Readonly<Record<string, FieldKind>> = Object.assign({}, ...parts.map(({ kinds }) => kinds));
  const labels = rng.shuffle([...values.keys()]);
  const kept = labels.slice(0, 1 + rng.int(labels.length));
  const renamed = !fromDocument && rng.uniform() < RENAMED;
  const fields: Record<string, FieldValue> = {};
  const kinds: Record<string, FieldKind> = {};
  for (const label of kept) {
    const other = renamed && rng.uniform() < RENAMED ? phrase(known, LONGEST_LABEL, rng) : label;
    const name = other in fields || other === "submit" ? label : other;
    const [value, kind] = [values.get(label) as FieldValue, ownKinds[label] as FieldKind | undefined];
    fields[name] = renamed && typeof value === "string" ? otherText(value, kind?.kind, known, rng) : value;
    if (kind !== undefined) kinds[name] = kind;
  }
  return { task: { ...first.task, formTitle: (mixed ? third : first).task.formTitle, fields }, kinds };
}

/** Draws a phrase of up to `longest` words, short ones more often than long ones. */
function phrase(known: readonly KnownTask[], longest: number, rng: Rng): string {
  const all = wordsOf(known);
  const count = 1 + Math.floor(rng.uniform() * rng.uniform() * longest);
  return Array.from({ length: count }, () => rng.pick(all)).join(" ");
}

/** Replaces words for a control of free text, and digits where a control allows any; else keeps the value. */
function otherText(value: string, kind: ControlKind | undefined, known: readonly KnownTask[], rng: Rng): string {
  const free = kind === "text" || kind === "textarea";
  if (free && rng.uniform() < REWORDED) return phrase(known, LONGEST_TEXT, rng);
  if (!free && kind !== "tel" && kind !== "email" && kind !== "url") return value;
  return value.replace(/\d/g, () => String(rng.int(10)));
}
