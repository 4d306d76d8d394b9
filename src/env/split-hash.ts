import { sha256 } from "../core/files.js";
import type { Task } from "./site.js";

/** SHA-256 over ids, forms, fields and splits: changes when any task moves, changes or goes. Independent of task order. */
export function splitHash(tasks: readonly Task[]): string {
  const rows = tasks.map((task) =>
    JSON.stringify([task.id, task.split, task.form, task.tier, Object.entries(task.fields)]),
  );
  return sha256(rows.sort().join("\n"));
}
