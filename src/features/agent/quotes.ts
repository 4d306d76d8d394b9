import type { Blank, BlankKind, Template } from "../../core/interaction.js";
import { parseDate } from "../../env/forms/normalize.js";

/** Most words of a quote. */
const MOST_WORDS = 12;

/** Selects the parts of a text that a control of a kind can hold; other kinds are written freely, or chosen. */
const TAKES: Partial<Record<BlankKind, (quotes: readonly string[], text: string) => readonly string[]>> = {
  text: (quotes) => quotes,
  email: (quotes) => quotes.filter((quote) => /^\S+@\S+$/.test(quote)),
  tel: (quotes) => quotes.filter((quote) => /^[^\p{L}]*$/u.test(quote) && quote.replace(/\D/g, "").length >= 5),
  url: (quotes) => quotes.filter((quote) => /^\S+\.\S+$/.test(quote) && !quote.includes("@")),
  date: datesOf,
};

/** Returns the dates in a text as `YYYY-MM-DD`, including both ends of a period: `from 18 to 25 July 2026`. */
function datesOf(quotes: readonly string[], text: string): string[] {
  const dates = quotes.flatMap((quote) => {
    const date = parseDate(quote);
    if (date === undefined) return [];
    const escaped = quote.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
    const first = new RegExp(
      `\\b(\\d{1,2})(?:st|nd|rd|th)?( \\p{L}+)? ?(?:to|until|till|and|-|–) ?(?:the )?${escaped}`,
      "u",
    ).exec(text);
    const [day, month, year] = [first?.[1], first?.[2] ?? / \p{L}+/u.exec(quote)?.[0], date.slice(0, 4)];
    // 3/4/2026 is ambiguous
    const [, a, b] = /^(\d{1,2})\/(\d{1,2})\/\d{4}$/.exec(quote) ?? [];
    return [date, parseDate(`${day}${month} ${year}`), parseDate(`${b}/${a}/${year}`)];
  });
  return [...new Set(dates.filter((date) => date !== undefined))];
}

/** Returns every run of up to twelve words of a line, without surrounding punctuation, in text order. */
export function quotesOf(text: string): string[] {
  const quotes = text.split(/\r?\n/).flatMap((line) => {
    const words = [...line.matchAll(/\S+/g)].map(({ 0: word, index }) => {
      const start = index + (/^["'“”‘’([<*•–-]+/u.exec(word)?.[0].length ?? 0);
      return { start, end: index + word.replace(/["'“”‘’)\]>,.;:!?]+$/u, "").length };
    });
    return words.flatMap(({ start }, i) =>
      words.slice(i, i + MOST_WORDS).flatMap(({ end }) => (end > start ? [line.slice(start, end)] : [])),
    );
  });
  return [...new Set(quotes)];
}

/**
 * Returns a template whose one-line blanks accept only words of a text, unchanged, or nothing, and whose date blanks
 * only its dates: for samplers with constrained decoding.
 */
export function quoting({ parts }: Template, text: string): Template {
  const quotes = quotesOf(text);
  const fitting = new Map<BlankKind, readonly string[]>();
  const quoted = (blank: Blank): Blank => {
    const take = TAKES[blank.kind];
    if (take === undefined || blank.options !== undefined) return blank;
    const options = fitting.get(blank.kind) ?? take(quotes, text);
    fitting.set(blank.kind, options);
    return options.length === 0 ? blank : { ...blank, options };
  };
  return { parts: parts.map((part) => (typeof part === "string" ? part : quoted(part))) };
}

/** Finds words in a text: characters `start` to `end`, whole words only; undefined where they are absent. */
export function placeOf(words: string, text: string): { readonly start: number; readonly end: number } | undefined {
  const isWord = (at: number): boolean => /[\p{L}\p{N}]/u.test(text.charAt(at));
  for (let start = text.indexOf(words); words !== "" && start >= 0; start = text.indexOf(words, start + 1)) {
    const end = start + words.length;
    if (!(isWord(start - 1) && isWord(start)) && !(isWord(end - 1) && isWord(end))) return { start, end };
  }
  return undefined;
}
