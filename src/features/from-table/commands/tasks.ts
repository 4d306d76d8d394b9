import { existsSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { InvalidArgumentError } from "commander";
import { type CliCommand, type CliContext, shellWord } from "../../../cli/shared.js";
import { formatTables } from "../../../cli/tables.js";
import { closing } from "../../../core/closing.js";
import { fail, messageOf, misuse } from "../../../core/errors.js";
import { writeDirectory } from "../../../core/files.js";
import { listed } from "../../../core/problems.js";
import { Rng } from "../../../core/rng.js";
import type { Control } from "../../../env/browser/controls.js";
import type { Split } from "../../../env/environment.js";
import { labelList, meantBy } from "../../../env/forms/absent-label.js";

interface Flags {
  readonly from: string;
  readonly url: string;
  readonly textColumn?: string;
  readonly map: ReadonlyMap<string, string>;
  readonly success?: string;
  readonly split: readonly [number, number, number];
  readonly seed: number;
  readonly out?: string;
}

/** Time limit for opening the page, in milliseconds. */
const OPEN_MS = 30_000;
const SPLITS = ["train", "val", "test"] as const;

/** `refusion-train tasks`: makes tasks and a config of a table, for a page. */
export const command: CliCommand = {
  register(command, context) {
    command
      .description("make tasks and a config of a table of yours (CSV, or JSON as databases export it), for a page")
      .requiredOption("--from <file>", "the table: a record of past values in each row")
      .requiredOption("-u, --url <address>", "the page with the form; nothing is sent")
      .option("--text-column <name>", "the column with what somebody wrote, as a mail")
      .option(
        "--map <column=label>",
        "the field of a column; without a label it is left out (repeatable)",
        mapped,
        new Map(),
      )
      .option("--success <text>", "what the site shows only where it accepted a form")
      .option("--split <train/val/test>", "shares of the records in percent", shares, [70, 15, 15])
      .option("--seed <number>", "draws the records of each split", Number, 1)
      .option("-o, --out <dir>", "the folder that is written; by default the table's name")
      .addHelpText(
        "after",
        "\nExample:\n  refusion-train tasks --from claims.csv --url http://127.0.0.1:8080/claim --text-column mail --success 'Your claim is filed'",
      )
      .action((flags: Flags) => tasksFrom(flags, context));
  },
};

function mapped(text: string, known: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("write it as column=Label of the page");
  return new Map([...known, [text.slice(0, at).trim(), text.slice(at + 1).trim()]]);
}

function shares(text: string): number[] {
  const parts = text.split("/").map(Number);
  if (parts.length !== 3 || !parts.every((part) => part >= 0) || parts.reduce((a, b) => a + b) !== 100)
    throw new InvalidArgumentError("write three shares that make 100, as 70/15/15");
  return parts;
}

async function tasksFrom(flags: Flags, context: CliContext): Promise<void> {
  const { from, url, textColumn, success, out = basename(from, extname(from)) } = flags;
  if (!URL.canParse(url) || !/^https?:/.test(url))
    misuse(`--url: ${url} is no address of a site.`, { hint: "as http://127.0.0.1:8080/claim" });
  if (existsSync(out)) fail(`${out} exists already, and is not overwritten.`, { hint: "give another --out" });
  // loaded on use: help must not wait for them
  const { readRecords } = await import("../records.js");
  const { matchColumns, meaning, valuesOf } = await import("../columns.js");
  const { writeTasks } = await import("../write.js");
  const records = readRecords(from);
  const columns = [...new Set(records.flatMap(({ cells }) => Object.keys(cells)))];
  if (textColumn !== undefined && !columns.includes(textColumn))
    misuse(`--text-column: there is no column ${textColumn}.`, { hint: meaning(textColumn, columns) });
  const { title, controls } = await formAt(url);
  const others = columns.filter((column) => column !== textColumn);
  const matched = matchColumns(others, controls, flags.map);
  const fieldOf = (column: string): string =>
    column === textColumn ? "(the text)" : (matched.get(column)?.label ?? "(left out)");
  const rows = columns.map((column) => [{ text: column }, { text: fieldOf(column) }]);
  context.print(formatTables([{ title: "Columns", head: ["column", "field"], rows }]));
  const empty = controls.filter((control) => ![...matched.values()].includes(control));
  sayLeftOut(
    empty,
    empty.length === 0 ? [] : others.filter((one) => !matched.has(one) && !flags.map.has(one)),
    context,
  );
  const { pathname, search, origin } = new URL(url);
  const form = pathname.split("/").filter(Boolean).at(-1) ?? "form";
  const problems: string[] = [];
  const read = records.flatMap((record) => {
    const { fields, problems: why } = valuesOf(record, matched);
    const document = textColumn === undefined ? undefined : String(record.cells[textColumn] ?? "").trim();
    if (Object.keys(fields).length === 0) why.push("no field has a value");
    if (document === "") why.push("no text");
    if (why.length > 0) problems.push(`${record.place}: ${why.join("; ")}`);
    const task = { form, title: title || form, url: pathname + search, fields };
    return why.length > 0 ? [] : [{ ...task, ...(document && { document }) }];
  });
  if (problems.length > 0)
    context.log(`${problems.length} of ${records.length} records are left out:${listed(problems, 20)}`);
  if (read.length === 0) fail("No record makes a task.", { hint: "correct the columns: --map column=LABEL" });
  const splits = drawn(read.length, flags);
  const options = [...matched.values()].flatMap((control) => control.options.map(({ text }) => text)).join("; ").length;
  const tasks = read.map((task, i) => ({ id: `${form}/${i}`, ...task, split: splits[i] as Split }));
  await writeDirectory(out, async (folder) => writeTasks(folder, tasks, { out, baseUrl: origin, success, options }));
  const counts = SPLITS.map((split) => `${splits.filter((one) => one === split).length} ${split}`);
  context.print(`${out}: ${tasks.length} tasks, ${counts.join(", ")} (--seed ${flags.seed})`);
  if (success === undefined)
    context.log("No --success: evaluation measures fields alone, and reinforcement needs site.success in the config.");
  const config = shellWord(join(out, "config.yaml"));
  context.log(`next: refusion-eval --config ${config} --policy oracle --split all --episodes all
  or: refusion-train sft --config ${config}`);
  if (textColumn !== undefined)
    context.log(`  or: refusion-train try --url ${shellWord(url)} --text ${shellWord(join(out, "letter.txt"))}`);
}

/**
 * Names the columns that no field has. @param empty fields that no column has.
 * @throws UserError where one of them is required: the oracle could not send the form.
 */
function sayLeftOut(empty: readonly Control[], columns: readonly string[], context: CliContext): void {
  const bare = (label: string): string => label.replace(/[\s*:]+$/, "");
  const labels = empty.map(({ label }) => label);
  for (const column of columns) {
    const label = bare(meantBy(column, labels) ?? (labels.length === 1 ? (labels[0] as string) : "LABEL"));
    context.log(
      `${column} is left out; to fill it: --map ${shellWord(`${column}=${label}`)}. There is ${labelList(labels)}`,
    );
  }
  const required = empty.filter((control) => control.required).map(({ label }) => bare(label));
  if (required.length === 0) return;
  const problem = `No column is matched to ${required.join(", ")}, which the page requires: the true values could not be sent.`;
  if (columns.length > 0) {
    const column = columns.length === 1 ? columns[0] : "COLUMN";
    const without = columns.map((one) => `--map ${shellWord(`${one}=`)}`).join(" ");
    misuse(`${problem} Nothing was written.`, {
      hint: `${required.map((label) => `--map ${shellWord(`${column}=${label}`)}`).join(" ")}; to go on without: ${without}`,
    });
  }
  context.log(`warning: ${problem}`);
}

/** Draws the split of each record. */
function drawn(count: number, { split: [train, val], seed }: Flags): Split[] {
  const order = Rng.named(seed, "tasks").shuffle(Array.from({ length: count }, (_, i) => i));
  const ends = [Math.round((count * train) / 100), Math.round((count * (train + val)) / 100)];
  const splits: Split[] = [];
  order.forEach((record, place) => {
    splits[record] = SPLITS[ends.filter((end) => place >= end).length] as Split;
  });
  return splits;
}

/** Reads a page's form. @throws UserError where it does not open, or shows no form. */
async function formAt(address: string): Promise<{ title: string; controls: Control[] }> {
  const { BrowserHost } = await import("../../../env/browser/browser.js");
  const { fieldsOf, withForm } = await import("../../agent/filling.js");
  await using host = closing(new BrowserHost({ headless: true }));
  const page = await (await host.browser()).newPage();
  await page
    .goto(address, { timeout: OPEN_MS })
    .catch((error: unknown) =>
      fail(`${address} does not open: ${messageOf(error).split("\n")[0]}`, { hint: "start the site first" }),
    );
  const controls = (await withForm(page, [], (open) => fieldsOf(open, {}, true))).filter(
    ({ present, kind }) => present && kind !== "password" && kind !== "file",
  );
  if (controls.length === 0) fail(`${address} shows no form.`, { hint: "give the address of the page that has it" });
  return { title: await page.title(), controls };
}
