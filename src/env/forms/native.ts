import type { Control } from "../browser/controls.js";
import type { DeclaredForm, FieldValue, Task } from "../site.js";
import type { Wire } from "./contract.js";
import { parseDate, parseNumber, parseTime } from "./normalize.js";
import type { PostedPair } from "./posted.js";
import { parseMoment, writeDay } from "./values.js";
import { received } from "./wire.js";

/** Derives the notation of a control's value in the payload, as HTML defines it; a text is compared unchanged. */
function wireOf({ kind, options }: Control, key: string): Wire {
  if (kind === "checkbox") return { key, notation: { as: "flag", on: options[0]?.value ?? "on", off: null } };
  if (!["select", "radio", "checkbox-group"].includes(kind)) return { key, notation: { as: "same" } };
  const codes = Object.fromEntries(options.filter(({ value }) => value !== "").map(({ text, value }) => [text, value]));
  return { key, notation: { as: "codes", codes }, ...(kind === "checkbox-group" ? { list: "repeated" } : {}) };
}

/** Reads the values that the server received, one for each control. */
export function receivedBy(
  controls: readonly Control[],
  posted: readonly PostedPair[],
  { fields, keys = {} }: Pick<Task, "fields" | "keys">,
): FieldValue[] {
  return controls.map((control) => {
    const { label, kind } = control;
    const wire = wireOf(control, keys[label] ?? control.name);
    const own = posted.filter(([key]) => key === wire.key);
    const pairs = own.length > 0 ? own : posted.filter(([key]) => innermost(key) === wire.key);
    const raws = pairs.map(([, value]) => value);
    // several different values under one name do not count as any of them
    if (wire.list === undefined && new Set(raws).size > 1) return raws.join(", ");
    if (wire.notation.as === "same") return raws[0] ?? "";
    const same = raws.map((raw): PostedPair => [wire.key, raw]);
    const of = kind === "checkbox" ? "flag" : kind === "checkbox-group" ? "list" : "text";
    return received(label, wire, of, fields[label], same, fields);
  });
}

/** Counts how many of the controls a request carries. */
export function carriedOf(controls: readonly Control[], posted: readonly PostedPair[]): number {
  const keys = new Set(posted.map(([key]) => key));
  for (const [key] of posted) keys.add(innermost(key));
  return controls.filter(({ name }) => name !== "" && keys.has(name)).length;
}

/** Returns the last part of a key: `n` of `order.data.n`. */
export const innermost = (key: string): string => key.split(/[.[\]]+/).findLast((part) => part !== "") ?? key;

/** Lists the controls that a site declares. */
export function declaredControls({ fields }: DeclaredForm): Control[] {
  return Object.entries(fields).map(
    ([label, { kind, name, default: preset, required = false, offers = [] }], index): Control => ({
      index,
      kind,
      widget: "native",
      label,
      name,
      required,
      default: preset,
      options: offers,
      present: true,
    }),
  );
}

/**
 * Writes a value as the text of an HTML control; an unreadable one stays unchanged, and the control refuses it.
 * @param type kind of the control, or the `type` of an input. @param notation of a date in a text field.
 */
export function nativeText(type: string, value: FieldValue, notation?: string): string {
  const text = String(value);
  switch (type) {
    case "date": {
      const day = parseDate(value);
      return day === undefined ? text : notation === undefined ? day : writeDay(day, notation);
    }
    case "time":
      return parseTime(value) ?? text;
    case "month":
      return parseDate(value)?.slice(0, 7) ?? text;
    case "datetime-local": {
      const moment = parseMoment(value);
      return moment === undefined ? text : `${moment.date}T${moment.time}`;
    }
    case "number": {
      const number = parseNumber(value);
      return number === undefined ? text : /^[-+]?\d*\.?\d+$/.test(text) ? text.replace(/^\+/, "") : String(number);
    }
    case "textarea":
      return text;
    default:
      // a one-line control would join lines without a space
      return text.replace(/\s*[\r\n]+\s*/g, " ");
  }
}

/** Returns the name of a file as a control gets it: a real one holds no folder and no control characters. */
export const nativeFile = (name: FieldValue): string =>
  (String(name).split(/[\\/]/).at(-1) ?? "").replace(/\p{Cc}+/gu, "_").slice(0, 100) || "file.txt";
