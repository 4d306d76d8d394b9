import { readFileSync, statSync } from "node:fs";
import { z } from "zod";
import { fail, messageOf, nearest } from "../../core/errors.js";
import { listed } from "../../core/problems.js";
import { SPLITS } from "../../env/environment.js";
import { acceptance } from "../../env/forms/contract.js";
import { normalizeLabel } from "../../env/forms/normalize.js";
import type { FieldValue, Task } from "../../env/site.js";

/** Largest size of a tasks file, in bytes: it limits the cost of a wrong path. */
const MAX_BYTES = 256 << 20;
const MAX_DEPTH = 20;
/** Most problems that are listed; the others are only counted. */
const MAX_LISTED = 20;

const FORMAT =
  "docs/sites.md describes the format: one JSON object a line, or an array; `refusion-train tasks --from FILE` makes it of other data";

const text = (limit: number): z.ZodString => z.string().min(1).max(limit);
const fieldValue = z.union([z.string().max(20_000), z.number(), z.boolean(), z.array(z.string().max(2000)).max(200)], {
  error: "expected text, a number, true or false, or a list of texts",
});

const rowKeys = z.strictObject({
  id: text(300),
  form: text(300),
  title: text(300).optional(),
  url: text(2000),
  instruction: text(20_000).optional(),
  fields: z
    .record(z.string().trim().min(1).max(500), fieldValue)
    .refine((fields) => Object.keys(fields).length > 0, "is empty: there is nothing to fill in")
    .optional(),
  split: z.preprocess((name) => (name === "validation" ? "val" : name), z.enum(SPLITS)),
  ...acceptance,
  keys: z.record(z.string().trim().min(1).max(500), text(500)).optional(),
  document: text(200_000).optional(),
});

/** One line of a tasks file; docs/sites.md describes it. Without `fields` only the site's verdict is learned from. */
const row = rowKeys.superRefine(({ fields, split, document }, context) => {
  if (fields !== undefined) return;
  const needed = split === "train" ? { document } : { fields };
  for (const [key, value] of Object.entries(needed))
    if (value === undefined) context.addIssue({ code: "custom", path: [key], message: "is missing" });
});

/**
 * Reads a tasks file: JSON Lines with one task in each line, or one array of tasks; blank lines are skipped.
 * @param baseUrl the site's origin, which absolute urls must have.
 * @throws UserError with every problem of the file, each with its place.
 */
export function readTasks(file: string, baseUrl: string): Task[] {
  if (/\.[ct]sv$/i.test(file))
    fail(`The tasks file ${file} is a table: it does not name each task's form and split.`, {
      hint: `refusion-train tasks --from ${file} --url ${baseUrl}/PAGE makes tasks of it`,
    });
  const source = readSource(file);
  const problems: string[] = [];
  const places = new Map<string, string>();
  const tasks: Task[] = [];
  const { rows, faults } = rowsOf(source);
  problems.push(...faults);
  for (const { place, content } of rows) {
    const report = (problem: string): void => void problems.push(`${place}: ${problem}`);
    const parsed = parseLine(content);
    if (Array.isArray(parsed)) {
      parsed.forEach(report);
      continue;
    }
    const first = places.get(parsed.id);
    if (first === undefined) places.set(parsed.id, place);
    else report(`id: ${show(parsed.id)} is also the id of ${first}`);
    const path = pathOn(parsed.url, baseUrl);
    if (path === undefined)
      report(`url: expected a path from the root, as /form, or an address on ${baseUrl}; got ${show(parsed.url)}`);
    else tasks.push(taskOf(parsed, path));
  }
  const count = problems.length === 1 ? "a problem" : `${problems.length} problems`;
  if (problems.length > 0) fail(`${file} has ${count}:${listed(problems, MAX_LISTED)}`, { hint: FORMAT });
  if (tasks.length === 0) fail(`${file} holds no tasks.`, { hint: FORMAT });
  return tasks;
}

function taskOf(parsed: z.output<typeof row>, path: string): Task {
  const title = parsed.title ?? parsed.form;
  return {
    id: parsed.id,
    form: parsed.form,
    formTitle: title,
    url: path,
    instruction: parsed.instruction ?? `Go to ${path}, fill in the form "${title}" and submit it.`,
    fields: (parsed.fields ?? {}) as Record<string, FieldValue>,
    ...(parsed.document === undefined ? {} : { document: parsed.document }),
    ...(parsed.success === undefined ? {} : { success: parsed.success }),
    ...(parsed.refusal === undefined ? {} : { refusal: parsed.refusal }),
    ...(parsed.refused === undefined ? {} : { refused: parsed.refused }),
    ...(parsed.keys === undefined ? {} : { keys: parsed.keys }),
    split: parsed.split,
    tier: "full",
  };
}

/** Reads a file of data as text. @throws UserError where it is none. */
export function readSource(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) fail(`The file ${file} does not exist.`, { hint: FORMAT });
  if (!stat.isFile()) fail(`${file} is not a file.`, { hint: FORMAT });
  if (stat.size > MAX_BYTES)
    fail(`The file ${file} has ${stat.size} bytes; at most ${MAX_BYTES} are read.`, {
      hint: "a run needs a sample of such a file",
    });
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    fail(`The file ${file} cannot be read as UTF-8: ${messageOf(error)}`, { hint: FORMAT, cause: error });
  }
}

/** A task or record of a file: its line, or its number in an array, and its JSON. */
export interface Row {
  readonly place: string;
  readonly content: string;
}

