import { isEqual, isSameNumber, looseLabel, normalizeText, parseDate } from "../../env/forms/normalize.js";
import { dayIn, isLooselyEqual, type Kind, parseMoment, parseRange, readClock } from "../../env/forms/values.js";
import type { FieldValue } from "../../env/site.js";
import type { Shown } from "./place.js";
import { showsDigits } from "./values.js";

/** The visible result of an operation: the value, some other change, or no change. */
export type Evidence = "shown" | "changed" | "same";

const count = (text: string, part: string): number => (part === "" ? 0 : text.split(part).length - 1);

/** Least length in characters of a text that counts as the end of a value: a shorter one may match by chance. */
const LONG = 5;

/** Compares a field before and after it was operated. */
export function evidenceOf(kind: Kind, value: FieldValue, before: Shown, after: Shown): Evidence {
  const same =
    before.text === after.text &&
    JSON.stringify([before.values, before.held]) === JSON.stringify([after.values, after.held]) &&
    JSON.stringify(before.on) === JSON.stringify(after.on);
  if (same) return showsValue(kind, value, after) && !after.invalid ? "shown" : "same";
  // a value that the page marks as invalid at once has the wrong notation
  if (after.invalid && !before.invalid) return "changed";
  return showsValue(kind, value, after) || hasAppeared(kind, value, before, after) ? "shown" : "changed";
}

/** Tells whether the inputs and choices of a field show a value. */
export function showsValue(kind: Kind, value: FieldValue, { text, values, held, on, unset }: Shown): boolean {
  if (kind === "flag") return !unset && on.length > 0 === value;
  const all = [...values, ...held, ...on].map(normalizeText);
  const days = kind === "range" ? parseRange(value) : undefined;
  if (days !== undefined)
    return days.every((day) =>
      all.some((text) => text.split(/\s+(?:-|\u2013|to|~)\s+/).some((part) => isSame("date", day, part))),
    );
  if (Array.isArray(value)) {
    return (
      value.every((item) => all.some((text) => isLooselyEqual(item, text))) &&
      (values.length > 0 || on.length === value.length)
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
const numbersIn = (text: string): string | undefined =>
  text
    .match(/\d+/g)
    ?.map(Number)
    .sort((a, b) => a - b)
    .join(" ");

const showsDay = (text: string, value: string): boolean => {
  const [numbers, day] = [numbersIn(value), parseDate(value)];
  return (day !== undefined && dayIn(text) === day) || (numbers !== undefined && numbersIn(text) === numbers);
};

function isSame(kind: Kind, value: string | number | boolean, text: string): boolean {
  const wanted = String(value);
  switch (kind) {
    case "number":
      return (
        [text, text.replace(/\./g, "").replace(",", ".")].some((one) => isSameNumber(wanted, one)) ||
        showsDigits(text, wanted)
      );
    case "date":
      return text.includes(wanted) || showsDay(text, wanted);
    case "range":
      return false;
    case "time":
      return isEqual(readClock, text, wanted);
    case "moment": {
      const [seen, moment] = [parseMoment(text), parseMoment(value)];
      if (seen === undefined || moment === undefined) return normalizeText(text) === normalizeText(wanted);
      return seen.time === moment.time && numbersIn(seen.date) === numbersIn(moment.date);
    }
    case "file":
      return text.split(/[\\/]/).at(-1) === value;
    default:
      return isLooselyEqual(text, wanted) || showsDigits(text, wanted);
  }
}

/** Tells whether the value has appeared in the text of the field's box, and not only in an open list. */
function hasAppeared(kind: Kind, value: FieldValue, before: Shown, after: Shown): boolean {
  const items = Array.isArray(value) ? value : [String(value)];
  const grown = after.text.length - before.text.length;
  if (kind === "date" && grown < 60 && parseDate(String(value)) !== undefined)
    if (dayIn(after.text) === parseDate(String(value))) return true;
  const length = items.join("").length;
  return grown <= length + 40 && items.every((item) => count(after.text, item) > count(before.text, item));
}
