import type { z } from "zod";
import { fail, type Next } from "./errors.js";

/** Most problems listed in full; the rest is counted. */
const MAX_LISTED = 20;

/** Finds the line of a key in a file; undefined if it has none. */
export type LineOf = (path: readonly PropertyKey[]) => number | undefined;

/** Names a key of a file with its line: `fields.Name.way (line 7)`. */
export function placed(path: readonly PropertyKey[], line?: LineOf): string {
  const at = line?.(path);
  return [path.map(String).join("."), at === undefined ? "" : `(line ${at})`].filter((part) => part !== "").join(" ");
}

/**
 * Lists the problems of a schema's error, each on a line after its place: `\n  model.hidden_size: is missing`.
 * @param line adds the line in the file.
 */
export function problemsOf(error: z.ZodError, line?: LineOf): string {
  const lines = error.issues.map((issue) => {
    const place = placed(issue.path, line);
    // the message on a wrong key comes from the key's own schema
    const message = issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
    const text = message.replace(/^Invalid input: /, "");
    return `${place === "" ? "" : `${place}: `}${text.endsWith(", received undefined") ? "is missing" : text}`;
  });
  return listed(lines, MAX_LISTED);
}

/**
 * Parses a value by its schema.
 * @param refusal begins the message, as `eval/val.json is no evaluation`. @throws UserError with every problem.
 */
export function checked<S extends z.ZodType>(
  schema: S,
  value: unknown,
  refusal: string,
  next?: Next,
  line?: LineOf,
): z.output<S> {
  const result = schema.safeParse(value);
  return result.success ? result.data : fail(`${refusal}:${problemsOf(result.error, line)}`, next);
}

/** Lists lines below a message, each indented: the first `most`, then the number of the others. */
export function listed(lines: readonly string[], most = 8): string {
  const more = lines.length > most ? [`and ${lines.length - most} more`] : [];
  return [...lines.slice(0, most), ...more].map((line) => `\n  ${line}`).join("");
}
