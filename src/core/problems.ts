import type { z } from "zod";

/** Problems that are listed; the rest is counted. */
const MAX_LISTED = 20;

/** Gives what a schema refused, each problem on a line of its own that begins with its place: `\n  model.hidden_size: is missing`. */
export function problemsOf(error: z.ZodError): string {
  const listed = error.issues.slice(0, MAX_LISTED).map((issue) => {
    const place = issue.path.map(String).join(".");
    // what is wrong with a key is said by the key's own schema
    const said = issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
    const text = said.replace(/^Invalid input: /, "");
    return `\n  ${place === "" ? "" : `${place}: `}${text.endsWith(", received undefined") ? "is missing" : text}`;
  });
  const more = error.issues.length - listed.length;
  return `${listed.join("")}${more > 0 ? `\n  and ${more} more` : ""}`;
}
