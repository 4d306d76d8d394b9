import { createHash } from "node:crypto";

/** Returns the content security policy's source expression that allows exactly this inline text. */
export function cspHash(text: string): string {
  return `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
}

/** Formats a count, as `12,345`. */
export function countText(count: number): string {
  return count.toLocaleString("en-US");
}
