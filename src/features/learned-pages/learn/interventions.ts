/** Chooses what is played: one task's values, then other values for one field at a time. */
import { isBlank } from "../../../env/forms/wire.js";
import type { FieldValue, Task } from "../../../env/site.js";
import { canonical, partsOf } from "../values.js";
import type { Field, Values } from "./keys.js";
import type { Options } from "./offered-options.js";

/** Most items of a list that are entered to tell it from another. */
const MOST_ITEMS = 3;

/** Sorts the tasks by how many fields they fill in, and how many boxes they tick. */
export function richestFirst(tasks: readonly Task[]): Task[] {
  const filled = ({ fields }: Task): number =>
    Object.values(fields).filter((value) => !isBlank(value) && value !== false).length;
  return [...tasks].sort((a, b) => filled(b) - filled(a));
}

/** Adds to a task's values those of other tasks for fields that it leaves open. */
export function completed({ fields }: Task, tasks: readonly Task[], labels: readonly string[]): Values {
  const all: Record<string, FieldValue> = { ...fields };
  for (const label of labels) {
    const value = all[label];
    if (value !== undefined && !isBlank(value)) continue;
    const other = tasks.map((task) => task.fields[label]).find((one) => one !== undefined && !isBlank(one));
    if (other !== undefined) all[label] = other;
  }
  return all;
}

/** Another value of a field, with the values of the task that it comes from. */
export interface Other {
  readonly value: FieldValue;
  readonly of: Values;
}

/**
 * Lists other values of a field, those first that share least with the present one: a day of another year and month
 * shows each of its parts. Values of tasks come before options that the page offers.
 */
export function othersOf({ label, kind }: Field, base: Values, tasks: readonly Task[], offered: Options): Other[] {
  const present = base[label];
  if (typeof present === "boolean") return [{ value: !present, of: {} }];
  if (present === undefined) return [];
  const parts = new Set(partsOf(present));
  const shared = (value: FieldValue): number => partsOf(value).filter((part) => parts.has(part)).length;
  const own = canonical(kind, present);
  const seen = new Set([own]);
  const isNew = (value: FieldValue): boolean => {
    const text = canonical(kind, value);
    return !isBlank(value) && !seen.has(text) && seen.add(text) !== undefined;
  };
  const given = tasks
    .flatMap(({ fields }): Other[] => (fields[label] === undefined ? [] : [{ value: fields[label], of: fields }]))
    .filter(({ value }) => isNew(value))
    .sort((a, b) => shared(a.value) - shared(b.value));
  const options = offered.filter(([text, value]) => value !== "" && text.trim() !== "").map(([text]) => text.trim());
  const lists = (): FieldValue[] => {
    const items = [...new Set([...tasks.flatMap(({ fields }) => fields[label] ?? []), ...options].flat().map(String))];
    return items.slice(0, MOST_ITEMS).map((item) => [item]);
  };
  const others = Array.isArray(present) ? lists() : options;
  return [...given, ...others.filter(isNew).map((value) => ({ value, of: {} }))];
}
