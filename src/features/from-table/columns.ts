/** Matches the columns of a table to a page's fields, and its cells to what the fields can hold. */
import { misuse } from "../../core/errors.js";
import type { Control } from "../../env/browser/controls.js";
import { labelList, meantBy, wordsOf } from "../../env/forms/absent-label.js";
import { findOption, listItems, looseLabel, parseBoolean, parseDate, unfillable } from "../../env/forms/normalize.js";
import { readDay } from "../../env/forms/values.js";
import type { FieldValue, Task } from "../../env/site.js";
import type { Record } from "./records.js";

/** Cells that databases write where there is no value. */
const NOTHING: ReadonlySet<unknown> = new Set([null, undefined, "", "NULL", "null", "\\N"]);

export type Columns = ReadonlyMap<string, Control>;

/**
 * Gives each column the field that `--map` names, or that has its name as label or as the control's own name, or the
 * only one with all of its words, or with the beginnings of all.
 * @throws UserError where `--map` names a column or a label that is not there.
 */
export function matchColumns(
  columns: readonly string[],
  controls: readonly Control[],
  mapped: ReadonlyMap<string, string>,
): Columns {
  const labels = controls.map(({ label }) => label);
  const matched = new Map<string, Control>();
  const isFree = (control: Control): boolean => ![...matched.values()].includes(control);
  for (const [column, label] of mapped) {
    if (!columns.includes(column)) misuse(`--map: there is no column ${column}.`, { hint: meaning(column, columns) });
    const control = controls.find((one) => looseLabel(one.label) === looseLabel(label));
    if (control !== undefined) matched.set(column, control);
    else if (label !== "") misuse(`--map: the page has no field ${label}.`, { hint: meaning(label, labels) });
  }
  const rules: ((column: string, control: Control) => boolean)[] = [
    (column, { label }) => looseLabel(column) === looseLabel(label),
    (column, { name }) => looseLabel(column) === looseLabel(name),
    ...[(a: string, b: string) => a === b, isShortened].map((fit) => (column: string, { label }: Control) => {
      const [words, others] = [wordsOf(column), wordsOf(label)];
      return isWithin(words, others, fit) || isWithin(others, words, fit);
    }),
  ];
  for (const fits of rules) {
    const open = columns.filter((column) => !matched.has(column) && !mapped.has(column) && looseLabel(column) !== "");
    const free = controls.filter(isFree);
    for (const column of open) {
      const [only, ...others] = free.filter((control) => fits(column, control));
      if (only === undefined || others.length > 0) continue;
      if (open.filter((other) => fits(other, only)).length === 1) matched.set(column, only);
    }
  }
  return matched;
}

type WordsFit = (a: string, b: string) => boolean;

/** Tells whether one word is the other's beginning, of three letters at least: `max` and `maximum`. */
const isShortened: WordsFit = (a, b) =>
  a === b || (Math.min(a.length, b.length) > 2 && (a.startsWith(b) || b.startsWith(a)));

const isWithin = (few: readonly string[], many: readonly string[], fit: WordsFit): boolean =>
  few.every((word) => many.some((other) => fit(word, other)));

/** Lists what there is, and what a missing name probably stands for. */
export function meaning(name: string, names: readonly string[]): string {
  const meant = meantBy(name, names);
  return `there is ${labelList(names)}${meant === undefined ? "" : `; did you mean ${meant}?`}`;
}

/** Returns a record's values by label in the page's order, without empty cells; and what a field cannot hold. */
export function valuesOf({ cells }: Record, columns: Columns): { fields: Task["fields"]; problems: string[] } {
  const problems: string[] = [];
  const inOrder = [...columns].sort(([, a], [, b]) => a.index - b.index);
  const fields = inOrder.flatMap(([column, control]): [string, FieldValue][] => {
    const cell = cells[column];
    if (NOTHING.has(typeof cell === "string" ? cell.trim() : cell)) return [];
    const value = valueFor(control, cell);
    const why = value === undefined ? "no text" : unfillable(control, value);
    if (value !== undefined && why === undefined) return [[control.label.replace(/[\s*:]+$/, ""), value]];
    const options = control.options.length === 0 ? "" : `: ${labelList(control.options.map(({ text }) => text))}`;
    problems.push(`${column}: ${JSON.stringify(cell).slice(0, 60)} is ${why} of ${control.label}${options}`);
    return [];
  });
  return { fields: Object.fromEntries(fields), problems };
}

/** Returns a cell's value for a control: an option's text, true or false, a list of options, or the text as written. */
function valueFor({ kind, options }: Control, cell: unknown): FieldValue | undefined {
  if (typeof cell === "object" && !(Array.isArray(cell) && cell.every((item) => typeof item !== "object")))
    return undefined;
  const named = (item: FieldValue): string => options[findOption(options, item) ?? -1]?.text ?? String(item);
  if (kind === "checkbox-group") return itemsOf(cell, options).map(named);
  const text = Array.isArray(cell) ? cell.join(", ") : String(cell).trim();
  if (kind === "select" || kind === "radio") return named(typeof cell === "boolean" ? cell : text);
  // PostgreSQL writes t and f
  if (kind === "checkbox") return parseBoolean(text.replace(/^t$/i, "true").replace(/^f$/i, "false")) ?? text;
  return kind === "date" && parseDate(text) === undefined ? String(readDay(text) ?? text) : text;
}

/** Parts a cell with several options: a list, or texts between `;`, `|` or commas, in braces as PostgreSQL writes them. */
function itemsOf(cell: unknown, options: Control["options"]): string[] {
  if (Array.isArray(cell)) return cell.map(String);
  const text = String(cell)
    .trim()
    .replace(/^\{(.*)\}$/, "$1");
  const parts = /[;|]/.test(text) ? text.split(/[;|]/) : listItems(options, text);
  return parts.map((part) => part.trim().replace(/^"(.*)"$/, "$1")).filter((part) => part !== "");
}
