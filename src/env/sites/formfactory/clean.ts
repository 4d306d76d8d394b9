import { type Control, findControl } from "../../browser/controls.js";
import { unfillable } from "../../forms/fillable.js";
import type { FieldValue, Task } from "../../site.js";

/** Holds what is wrong with the gold files, as far as nothing that fills in forms can help it. */
export interface Cleaning {
  /** Holds what is left, without its phantom keys. */
  readonly tasks: readonly Task[];
  /** By form: keys that no control of the page has. */
  readonly phantoms: ReadonlyMap<string, readonly string[]>;
  /** By form: how many instances hold a value that its control cannot hold, and for which labels. */
  readonly dropped: ReadonlyMap<string, { readonly instances: number; readonly reasons: ReadonlyMap<string, number> }>;
}

/** Takes out the keys without a control, and the instances with a value that the page cannot hold. */
export function cleanTasks(tasks: readonly Task[], controls: ReadonlyMap<string, readonly Control[]>): Cleaning {
  const phantoms = new Map<string, string[]>();
  const dropped = new Map<string, { instances: number; reasons: Map<string, number> }>();
  const kept = tasks.flatMap((task): Task[] => {
    const page = controls.get(task.url) ?? [];
    const fields: Record<string, FieldValue> = {};
    const reasons = new Set<string>();
    for (const [label, truth] of Object.entries(task.fields)) {
      const target = findControl(page, label);
      if (typeof target === "string" || target.option !== undefined) {
        const known = phantoms.get(task.form) ?? [];
        if (!known.includes(label)) phantoms.set(task.form, [...known, label]);
        continue;
      }
      fields[label] = truth;
      const why = unfillable(target.control, truth);
      if (why !== undefined) reasons.add(`${label}: ${why}`);
    }
    if (reasons.size === 0) return [{ ...task, fields, clean: true }];
    const row = dropped.get(task.form) ?? { instances: 0, reasons: new Map<string, number>() };
    row.instances++;
    for (const reason of reasons) row.reasons.set(reason, (row.reasons.get(reason) ?? 0) + 1);
    dropped.set(task.form, row);
    return [];
  });
  return { tasks: kept, phantoms, dropped };
}

/** Summary of a cleaning for the user: how much was dropped, where and why. */
export function describeCleaning(all: number, { tasks, phantoms, dropped }: Cleaning): string {
  const keys = [...phantoms.values()].reduce((sum, list) => sum + list.length, 0);
  const lines = [
    `FormFactory: ${tasks.length} of ${all} instances kept (site.clean=false keeps all); dropped:`,
    ...[...phantoms].map(([form, labels]) => `  ${form}: no control is called ${labels.join(", ")}`),
    ...[...dropped].map(
      ([form, { instances, reasons }]) =>
        `  ${form}: ${instances} ${instances === 1 ? "instance" : "instances"} (${[...reasons].map(([why, n]) => `${why}${n > 1 ? ` x${n}` : ""}`).join("; ")})`,
    ),
  ];
  return keys + dropped.size === 0 ? `FormFactory: ${all} instances, nothing to clean.` : lines.join("\n");
}
