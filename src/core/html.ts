import { createHash } from "node:crypto";
import { visible } from "./shown.js";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Escapes text for HTML, in element content and quoted attributes. Control and direction characters show as their
 * codes, so that a model's output cannot reorder or hide text of the page.
 */
export function escapeHtml(value: unknown): string {
  return visible(String(value), "\n\t").replace(/[&<>"']/g, (c) => ENTITIES[c] as string);
}

/** Returns the content security policy's source expression that allows exactly this inline text. */
export function cspHash(text: string): string {
  return `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
}

/** Formats a count, as `12,345`. */
export function countText(count: number): string {
  return count.toLocaleString("en-US");
}
