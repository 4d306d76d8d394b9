import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { foundPath } from "../../config/config.js";
import { fail, misuse, nearest } from "../../core/errors.js";
import { packageRoot, readJson } from "../../core/files.js";
import { checked } from "../../core/problems.js";
import type { Interval } from "../../core/statistics.js";
import { compareEvaluations, type Evaluation, evaluationSchema, formatTable } from "../../runs/evaluation.js";

const figureSchema = z.strictObject({
  split: z.string(),
  /** `reward`, `success_rate` or a measure of the environment. */
  of: z.string(),
  /** True: the difference after - before of a training run, paired by task. */
  gain: z.boolean().default(false),
  mean: z.number(),
  low: z.number(),
  high: z.number(),
});
const rowSchema = z.strictObject({
  id: z.string(),
  /**
   * Command lines, run in an empty folder; the last one gives the figures. `node configs/verdict/claim.mjs FOLDER PORT
   * &` serves a site of the package until the last one has ended; it prints a line once it answers.
   */
  commands: z.array(z.string().regex(/^refusion-(train|eval) |^node configs\/[\w/-]+\.mjs .* &$/)).min(1),
  /** Minutes on two idle cores. */
  minutes: z.number(),
  figures: z.array(figureSchema).min(1),
});
const tableSchema = z.looseObject({
  title: z.string(),
  reproduce: z.strictObject({ cpu: z.string(), rows: z.array(rowSchema) }).optional(),
});

/** A row of docs/data that can be measured again, with the processor that made its printed figures. */
export type Row = z.output<typeof rowSchema> & { readonly title: string; readonly cpu: string };
type Figure = z.output<typeof figureSchema>;

/** Lists the rows of docs/data that have commands. */
export function rowsOfData(folder = join(packageRoot(), "docs", "data")): Row[] {
  return readdirSync(folder)
    .sort()
    .flatMap((file) => {
      const path = join(folder, file);
      const { title, reproduce } = checked(tableSchema, readJson(path), `${path} is no table`);
      return (reproduce?.rows ?? []).map((row) => ({ ...row, title, cpu: reproduce?.cpu ?? "" }));
    });
}

/** Tells whether the models that a row's commands name are here: the package has some, a clone all. */
export const hasModels = ({ commands }: Row): boolean =>
  commands.every((line) => [...line.matchAll(/ model=(\S+)/g)].every(([, model = ""]) => foundPath(model)));

/** Finds a row. @throws UserError (exit 2) where there is none. */
export function rowNamed(rows: readonly Row[], id: string): Row {
  const row = rows.find((one) => one.id === id);
  if (row !== undefined) return row;
  const near = nearest(
    id,
    rows.map((one) => one.id),
  );
  misuse(`There is no row ${id}.`, { hint: near === undefined ? "refusion-train reproduce" : `did you mean ${near}?` });
}

/** A printed figure and the one that was measured here. */
export interface Outcome extends Figure {
  readonly here: Interval;
  /** True if the mean that was measured here lies in the printed interval. */
  readonly inside: boolean;
}

/** Runs a row's commands in an empty folder, and compares the figures. @throws UserError where a command fails. */
export async function reproduce({ commands, figures }: Row): Promise<Outcome[]> {
  const folder = mkdtempSync(join(tmpdir(), "reproduce-"));
  const served: ChildProcess[] = [];
  try {
    let out = "";
    for (const line of commands)
      if (line.endsWith(" &")) served.push(await serve(line, folder));
      else out = run(line, folder, line === commands.at(-1));
    return figures.map((figure) => compared(figure, readResult(out)));
  } finally {
    for (const site of served) site.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts a site of the package. @throws UserError where it ends before it answers. */
async function serve(line: string, cwd: string): Promise<ChildProcess> {
  const [, script = "", ...words] = line.replace(/ &$/, "").split(" ");
  const site = spawn(process.execPath, [join(packageRoot(), script), ...words], {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(site, "exit").then(() => fail(`${line} ended early.`, { hint: "is its port in use?" }));
  await Promise.race([once(site.stdout, "data"), ended]);
  ended.catch(() => undefined);
  return site;
}

function run(line: string, cwd: string, isLast: boolean): string {
  const [program = "", ...words] = line.split(" ");
  const script = fileURLToPath(new URL(`../../cli/${program.slice("refusion-".length)}.js`, import.meta.url));
  const { status, stdout } = spawnSync(process.execPath, [script, ...words, ...(isLast ? ["--quiet", "--json"] : [])], {
    cwd,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0)
    fail(`${line} ended with exit code ${status}.`, { hint: "correct what the error above names, and run it again" });
  return stdout;
}

const resultSchema = z.union([
  z.array(evaluationSchema).transform((after) => ({ before: [] as Evaluation[], after })),
  z.looseObject({ before: z.array(evaluationSchema), after: z.array(evaluationSchema) }),
]);

/** Reads what a training run or an evaluation prints. */
const readResult = (text: string): { readonly before: readonly Evaluation[]; readonly after: readonly Evaluation[] } =>
  checked(resultSchema, JSON.parse(text), "the command's result");

/** Compares a printed figure with a result. @throws UserError where the result does not have it. */
export function compared(figure: Figure, result: ReturnType<typeof readResult>): Outcome {
  const { split, of, gain, low, high } = figure;
  const [before, after] = [result.before, result.after].map((all) => all.find((one) => one.split === split));
  const scores = gain ? before && after && compareEvaluations(before, after) : after;
  const here = of === "reward" ? scores?.reward : of === "success_rate" ? scores?.success_rate : scores?.metrics[of];
  if (here === undefined) fail(`The result has no ${of} on ${split}.`, { hint: "correct the row in docs/data" });
  // printed figures are rounded
  const mean = Number(here.mean.toFixed(3));
  return { ...figure, here, inside: low <= mean && mean <= high };
}

/** Formats the outcome; signs stand before differences. */
export function formatOutcomes(outcomes: readonly Outcome[]): string {
  return formatTable([
    ["figure", "printed", "here", ""],
    ...outcomes.map(({ split, of, gain, here, inside, ...printed }) => {
      const text = ({ mean, low, high }: Interval): string =>
        [mean, low, high]
          .map((value) => `${gain && value > 0 ? "+" : ""}${value.toFixed(3)}`)
          .join(" [")
          .replace(/ \[(\S+)$/, ", $1]");
      return [`${split} ${of}${gain ? " gained" : ""}`, text(printed), text(here), inside ? "inside" : "OUTSIDE"];
    }),
  ]);
}
