import { createHash } from "node:crypto";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Text for HTML, in element content and quoted attributes. Control and direction characters are shown as their code, so
 * that a model's output cannot reorder or hide text of the page.
 */
export function escapeHtml(value: unknown): string {
  return String(value)
    .replace(/[&<>"']/g, (c) => ENTITIES[c] as string)
    .replace(/[\p{Cc}\p{Cs}\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffe\uffff]/gu, (c) =>
      c === "\n" || c === "\t" ? c : `\\u${(c.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
    );
}

/** A source expression of a content security policy that allows exactly this inline text. */
export function cspHash(text: string): string {
  return `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
}

/** `12,345` */
export function countText(count: number): string {
  return count.toLocaleString("en-US");
}
