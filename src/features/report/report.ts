import { html, raw } from "hono/html";
import { messageOf } from "../../core/errors.js";
import { writeAtomic } from "../../core/files.js";
import type { RolloutRecord } from "../../runs/rollout-record.js";
import type { RunDirectory } from "../../runs/run-directory.js";
import type { Speller } from "../../text/token-text.js";
import type { ReportAtEnd } from "../../watch/run-pages.js";
import { REPORT_SCRIPT } from "./client.js";
import { curves } from "./curves.js";
import { type ReportData, readReportData } from "./data.js";
import { evaluationSection, outcomeOf } from "./evaluations.js";
import { countText, cspHash, type Html, plain } from "./html.js";
import { rolloutSection } from "./rollouts.js";
import { takeScreenshots } from "./screenshots.js";
import { REPORT_STYLE } from "./style.js";

/**
 * Writes report.html of a run and returns its path.
 * @param options.rollouts number of rollouts that it shows.
 * @param options.tokenizer spells the tokens; default: the one of the model's directory.
 * @param options.picture called with the shown rollouts, worst first, before the page is made, to take their pictures.
 */
export async function writeReport(
  run: RunDirectory,
  options: {
    readonly rollouts?: number;
    readonly tokenizer?: Speller | undefined;
    readonly picture?: (records: readonly RolloutRecord[]) => Promise<unknown>;
  } = {},
): Promise<string> {
  const data = await readReportData(run, options);
  await options.picture?.(data.rollouts.shown.flatMap(({ record }) => (record.fault === null ? [record] : [])));
  await writeAtomic(run.report, renderReport(data));
  return run.report;
}

/** Writes the report of a run that has ended; an error is only noted. */
export const reportAtEnd: ReportAtEnd = async (run, watch, { screenshots, environment, ...options }) => {
  const picture = async (records: readonly RolloutRecord[]): Promise<void> => {
    if (screenshots === 0 || records.length === 0) return;
    watch.phase({ doing: "taking screenshots" });
    await takeScreenshots(run, environment, records.slice(0, screenshots));
  };
  try {
    await writeReport(run, { ...options, picture });
  } catch (error) {
    watch.note(`report.html is not complete: ${messageOf(error)}; try refusion-train report ${run.dir}`);
  }
};

/**
 * Renders the report as one self-contained HTML page: its content security policy allows only its own style, script and
 * pictures. Every text is escaped, because model output and page content are untrusted.
 */
export function renderReport(data: ReportData): string {
  const { problems, environment } = data;
  return page(
    data.name,
    html`${header(data)}
${problems.length > 0 && html`<section class="problems"><h2>Could not be read</h2><ul>${problems.map((item) => html`<li>${item}</li>`)}</ul></section>`}
${evaluationSection(data.evaluations)}
<section><h2>Training</h2>${curves(data)}</section>
${rolloutSection(data)}
<section><h2>Config and environment</h2><details><summary>config.yaml</summary><pre>${data.config}</pre></details>
${environment && html`<details><summary>env.json</summary><pre>${JSON.stringify(environment, undefined, 2)}</pre></details>`}</section>`,
  );
}

/** Makes a page of a report. @param body its content. */
export function page(name: string, body: Html): string {
  const policy = [
    "default-src 'none'",
    `style-src ${cspHash(REPORT_STYLE)}`,
    `script-src ${cspHash(REPORT_SCRIPT)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return String(html`<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width">${plain(html`<title>${name}: refusion-train report</title>`)}
<style>${raw(REPORT_STYLE)}</style></head><body>
${plain(body)}
<script>${raw(REPORT_SCRIPT)}</script></body></html>\n`);
}

function header({ name, environment, metrics, evaluations }: ReportData): Html {
  const last = metrics.at(-1);
  const seconds = metrics.reduce((sum, m) => sum + m.time.total, 0);
  const faults = metrics.reduce((sum, m) => sum + m.faults, 0);
  const facts = [
    environment?.command,
    environment?.provider && `on ${environment.provider}`,
    last === undefined ? "no steps yet" : `${countText(last.step)} ${last.step === 1 ? "step" : "steps"}`,
    last && `${(seconds / 60).toFixed(1)} min in steps`,
    faults > 0 && `${faults} faulted episodes left out`,
    ...Object.entries(environment?.seeds ?? {}).map(([key, value]) => `seed ${key} ${value}`),
  ];
  const outcome = outcomeOf(evaluations);
  return html`<header><h1>${name}</h1>${outcome !== "" && html`<p class="outcome">${outcome}</p>`}<p>${facts.filter(Boolean).join(" · ")}</p></header>`;
}
