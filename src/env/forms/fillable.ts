import type { Control } from "../browser/controls.js";
import type { FieldValue } from "../site.js";
import { findOption, listItems, matchValue, parseBoolean, parseDate, parseNumber, parseTime } from "./normalize.js";

/**
 * Tells why nobody can make a control hold a true value; undefined where it can be done. Decided by what the control
 * offers: its options, the values of its type and its limits.
 */
export function unfillable(control: Control, truth: FieldValue): string | undefined {
  if (control.kind === "file" || matchValue(control, truth, control.default) === 1) return undefined;
  const { options } = control;
  switch (control.kind) {
    case "select":
    case "radio":
      return findOption(options, truth) === undefined ? "not an option" : undefined;
    case "checkbox-group":
      return listItems(options, truth).every((item) => findOption(options, item) !== undefined)
        ? undefined
        : "not an option";
    case "checkbox":
      return parseBoolean(truth) === undefined ? "neither yes nor no" : undefined;
    case "number":
      return parseNumber(truth) === undefined ? "not a number" : undefined;
    case "date":
      return parseDate(truth) === undefined ? "not a date" : undefined;
    case "time":
      return parseTime(truth) === undefined ? "not a time" : undefined;
    default:
      return undefined;
  }
}
