import type { Control } from "../browser/controls.js";
import type { FieldValue } from "../site.js";
import { normalizeText, parseDate, parseTime } from "./normalize.js";

/** A text without markup: editors post HTML. */
export function withoutMarkup(text: string): string {
  if (!/[<&]/.test(text)) return text;
  const named: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&", nbsp: " " };
  return text
    .replace(/<(?:br|\/p|\/div|\/li|\/h\d)\b[^<>]*>/gi, " ")
    .replace(/<\/?[a-z][^<>]*>/gi, "")
    .replace(/&(?:#(\d{1,6})|#x([\da-f]{1,5})|([a-z]{2,4}));/gi, (whole, decimal, hex, name: string | undefined) =>
      name !== undefined
        ? (named[name.toLowerCase()] ?? whole)
        : String.fromCodePoint(Math.min(0x10ffff, decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal))),
    );
}

/** How a control's value may stand inside of a longer one. */
function wordings(control: Control, held: FieldValue): string[] {
  if (typeof held !== "string" || held === "" || control.kind === "checkbox" || control.kind === "file") return [];
  const option = control.options.find((o) => o.text === held);
  const date = control.kind === "date" ? parseDate(held) : undefined;
  const time = control.kind === "time" ? parseTime(held) : undefined;
  return [held, option?.value ?? "", date ?? "", time ?? ""].map(normalizeText).filter((text) => text !== "");
}

/** Of long pages and posts no more is looked at: every text is compared with every value. */
const LOOKED_AT = { controls: 200, texts: 300, length: 500 };

/**
 * Tells of a posted text which controls' values it is made of, as `Ann Lee` of a first and a last name or
 * `2024-04-17T14:30` of a date and a time: at least two, and nothing else is left of it. The answer is their places among
 * the controls; empty where it is not made so.
 */
export function makerOf(controls: readonly Control[], held: readonly FieldValue[]): (posted: string) => number[] {
  const texts = controls
    .slice(0, LOOKED_AT.controls)
    .flatMap((control, i) => wordings(control, held[i] ?? "").map((text) => ({ i, text: text.toLowerCase() })))
    .sort((a, b) => b.text.length - a.text.length);
  return (posted) => {
    let rest = posted.length > LOOKED_AT.length ? "" : normalizeText(posted).toLowerCase();
    if (rest.length < 3) return [];
    const moment = /^\d{4}-\d\d-\d\dt/.test(rest);
    const found = new Set<number>();
    for (const { i, text } of texts) {
      const at = found.has(i) ? -1 : rest.indexOf(text);
      if (at < 0) continue;
      rest = `${rest.slice(0, at)}\n${rest.slice(at + text.length)}`;
      found.add(i);
    }
    // seconds and a zone follow on a moment
    const left = moment ? rest.replace(/(?::00)?(?:\.0+)?(?:z|[+-]\d\d:?\d\d)?$/, "").replace("t", "") : rest;
    return found.size > 1 && !/[\p{L}\p{N}]/u.test(left) ? [...found] : [];
  };
}

/**
 * The posted texts that one control's text was taken apart into, as `Ann Lee` into a first and a last name, or `04/27`
 * into month and year: every part of it is one of them, in order.
 * @param posted what is left of the posted texts. @returns their places; empty where not all parts are there.
 */
export function takenApart(held: FieldValue, posted: readonly string[]): number[] {
  if (typeof held !== "string" || held.length > LOOKED_AT.length || posted.length > LOOKED_AT.texts) return [];
  const words = normalizeText(held)
    .split(/[\s/,.:|-]+/)
    .filter((word) => word !== "");
  if (words.length < 2 || words.length > 8) return [];
  const found: number[] = [];
  for (let at = 0; at < words.length; ) {
    // a part may be of several words: the most first
    let length = words.length - at;
    let place = -1;
    for (; length > 0 && place < 0; length--)
      place = posted.findIndex((text, k) => !found.includes(k) && isPart(text, words.slice(at, at + length)));
    if (place < 0) return [];
    found.push(place);
    at += length + 1;
  }
  return found.length > 1 ? found : [];
}

function isPart(posted: string, words: readonly string[]): boolean {
  const text = normalizeText(posted).toLowerCase();
  if (text === words.join(" ").toLowerCase()) return true;
  const [word = ""] = words;
  if (words.length > 1 || !/^\d{1,4}$/.test(word) || !/^\d{1,4}$/.test(text)) return false;
  return (
    Number(text) === Number(word) || (word.length === 2 && text.length === 4 && Number(text) === 2000 + Number(word))
  );
}