/**
 * Parts JSON into records: the lines of JSON Lines, the elements of an array, or one object over several lines. What is
 * not JSON comes back line by line. `faults`: what JSON would change or lose where it is not read by lines.
 */
export function rowsOf(source: string): { readonly rows: readonly Row[]; readonly faults: readonly string[] } {
  const lines = source.split(/\r\n|\n/).map((content, i) => ({ place: `line ${i + 1}`, content }));
  const rows = lines.filter(({ content }) => content.trim() !== "");
  if (!/^\s*\[/.test(source) && isObject(rows[0]?.content ?? "{}")) return { rows, faults: [] };
  let whole: unknown;
  try {
    whole = JSON.parse(source);
  } catch {
    return { rows, faults: [] };
  }
  const faults = lines.flatMap(({ place, content }) => changedNumbers(content).map((text) => `${place}: ${text}`));
  faults.push(...(repeatedKeys(source) ?? []).map((text) => `the array: ${text}`));
  const elements = [whole].flat();
  return { rows: elements.map((row, i) => ({ place: `record ${i + 1}`, content: JSON.stringify(row) })), faults };
}

function isObject(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

/** Parses one line. @returns its problems if it is no task. */
function parseLine(content: string): z.output<typeof row> | string[] {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (error) {
    return [`not JSON: ${messageOf(error)}`];
  }
  const changed = changedNumbers(content);
  if (changed.length > 0) return changed;
  const repeated = repeatedKeys(content);
  if (repeated === undefined) return ["holds lists or objects inside each other that no task has"];
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return [`expected an object, got ${show(value)}`];
  const { data, error } = row.safeParse(value);
  const problems = [
    ...labelProblems(value),
    ...repeated,
    ...(error?.issues ?? []).flatMap((i) => problemsOf(i, value)),
  ];
  return data === undefined || problems.length > 0 ? problems : data;
}

/** Words a schema's problem with a line. */
function problemsOf(issue: z.core.$ZodIssue, line: object): string[] {
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => {
      const close = nearest(key, Object.keys(rowKeys.shape));
      return `${show(key)}: unknown key${close === undefined ? "" : `; did you mean ${close}?`}`;
    });
  const key = issue.path.join(".");
  const given = issue.path.reduce<unknown>((inner, part) => (inner as Record<PropertyKey, unknown>)?.[part], line);
  return [given === undefined ? `${key} is missing` : `${key}: ${issue.message}; got ${show(given)}`];
}

/**
 * Finds labels that would get lost silently: an object keeps one value for a label, and none for `__proto__`. Keys for
 * labels that are no fields would never be used.
 */
function labelProblems({ fields, keys }: { readonly fields?: unknown; readonly keys?: unknown }): string[] {
  const namesIn = (record: unknown): string[] =>
    typeof record !== "object" || record === null || Array.isArray(record)
      ? []
      : Object.keys(record).map((key) => key.trim());
  const labels = namesIn(fields);
  const seen = new Map<string, string>();
  const lost = labels.flatMap((label) => {
    const plain = normalizeLabel(label);
    if (label === "__proto__" || (plain === "" && label !== ""))
      return [`fields.${label}: no control can have this label`];
    const same = seen.get(plain);
    seen.set(plain, label);
    return same === undefined ? [] : [`fields: ${show(label)} and ${show(same)} are one label (docs/sites.md)`];
  });
  // without fields, the schema says what is wrong
  const unknown = labels.length === 0 ? [] : namesIn(keys).filter((key) => !labels.includes(key));
  return [
    ...lost,
    ...unknown.map((key) => {
      const close = nearest(key, labels);
      return `keys: ${show(key)} is no label of fields${close === undefined ? "" : `; did you mean ${show(close)}?`}`;
    }),
  ];
}

/** Finds numbers that JSON would give back in other digits: a form is filled in and judged by what was written. */
function changedNumbers(line: string): string[] {
  return [...line.matchAll(/"(?:[^"\\]|\\.)*"|(-?\d[\d.eE+-]*)/g)].flatMap(([, number]) =>
    number === undefined || String(Number(number)) === number
      ? []
      : [`${number} would be read as ${Number(number)}: quote it, as "${number}"`],
  );
}

/**
 * Finds keys that occur twice in one object of a JSON line: JSON.parse silently keeps only the last value. Undefined if
 * the brackets are nested deeper than in any task.
 */
function repeatedKeys(line: string): string[] | undefined {
  const open: (Set<string> | undefined)[] = [];
  const repeated = new Set<string>();
  for (const [token, colon] of line.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g)) {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(undefined);
    else if (token === "}" || token === "]") open.pop();
    else if (colon !== undefined) {
      const key = JSON.parse(token.slice(0, token.length - colon.length)) as string;
      const keys = open.at(-1);
      if (keys?.has(key) === true) repeated.add(key);
      keys?.add(key);
    }
    if (open.length > MAX_DEPTH) return undefined;
  }
  return [...repeated].map((key) => `${show(key)} is there twice, with one value lost`);
}

/** Returns a task's path on its site with query and fragment; undefined if it leads to another site. */
function pathOn(url: string, baseUrl: string): string | undefined {
  if (!URL.canParse(url, baseUrl) || (!url.startsWith("/") && !URL.canParse(url))) return undefined;
  const { origin, pathname, search, hash } = new URL(url, baseUrl);
  return origin === baseUrl ? pathname + search + hash : undefined;
}

function show(value: unknown): string {
  const shown = JSON.stringify(value) ?? String(value);
  return shown.length > 80 ? `${shown.slice(0, 77)}...` : shown;
}
