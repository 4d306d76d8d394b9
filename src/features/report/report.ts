import { messageOf } from "../../core/errors.js";
import { writeAtomic } from "../../core/files.js";
import { countText, cspHash, escapeHtml } from "../../core/html.js";
import type { RunDirectory } from "../../runs/run-directory.js";
import type { ReportOptions } from "../../watch/run-pages.js";
import { REPORT_SCRIPT } from "./client.js";
import { curves } from "./curves.js";
import { type ReportData, readReportData } from "./data.js";
import { evaluationSection } from "./evaluations.js";
import { rolloutSection } from "./rollouts.js";
import { REPORT_STYLE } from "./style.js";

/** Writes report.html of a run and returns its path. */
export async function writeReport(run: RunDirectory, options: ReportOptions = {}): Promise<string> {
  const data = await readReportData(run, options);
  await options.picture?.(data.rollouts.shown.flatMap(({ record }) => (record.fault === null ? [record] : [])));
  await writeAtomic(run.report, renderReport(data));
  return run.report;
}

/** The report of a run that has ended and is saved: what goes wrong here is worth a line, not a failure. */
export async function reportAtEnd(
  run: RunDirectory,
  note: (text: string) => void,
  options: ReportOptions = {},
): Promise<void> {
  try {
    await writeReport(run, options);
  } catch (error) {
    note(`report.html is not complete: ${messageOf(error)}; try refusion-train report ${run.dir}`);
  }
}

/**
 * The report as one HTML page that asks for nothing: style, script and pictures are in it, and its policy allows exactly
 * those. Every text is escaped (model output and page content are data).
 */
export function renderReport(data: ReportData): string {
  const policy = [
    "default-src 'none'",
    `style-src ${cspHash(REPORT_STYLE)}`,
    `script-src ${cspHash(REPORT_SCRIPT)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8">`,
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    `<meta name="viewport" content="width=device-width"><title>${escapeHtml(`${data.name}: refusion-train report`)}</title>`,
    `<style>${REPORT_STYLE}</style></head><body>`,
    header(data),
    data.problems.length === 0
      ? ""
      : `<section class="problems"><h2>Could not be read</h2>${list(data.problems)}</section>`,
    evaluationSection(data.evaluations),
    `<section><h2>Training</h2>${curves(data)}</section>`,
    rolloutSection(data),
    `<section><h2>Config and environment</h2><details><summary>config.yaml</summary><pre>${escapeHtml(data.config)}</pre></details>`,
    data.environment === null
      ? ""
      : `<details><summary>env.json</summary><pre>${escapeHtml(JSON.stringify(data.environment, undefined, 2))}</pre></details>`,
    `</section><script>${REPORT_SCRIPT}</script></body></html>\n`,
  ].join("\n");
}

function header({ name, environment, metrics }: ReportData): string {
  const last = metrics.at(-1);
  const faults = metrics.reduce((sum, m) => sum + m.faults, 0);
  const facts: string[] = [];
  if (environment !== null) {
    facts.push(environment.command);
    if (environment.provider !== undefined) facts.push(`on ${environment.provider}`);
  }
  facts.push(last === undefined ? "no steps yet" : `${countText(last.step)} ${last.step === 1 ? "step" : "steps"}`);
  if (last !== undefined) {
    const seconds = metrics.reduce((sum, m) => sum + m.time.total, 0);
    facts.push(`${(seconds / 60).toFixed(1)} min in steps`);
  }
  if (faults > 0) facts.push(`${faults} faulted episodes left out`);
  if (environment !== null)
    facts.push(...Object.entries(environment.seeds).map(([key, value]) => `seed ${key} ${value}`));
  return `<header><h1>${escapeHtml(name)}</h1><p>${facts.map(escapeHtml).join(" · ")}</p></header>`;
}

function list(items: readonly string[]): string {
  return `<ul>${items.map((item) => `<li>${escapeHtml(item)}</li>`).join("")}</ul>`;
}
