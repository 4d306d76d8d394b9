/** Makes foreign text safe for a terminal, a log or an error message. */

/** Removes line breaks and terminal control characters; cuts the text after `most` characters. */
export function printable(text: string, most = 2000): string {
  const line = text.replace(/\s*\n\s*/g, " ").replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "·");
  return line.length > most ? `${line.slice(0, most)}…` : line;
}

/** Replaces the user and password of every URL by `***`, also where the password contains `@` or `/`. */
export const withoutPasswords = (text: string): string =>
  text.replace(/([a-z]:\/\/)(?:[^\s/"'@?#]*:[^\s"'<>]*|[^\s/"'@?#]+)@/gi, "$1***@");

/** Shows control and direction characters as their codes, so that a text cannot reorder or hide its surroundings. */
export function visible(text: string, kept = ""): string {
  return text.replace(/[\p{Cc}\p{Cs}\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffe\uffff]/gu, (c) =>
    kept.includes(c) ? c : `\\u${(c.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}
