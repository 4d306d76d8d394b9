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
