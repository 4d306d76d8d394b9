/** Texts of a page or an answer, apart from what a plan wrote: what only repeats the plan is no evidence. */
import { normalizeText } from "./normalize.js";
import type { PostedPair } from "./posted.js";

const folded = (text: string): string => normalizeText(text).toLowerCase();

/**
 * Tells whether a text holds another one, apart from what a plan wrote: a page or an answer may repeat that. Case and
 * the width of spaces do not matter.
 */
export function holdsOwn(text: string, wanted: string, written: readonly string[]): boolean {
  const [all, part] = [folded(text), folded(wanted)];
  if (part === "" || !all.includes(part)) return false;
  const isWord = (letter = ""): boolean => /[\p{L}\p{N}]/u.test(letter);
  const own = all.split("");
  for (const value of written.map(folded))
    for (let at = value === "" ? -1 : all.indexOf(value); at >= 0; at = all.indexOf(value, at + value.length)) {
      const end = at + value.length;
      // a short value is a chance part of other words
      if (value.length > 2 || !(isWord(all[at - 1]) || isWord(all[end]))) own.fill(" ", at, end);
    }
  const sign = isWord(part) ? /[\p{L}\p{N}]/u : /\S/u;
  for (let at = all.indexOf(part); at >= 0; at = all.indexOf(part, at + 1))
    if (sign.test(own.slice(at, at + part.length).join(""))) return true;
  return false;
}

/** Adds to the texts of a plan what the page made of them: cut or completed ones that were sent, and text in markup. */
export function writtenIn(texts: readonly string[], posted: readonly PostedPair[]): string[] {
  const known = texts.map(folded).filter((text) => text !== "");
  const sent = posted
    .map(([, value]) => value)
    .filter((value) => {
      const own = folded(value);
      return own !== "" && known.some((text) => text.includes(own) || own.includes(text));
    });
  const all = [...texts, ...sent];
  return [...new Set([...all, ...all.map(textOf)])];
}

/** Returns the text of a document, or of an answer that is none, without markup. */
export const textOf = (html: string): string =>
  html
    .slice(0, 500_000)
    .replace(/<!--[\s\S]*?-->|<(script|style|svg|select|template)\b[^>]*>[\s\S]*?<\/\1>/gi, "\n")
    .replace(/<[^>]*>/g, "\n");
