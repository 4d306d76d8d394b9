import { visible } from "../core/shown.js";
import type { DetailTable } from "../env/environment.js";

const WIDEST = 40;

/** Formats an episode's detail tables as plain text; `!` marks wrong cells. Control characters show as codes. */
export const formatTables = (tables: readonly DetailTable[]): string => tables.map(formatTable).join("\n");

function formatTable({ title, head, rows }: DetailTable): string {
  if (rows.length === 0) return `  ${title}: nothing`;
  const lines = [...(head === undefined ? [] : [head]), ...rows.map((row) => row.map(({ text }) => visible(text)))];
  const widths = (lines[0] ?? []).map((_, i) =>
    Math.min(WIDEST, Math.max(...lines.map((line) => (line[i] ?? "").length))),
  );
  const text = (line: readonly string[]): string =>
    line
      .map((word, i) => (i === line.length - 1 ? word : word.padEnd(widths[i] ?? 0)))
      .join("  ")
      .trimEnd();
  return [
    `  ${title}`,
    ...(head === undefined ? [] : [`      ${text(head)}`]),
    ...rows.map(
      (row) =>
        `    ${row.some(({ tone }) => tone === "bad") ? "!" : " "} ${text(row.map((cell) => visible(cell.text)))}`,
    ),
  ].join("\n");
}
