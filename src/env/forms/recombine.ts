import type { Rng } from "../../core/rng.js";
import type { FieldKind, FieldValue, Task } from "../site.js";

/** A task and the controls of its fields. */
export interface KnownTask {
  readonly task: Task;
  readonly kinds: Readonly<Record<string, FieldKind>>;
}

/**
 * A task put together anew: some fields of one task, or of two under the title of a third, in random order. What such
 * tasks teach is to read labels and values, not which of them a form has.
 */
export function recombined(known: readonly KnownTask[], rng: Rng): KnownTask {
  const [first, second, third] = [rng.pick(known), rng.pick(known), rng.pick(known)];
  const mixed = rng.uniform() < 0.5;
  const parts = mixed ? [first, second] : [first];
  const fields = new Map(parts.flatMap(({ task }) => Object.entries(task.fields)));
  const labels = rng.shuffle([...fields.keys()]);
  const kept = labels.slice(0, 1 + rng.int(labels.length));
  const title = (mixed ? third : first).task.formTitle;
  return {
    task: {
      ...first.task,
      formTitle: title,
      fields: Object.fromEntries(kept.map((label) => [label, fields.get(label) as FieldValue])),
    },
    kinds: Object.assign({}, ...parts.map(({ kinds }) => kinds)),
  };
}
