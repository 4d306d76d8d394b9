import { sha256 } from "../../core/files.js";
import type { Split } from "../environment.js";
import type { Task } from "../site.js";

/** Returns a SHA-256 over ids, forms, fields and splits of all tasks, whatever their order. */
export function splitHash(tasks: readonly Task[]): string {
  const rows = tasks.map((task) =>
    JSON.stringify([
      ...[task.id, task.split, task.form, task.tier, Object.entries(task.fields)],
      // a letter is a part of its task
      ...(task.spans === undefined ? [] : [task.document, Object.entries(task.spans)]),
    ]),
  );
  return sha256(rows.sort().join("\n"));
}

/** Returns a number in [0, 1) that depends on the text alone: the same in every process and for every seed. */
export const fraction = (text: string): number => Number.parseInt(sha256(text).slice(0, 8), 16) / 2 ** 32;

/**
 * Returns the split of a training form's record, from a text of form and record: 60 % train, 20 % val, 20 % test. It
 * depends only on the record, so that splits stay disjoint between seeds, sizes and options too.
 */
export function recordSplit(text: string): Exclude<Split, "heldout"> {
  const x = fraction(text);
  return x < 0.6 ? "train" : x < 0.8 ? "val" : "test";
}
