import type { z } from "zod";
import { fail, type Next } from "./errors.js";

/** Problems that are listed; the rest is counted. */
const MAX_LISTED = 20;

/** Gives what a schema refused, each problem on a line of its own that begins with its place: `\n  model.hidden_size: is missing`. */
export function problemsOf(error: z.ZodError): string {
  const lines = error.issues.map((issue) => {
    const place = issue.path.map(String).join(".");
    // what is wrong with a key is said by the key's own schema
    const said = issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
    const text = said.replace(/^Invalid input: /, "");
    return `${place === "" ? "" : `${place}: `}${text.endsWith(", received undefined") ? "is missing" : text}`;
  });
  return listed(lines, MAX_LISTED);
}

/**
 * Gives a value as its schema has it.
 * @param refusal what the value is not, as `eval/val.json is no evaluation`. @throws UserError with every problem of it.
 */
export function checked<S extends z.ZodType>(schema: S, value: unknown, refusal: string, next?: Next): z.output<S> {
  const result = schema.safeParse(value);
  return result.success ? result.data : fail(`${refusal}:${problemsOf(result.error)}`, next);
}

/** Lists lines below a message, each indented: the first so many, and how many more there are. */
export function listed(lines: readonly string[], most = 8): string {
  const more = lines.length > most ? [`and ${lines.length - most} more`] : [];
  return [...lines.slice(0, most), ...more].map((line) => `\n  ${line}`).join("");
}
