/** Text of others, made fit for a terminal, a log or an error message. */

/** Without line breaks and characters that steer a terminal; cut after so many characters. */
export function printable(text: string, most = 2000): string {
  const line = text.replace(/\s*\n\s*/g, " ").replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "·");
  return line.length > most ? `${line.slice(0, most)}…` : line;
}

/** With `***` for the user and password of every URL, also where the password holds `@` or `/`. */
export function withoutPasswords(text: string): string {
  return text.replace(/([a-z]:\/\/)(?:[^\s/"'@?#]*:[^\s"'<>]*|[^\s/"'@?#]+)@/gi, "$1***@");
}

/** Shows control and direction characters as their codes, so that a text cannot reorder or hide what stands around it. */
export function visible(text: string, kept = ""): string {
  return text.replace(/[\p{Cc}\p{Cs}\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffe\uffff]/gu, (c) =>
    kept.includes(c) ? c : `\\u${(c.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}
