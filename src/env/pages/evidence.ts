import { looseLabel, normalizeText, parseDate, parseNumber } from "../forms/normalize.js";
import type { FieldValue } from "../site.js";
import type { Shown } from "./place.js";
import { canonical, dayIn, type Kind, parseMoment, parseRange, showsDigits } from "./values.js";

/** The visible result of an operation: the value, some other change, or no change. */
export type Evidence = "shown" | "changed" | "same";

const count = (text: string, part: string): number => (part === "" ? 0 : text.split(part).length - 1);

/** Length in characters from which a text is no chance match for the end of a value. */
const LONG = 5;

/** Compares a field before and after it was operated. */
export function evidenceOf(kind: Kind, value: FieldValue, before: Shown, after: Shown): Evidence {
  const same =
    before.text === after.text &&
    JSON.stringify([before.values, before.held]) === JSON.stringify([after.values, after.held]) &&
    JSON.stringify(before.on) === JSON.stringify(after.on);
  if (same) return says(kind, value, after) && !after.invalid ? "shown" : "same";
  // a value that the page rejects at once is written in the wrong notation
  if (after.invalid && !before.invalid) return "changed";
  return says(kind, value, after) || tells(kind, value, before, after) ? "shown" : "changed";
}

/** Tells whether the inputs and choices of a field show a value. */
export function says(kind: Kind, value: FieldValue, { text, values, held, on, unset }: Shown): boolean {
  if (kind === "flag") return !unset && on.length > 0 === value;
  const all = [...values, ...held, ...on].map(normalizeText);
  const days = kind === "range" ? parseRange(value) : undefined;
  if (days !== undefined)
    return days.every((day) =>
      all.some((text) => text.split(/\s+(?:-|\u2013|to|~)\s+/).some((part) => isSame("date", day, part))),
    );
  if (Array.isArray(value)) {
    const wanted = value.map(looseLabel);
    return (
      wanted.every((item) => all.some((text) => looseLabel(text) === item)) &&
      (values.length > 0 || on.length === wanted.length)
    );
  }
  // several inputs, one for each character or for each part of a day or a time
  const joined = values.length > 1 ? ["", " ", ":"].map((by) => values.join(by)) : [];
  // an input may hold only the end of a value, beside a chosen beginning such as a country code
  const [whole, read] = [looseLabel(String(value)), looseLabel(text)];
  const isEnd = (end: string): boolean =>
    end.length >= LONG && whole.endsWith(end) && read.includes(whole.slice(0, -end.length));
  if (kind === "text" && values.some((one) => isEnd(looseLabel(one)))) return true;
  return [...all, ...joined].some((text) => isSame(kind, value, text));
}

/** Sorts the numbers of a date by size, so that the day may stand before the month or after it. */
const numbersIn = (text: string): string =>
  (text.match(/\d+/g) ?? [])
    .map(Number)
    .sort((a, b) => a - b)
    .join(" ");

function isSame(kind: Kind, value: string | number | boolean, text: string): boolean {
  switch (kind) {
    case "number":
      return (
        [text, text.replace(/\./g, "").replace(",", ".")].some((one) => parseNumber(one) === parseNumber(value)) ||
        showsDigits(text, String(value))
      );
    case "date":
      return (
        dayIn(text) === parseDate(value) || text.includes(String(value)) || numbersIn(text) === numbersIn(String(value))
      );
    case "range":
      return false;
    case "time":
      return canonical(kind, text) === canonical(kind, value);
    case "moment": {
      const [seen, wanted] = [parseMoment(text), parseMoment(value)];
      return seen?.time === wanted?.time && numbersIn(seen?.date ?? "") === numbersIn(wanted?.date ?? "-");
    }
    case "file":
      return text.split(/[\\/]/).at(-1) === value;
    default:
      return looseLabel(text) === looseLabel(String(value)) || showsDigits(text, String(value));
  }
}

/** Tells whether the value has appeared in the text of the field's box, and not only in an open list. */
function tells(kind: Kind, value: FieldValue, before: Shown, after: Shown): boolean {
  const items = Array.isArray(value) ? value : [String(value)];
  const grown = after.text.length - before.text.length;
  if (kind === "date" && grown < 60 && dayIn(after.text) === parseDate(String(value))) return true;
  const length = items.join("").length;
  return grown <= length + 40 && items.every((item) => count(after.text, item) > count(before.text, item));
}
