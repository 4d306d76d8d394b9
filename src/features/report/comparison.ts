import { existsSync } from "node:fs";
import { basename, dirname, relative, resolve } from "node:path";
import { html } from "hono/html";
import { writeAtomic } from "../../core/files.js";
import type { RunDirectory } from "../../runs/run-directory.js";
import { comparedCurves } from "./curves.js";
import { readCourse } from "./data.js";
import { changeCells } from "./evaluations.js";
import type { Html } from "./html.js";
import { page } from "./report.js";
import { table } from "./rollouts.js";

/** A run of a report of several. */
export interface ComparedRun {
  readonly label: string;
  /** Runs of one group have one colour, as the seeds of a setting; by default each run is one. */
  readonly group?: string;
  readonly run: RunDirectory;
}

/** The settings of a sweep: the answer in words, a table with its head first, and what limits its intervals. */
interface Settings {
  readonly answer: string;
  readonly lines: readonly (readonly string[])[];
  readonly limits: readonly string[];
}

function settingsSection({ answer, lines: [head = [], ...rows], limits }: Settings): Html {
  const title = "Settings";
  return html`<section><h2>${title}</h2>${answer.split("\n").map((text) => html`<p class="outcome">${text}</p>`)}
<div class="wide" tabindex="0" role="region" aria-label="${title}">${table({ title: "Means over seeds", head, rows: rows.map((row) => row.map((text) => ({ text }))) })}</div>
<p class="dim">95 % intervals over seeds, crossed with forms. ${limits.join(" ")}</p></section>`;
}

/**
 * Writes the report of several runs: the settings that they are of, their rewards before and after, and their curves.
 * @returns its path.
 */
export async function writeComparison(
  runs: readonly ComparedRun[],
  path: string,
  settings?: Settings,
): Promise<string> {
  const groups = [...new Set(runs.map(({ group, label }) => group ?? label))];
  const problems: string[] = [];
  const read = runs.map(({ label, group, run }) => ({
    ...{ label, run, colour: groups.indexOf(group ?? label) },
    ...readCourse(run, 0, (text) => void problems.push(`${label}: ${text}`)),
  }));
  const [first] = read;
  const rows = [...new Set(read.flatMap(({ evaluations }) => evaluations.map(({ split }) => split)))].flatMap(
    (split) => {
      const of = ({ evaluations }: (typeof read)[number]) => evaluations.find((one) => one.split === split);
      const baseline = (first && of(first)?.after) ?? null;
      return read.flatMap((one) => {
        const found = of(one);
        const link = existsSync(one.run.report)
          ? html`<a href="${encodeURI(relative(dirname(path), one.run.report))}">${one.label}</a>`
          : one.label;
        return found === undefined
          ? []
          : html`<tr><td class="num">${split}</td><th scope="row">${link}</th>${changeCells(found, one === first ? null : baseline)}</tr>`;
      });
    },
  );
  const head = ["split", "run", "before", "after", "after - before", "against the first run"];
  const body = html`<header><h1>${runs.length} runs</h1></header>
${settings !== undefined && settingsSection(settings)}
${problems.length > 0 && html`<section class="problems"><h2>Could not be read</h2><ul>${problems.map((item) => html`<li>${item}</li>`)}</ul></section>`}
${
  rows.length > 0 &&
  html`<section><h2>${settings === undefined ? "Reward" : "Reward of each run"}</h2><p class="dim">Means with 95 % bootstrap intervals over tasks; differences are paired by task.</p>
<div class="wide" tabindex="0" role="region" aria-label="Reward"><table><thead><tr>${head.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div></section>`
}
<section><h2>Training</h2>${comparedCurves(read)}</section>`;
  await writeAtomic(path, page(`${runs.length} runs`, body));
  return path;
}

/** Names runs by their folders, by the whole paths where two have one name. */
export function labelsOf(dirs: readonly string[]): string[] {
  const names = dirs.map((dir) => basename(resolve(dir)));
  return new Set(names).size === names.length ? names : [...dirs];
}
