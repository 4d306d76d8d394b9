import type { Control } from "../browser/controls.js";
import type { FieldValue } from "../site.js";
import { withoutMarkup } from "./joined.js";
import { findOption, looseLabel, normalizeText, parseBoolean, parseDate, parseNumber, parseTime } from "./normalize.js";

/** From here on two names are taken to mean the same. */
export const ALIKE = 0.6;

const FILLERS = new Set(["the", "your", "a", "an", "of", "please", "enter", "field", "input"]);

/** Words of a key or a label: camelCase, snake_case, brackets and dots apart. */
export function wordsOf(name: string): string[] {
  return name
    .slice(0, 200)
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

export const lastWord = (key: string): string =>
  key
    .split(/[.[\]]+/)
    .filter((part) => part !== "")
    .at(-1) ?? key;

/** How much a key is a control's own: 1 its last part is the label, name or id; shared words; the label's initials. */
export function likeness(control: Control, words: readonly string[]): number {
  if (words.length === 0) return 0;
  let best = 0;
  for (const name of [control.label, control.name, control.id, `${control.section} ${control.label}`]) {
    const own = wordsOf(name).filter((word) => !FILLERS.has(word));
    if (own.length === 0) continue;
    const joined = own.join("");
    if (words.join("") === joined || words.slice(-own.length).join("") === joined) return 1;
    if (own.length > 1 && words.at(-1) === own.map((word) => word[0]).join("")) best = Math.max(best, 0.8);
    const shared = own.filter((word) =>
      words.some((w) => w === word || (w.length > 2 && word.length > 2 && (w.startsWith(word) || word.startsWith(w)))),
    ).length;
    best = Math.max(best, (0.9 * shared) / Math.max(own.length, Math.min(words.length, own.length + 1)));
  }
  return best;
}

/** Keys are equal but for brackets and dots; nested ones by their end. */
export function sameKey(key: string, name: string): boolean {
  if (name === "") return false;
  if (key === name) return true;
  const path = (text: string): string => text.replace(/\[\]$/, "").replace(/\[([^\]]*)\]/g, ".$1");
  const [a, b] = [path(key), path(name)];
  return a === b || a.endsWith(`.${b}`);
}

const lettersOf = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");

/** Whether a posted text is what a control held, in whatever notation. */
export function sameValue(control: Control, held: FieldValue, value: string, typed?: string): boolean {
  if (typeof held === "boolean")
    return (
      control.kind === "checkbox" &&
      (parseBoolean(value) === held ||
        (held && value !== "" && [control.label, control.name].some((n) => looseLabel(n) === looseLabel(value))))
    );
  const text = normalizeText(String(held));
  const other = normalizeText(value);
  if (text === "" || other === "") return false;
  if (text === other || (/[<&]/.test(other) && text === normalizeText(withoutMarkup(other)))) return true;
  // a mask writes what was typed in its own way, and may take it out again
  if (typed !== undefined && isTyped(typed, other)) return true;
  switch (control.kind) {
    case "number":
      return parseNumber(text) !== undefined && parseNumber(text) === parseNumber(other);
    case "date":
      return dateOf(text) !== undefined && dateOf(text) === dateOf(other);
    case "time":
      return parseTime(text) !== undefined && parseTime(text) === parseTime(other.replace(/^.*T(\d\d:\d\d).*$/, "$1"));
    case "select":
    case "radio":
      return sameOption(control, text, other);
    case "file":
      return other.endsWith(text);
    default: {
      if (text.length > 1 && text.toLowerCase() === other.toLowerCase()) return true;
      // telephone and card numbers lose their spaces and brackets
      const digits = (t: string): string => t.replace(/[\s()+/-]/g, "");
      if (
        /^[\d\s()+/-]{4,}$/.test(text) &&
        /^\d{4,}$/.test(digits(other)) &&
        digits(text).endsWith(digits(other).slice(-Math.max(4, digits(text).length)))
      )
        return digits(text) === digits(other) || control.kind === "tel";
      return (
        text.length < 40 &&
        other.length < 40 &&
        /\d/.test(text) &&
        /\d/.test(other) &&
        parseDate(text) !== undefined &&
        dateOf(text) === dateOf(other)
      );
    }
  }
}

/** Whether a text is what was typed, by its letters or as a date. */
export function isTyped(typed: string, text: string): boolean {
  if (lettersOf(typed) !== "" && lettersOf(typed) === lettersOf(text)) return true;
  const date = parseDate(typed);
  return date !== undefined && date === dateOf(normalizeText(text));
}

/** A date in any notation, also with a time behind it or in milliseconds since 1970. */
function dateOf(text: string): string | undefined {
  const date = parseDate(text);
  if (date !== undefined) return date;
  if (/^\d{12,13}$/.test(text)) return new Date(Number(text)).toISOString().slice(0, 10);
  return /^\d{4}-\d\d-\d\d/.test(text) ? text.slice(0, 10) : undefined;
}

export const samePart = (value: string, part: string, place: number): boolean =>
  (/^\d+$/.test(value) && Number(value) === Number(part)) ||
  (place === 1 && value.length > 2 && parseDate(`${value} 1, 2000`)?.slice(5, 7) === part);

export function sameOption(control: Control, a: string, b: string): boolean {
  const [x, y] = [findOption(control.options, a), findOption(control.options, b)];
  if (x !== undefined && y !== undefined) return x === y;
  return looseLabel(a) !== "" && looseLabel(a) === looseLabel(b);
}

export function optionOf(control: Control, text: string): string | undefined {
  const index = findOption(control.options, text);
  return index === undefined ? undefined : control.options[index]?.text;
}
