import { html } from "hono/html";
import { UserError } from "../../core/errors.js";
import type { Interval } from "../../core/statistics.js";
import {
  type Comparison,
  compareEvaluations,
  type Evaluation,
  formatDifference,
  formatInterval,
  formatOutcome,
  LEAST_PAIRS,
} from "../../runs/evaluation.js";
import type { SplitEvaluations } from "./data.js";
import type { Html } from "./html.js";

/** A score of an evaluation, of a comparison or of a form in them. */
interface Score {
  readonly label: string;
  readonly share: boolean;
  of(scores: Pick<Comparison, "reward" | "success_rate" | "metrics">): Interval | undefined;
}

const REWARD: Score = { label: "reward", share: false, of: (scores) => scores.reward };
const SUCCESS: Score = { label: "success", share: true, of: (scores) => scores.success_rate };

function scoresOf(evaluations: readonly (Evaluation | null)[]): Score[] {
  const names = new Set(evaluations.flatMap((evaluation) => Object.keys(evaluation?.metrics ?? {})));
  const own = [...names].map(
    (name): Score => ({ label: name.replaceAll("_", " "), share: false, of: (scores) => scores.metrics[name] }),
  );
  return [REWARD, SUCCESS, ...own];
}

/** Writes the outcome in a sentence; empty without an evaluation. Splits whose evaluations have no task in common are left out. */
export function outcomeOf(evaluations: readonly SplitEvaluations[]): string {
  const fit = evaluations.filter(
    ({ before, after }) => before === null || after === null || compare(before, after) !== null,
  );
  const [before, after] = (["before", "after"] as const).map((which) => fit.flatMap((split) => split[which] ?? []));
  return fit.length === 0 ? "" : formatOutcome(before ?? [], after ?? []);
}

/** Makes the section "Before and after": each split's scores, then each form's. */
export function evaluationSection(evaluations: readonly SplitEvaluations[]): Html {
  if (evaluations.length === 0) return html``;
  const groups = evaluations.map(({ split, before, after }) => {
    const comparison = compare(before, after);
    const counts = [before, after].map((e) =>
      e === null ? "–" : `${e.episodes}${e.faults > 0 ? ` (+${e.faults} faults)` : ""}`,
    );
    const rows = scoresOf([before, after]).map(
      (score) => html`<tr><th scope="row">${score.label}</th>${cells(score, before, after, comparison)}</tr>`,
    );
    return html`<tbody><tr><th colspan="4" scope="rowgroup">${split} <small>${counts.join(" / ")} episodes</small></th></tr>${rows}</tbody>`;
  });
  return html`<section><h2>Before and after</h2><p class="dim">Means with 95 % bootstrap intervals; the difference is paired by task,
<b>*</b> marks an interval that leaves 0 out, of ${LEAST_PAIRS} pairs at least.</p>
<table class="changes"><thead><tr><td></td>${SCORED}</tr></thead>${groups}</table>
${evaluations.map(formTable)}</section>`;
}

const SCORED = html`<th scope="col">before</th><th scope="col">after</th><th scope="col">difference</th>`;

/** Makes the table of a split's forms, the worst (after training) first. */
function formTable({ split, before, after }: SplitEvaluations): Html {
  const forms = [...new Set([...Object.keys(before?.per_form ?? {}), ...Object.keys(after?.per_form ?? {})])];
  const score = (form: string): number =>
    (after?.per_form[form] ?? before?.per_form[form])?.reward.mean ?? Number.POSITIVE_INFINITY;
  const rows = forms
    .sort((a, b) => score(a) - score(b) || a.localeCompare(b))
    .map((form) => {
      const [a, b] = [before?.per_form[form] ?? null, after?.per_form[form] ?? null];
      const comparison = compare(onForm(before, form), onForm(after, form));
      return html`<tr><th scope="row">${form}</th><td class="num">${b?.episodes ?? a?.episodes ?? 0}</td>
<td>${dumbbell(a?.reward, b?.reward)}</td>${cells(REWARD, a, b, comparison)}
<td class="num">${percentOf(a?.success_rate)} → ${percentOf(b?.success_rate)}</td></tr>`;
    });
  return html`<details><summary>${split}: reward by form, worst first</summary>
<div class="wide" tabindex="0" role="region" aria-label="${split} by form"><table><thead><tr><th scope="col">form</th><th scope="col">episodes</th>
<th scope="col"><span class="key k1">before</span> <span class="key k0">after</span></th>${SCORED}<th scope="col">success</th></tr></thead>
<tbody>${rows}</tbody></table></div></details>`;
}

function compare(before: Evaluation | null, after: Evaluation | null): Comparison | null {
  if (before === null || after === null) return null;
  try {
    return compareEvaluations(before, after);
  } catch (error) {
    if (error instanceof UserError) return null;
    throw error;
  }
}

const onForm = (evaluation: Evaluation | null, form: string): Evaluation | null =>
  evaluation && { ...evaluation, per_task: evaluation.per_task.filter((task) => task.form === form) };

/** Makes the cells of a run's reward on a split: before, after, the difference, and that to another run. */
export function changeCells({ before, after }: SplitEvaluations, baseline: Evaluation | null): Html[] {
  const against = compare(baseline, after);
  const last = against === null ? "–" : formatDifference(against.reward, false, against.pairs);
  return [...cells(REWARD, before, after, compare(before, after)), html`<td class="num">${last}</td>`];
}

const BAR = { width: 200, height: 20, pad: 6 };

/** Draws two means with their intervals on an axis from 0 to 1. */
function dumbbell(before: Interval | undefined, after: Interval | undefined): Html {
  const x = (value: number): string =>
    (BAR.pad + Math.min(1, Math.max(0, value)) * (BAR.width - 2 * BAR.pad)).toFixed(1);
  const bar = (interval: Interval | undefined, y: number, colour: number): Html | undefined =>
    interval &&
    html`<line class="whisker s${colour}" x1="${x(interval.low)}" x2="${x(interval.high)}" y1="${y}" y2="${y}"/>
<circle class="mark s${colour}" cx="${x(interval.mean)}" cy="${y}" r="3.5"/>`;
  const grid = [0, 0.5, 1].map((at) => html`<line class="grid" x1="${x(at)}" x2="${x(at)}" y1="1" y2="19"/>`);
  return html`<svg class="bar" viewBox="0 0 ${BAR.width} ${BAR.height}" width="${BAR.width}" height="${BAR.height}" aria-hidden="true">
${grid}${bar(before, 6, 1)}${bar(after, 14, 0)}</svg>`;
}

type Scores = Parameters<Score["of"]>[0] | null;

/** Makes the cells of a score: before, after and their difference. */
function cells(score: Score, before: Scores, after: Scores, comparison: Comparison | null): Html[] {
  const [a, b, difference] = [before, after, comparison].map((scores) => scores && score.of(scores));
  const texts = [
    ...[a, b].map((interval) => interval && formatInterval(interval, score.share)),
    difference && formatDifference(difference, score.share, comparison?.pairs),
  ];
  return texts.map((text) => {
    const [value = "–", interval] = text?.split(/ (?=\[)/) ?? [];
    return html`<td class="num">${value}${interval && html` <small>${interval}</small>`}</td>`;
  });
}

const percentOf = (interval: Interval | undefined): string =>
  interval === undefined ? "–" : `${(100 * interval.mean).toFixed(0)} %`;
