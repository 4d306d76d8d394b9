import Papa from "papaparse";
import { fail, messageOf } from "../../core/errors.js";
import { listed } from "../../core/problems.js";
import { readSource, rowsOf } from "../own-site/tasks-file.js";

/** A record of a table: its cells by column. Cells of CSV are texts as they are written there. */
export interface Record {
  /** Line of a JSON file, or number of a table's row, from 1. */
  readonly place: string;
  readonly cells: Readonly<{ [column: string]: unknown }>;
}

/**
 * Reads a table: CSV with a line of names (its delimiter is found), JSON Lines, an array of objects, or an object with
 * one such array, as databases export them. @throws UserError with the place of what is broken.
 */
export function readRecords(file: string): Record[] {
  const source = readSource(file);
  const records = /^\s*[[{]/.test(source) ? ofJson(source, file) : ofCsv(source, file);
  if (records.length === 0) fail(`${file} holds no records.`);
  return records;
}

function ofCsv(source: string, file: string): Record[] {
  const { data, errors, meta } = Papa.parse<{ [column: string]: string }>(source, {
    header: true,
    skipEmptyLines: "greedy",
    transformHeader: (name) => name.trim(),
  });
  const problems = errors
    .filter(({ code }) => code !== "UndetectableDelimiter")
    .map(({ message, row, type }) => `row ${(row ?? 0) + Number(type !== "Quotes")}: ${message}`);
  // of two columns with one name, the parser renames the second
  for (const name of Object.keys(meta.renamedHeaders ?? {}))
    problems.push(`two columns are named ${meta.renamedHeaders?.[name]}`);
  if (problems.length > 0)
    fail(`${file} is not read as CSV:${listed(problems)}`, { hint: "its first line has the names of its columns" });
  return data.map((cells, i) => ({ place: `row ${i + 1}`, cells }));
}

function ofJson(source: string, file: string): Record[] {
  const { rows, faults } = rowsOf(source);
  const problems = [...faults];
  const read = rows.map(({ place, content }) => {
    try {
      return { place, cells: JSON.parse(content) as unknown };
    } catch (error) {
      problems.push(`${place}: not JSON: ${messageOf(error)}`);
      return { place, cells: {} };
    }
  });
  const isRecord = (cells: unknown): boolean => typeof cells === "object" && cells !== null && !Array.isArray(cells);
  // one object with one list, as {"claims": [...]}
  const lists =
    read.length === 1 ? Object.values(read[0]?.cells ?? {}).filter((list) => [list].flat().every(isRecord)) : [];
  const inner = lists.length === 1 && Array.isArray(lists[0]) ? lists[0] : undefined;
  const records = inner?.map((cells: unknown, i) => ({ place: `record ${i + 1}`, cells })) ?? read;
  for (const { place, cells } of records) if (!isRecord(cells)) problems.push(`${place}: expected names and values`);
  if (problems.length > 0) fail(`${file} is not read as JSON:${listed(problems)}`);
  return records as Record[];
}
