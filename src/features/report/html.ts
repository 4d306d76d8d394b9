import { createHash } from "node:crypto";
import { type html, raw } from "hono/html";
import { visible } from "../../core/shown.js";

/** A part of a page with escaped texts. */
export type Html = ReturnType<typeof html>;

/** Replaces control and direction characters by codes, so that a model's output cannot reorder or hide text. */
export const plain = (piece: Html): Html => raw(visible(String(piece), "\n\t"));

/** Returns the content security policy's source expression that allows exactly this inline text. */
export function cspHash(text: string): string {
  return `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
}

/** Formats a count, as `12,345`. */
export function countText(count: number): string {
  return count.toLocaleString("en-US");
}
