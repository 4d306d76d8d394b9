import type { Reveal } from "../../diffusion/sampler.js";
import type { RolloutRecord } from "../../runs/rollout-record.js";
import type { ReportData } from "./data.js";
import { heatMap } from "./heat-map.js";
import { countText, escapeHtml } from "./html.js";
import type { ShownRollout } from "./rollout-sample.js";
import type { Speller } from "./token-text.js";

/** A page stays quick below this many bytes of rollouts; the rest is left out and said to be. */
const MOST_BYTES = 12 * 2 ** 20;

type Verdict = "success" | "accepted" | "not accepted" | "fault";

/** The browser of rollouts with its filters. */
export function rolloutSection({ rollouts, reveals, tokenizer, screenshot }: ReportData): string {
  if (rollouts.shown.length === 0) return "";
  const cards: string[] = [];
  let bytes = 0;
  const orders = rollouts.shown.map(({ record }) => reveals(record.trajectory));
  const steps = orderSteps(orders);
  for (const [i, shown] of rollouts.shown.entries()) {
    const image = screenshot(shown.record);
    const card = rolloutCard(shown, { open: i === 0, reveals: orders[i], steps, tokenizer, image });
    bytes += card.length;
    if (bytes > MOST_BYTES) break;
    cards.push(card);
  }
  const embedded = rollouts.shown.slice(0, cards.length);
  const covered = embedded.reduce((n, { alike }) => n + alike, 0);
  const newest = rollouts.steps.at(-1);
  const older =
    rollouts.skippedSteps > 0 ? ` The ${countText(rollouts.skippedSteps)} oldest steps were too many to read.` : "";
  return (
    `<section id="rollouts"><h2>Rollouts, worst first</h2>` +
    `<p class="dim">${countText(cards.length)} of ${countText(rollouts.total)} rollouts: the worst of the newest step (${newest}) and of all steps before it; ` +
    `they stand for ${countText(covered)}, as equal responses to one task are shown once. The others are in <code>rollouts/</code>.${older}</p>` +
    `${filters(embedded)}<div id="cards">${cards.join("")}</div></section>`
  );
}

/** Filters need the page's script: they stay hidden without it. */
function filters(shown: readonly ShownRollout[]): string {
  const options = (values: readonly (string | number)[]): string =>
    values.map((value) => `<option value="${escapeHtml(value)}">${escapeHtml(value)}</option>`).join("");
  const unique = <T extends string | number>(values: readonly T[]): T[] => [...new Set(values)].sort();
  const select = (id: string, label: string, all: string, values: readonly (string | number)[]): string =>
    `<label>${label} <select id="${id}"><option value="">${all}</option>${options(values)}</select></label>`;
  const steps = [...new Set(shown.map(({ record }) => record.step))].sort((a, b) => b - a);
  return (
    `<div class="filters" hidden>` +
    `<label>Find <input id="find" type="search" placeholder="text of prompt, plan, form"></label>` +
    select("verdict", "Verdict", "all", unique(shown.map(({ record }) => verdictOf(record)))) +
    select("form", "Form", "all", unique(shown.map(({ record }) => record.form))) +
    select("step", "Step", "all", steps) +
    `<label>Sort <select id="sort"><option value="reward">worst first</option><option value="-reward">best first</option>` +
    `<option value="-step">newest first</option><option value="unlikely">least likely first</option><option value="-alike">most frequent first</option></select></label>` +
    `<fieldset><legend>Colour</legend><label><input type="radio" name="colour" value="order" checked> order</label>` +
    `<label><input type="radio" name="colour" value="probability"> probability</label></fieldset>` +
    `<output id="count" aria-live="polite">${shown.length} shown</output></div>`
  );
}

export interface CardOptions {
  readonly open: boolean;
  /** Undefined where the record does not say the order. */
  readonly reveals: readonly Reveal[] | undefined;
  /** Rounds of the longest response shown. */
  readonly steps: number;
  readonly tokenizer: Speller | null;
  /** JPEG of the page. */
  readonly image: Uint8Array | undefined;
}

/** Rounds of the longest of some responses. */
export function orderSteps(orders: readonly (readonly Reveal[] | undefined)[]): number {
  return orders.reduce(
    (most, reveals) => (reveals ?? []).reduce((steps, { step }) => Math.max(steps, step + 1), most),
    1,
  );
}

/** One rollout. Everything in it but our own words is untrusted. */
export function rolloutCard({ record, alike }: ShownRollout, options: CardOptions): string {
  const verdict = verdictOf(record);
  const { reveals, steps, tokenizer } = options;
  const response =
    reveals === undefined ? `<pre>${escapeHtml(record.response)}</pre>` : heatMap(reveals, steps, tokenizer);
  const logProb = (reveals ?? []).reduce((least, r) => Math.min(least, r.logProb ?? 0), 0);
  return (
    `<details class="rollout"${options.open ? " open" : ""} data-verdict="${verdict}" data-form="${escapeHtml(record.form)}"` +
    ` data-step="${record.step}" data-reward="${record.reward ?? 2}" data-alike="${alike}" data-unlikely="${Number(logProb.toFixed(3))}">` +
    `<summary><b class="num">${record.reward === null ? "–" : record.reward.toFixed(3)}</b> ` +
    `<span class="verdict ${verdict === "success" ? "good" : "bad"}">${verdict}</span> ${escapeHtml(record.form)} ` +
    `<span class="dim">step ${record.step}${alike > 1 ? ` · ${alike} alike` : ""} · ${escapeHtml(record.task_id)}</span></summary>` +
    `<p class="dim">${facts(record).map(escapeHtml).join(" · ")}</p>` +
    `<div class="columns"><div><h3>Prompt</h3><pre>${escapeHtml(record.prompt)}</pre></div>` +
    `<div><h3>Response${reveals === undefined ? "" : ", and the order it was unmasked in"}</h3>${response}</div></div>` +
    `<div class="columns"><div><h3>Plan</h3>${plan(record)}</div><div>${fields(record)}</div>${picture(options.image, record)}</div></details>`
  );
}

function verdictOf(record: RolloutRecord): Verdict {
  if (record.fault !== null) return "fault";
  return record.success ? "success" : record.accepted ? "accepted" : "not accepted";
}

function facts(record: RolloutRecord): string[] {
  const parts = Object.entries(record.parts ?? {}).map(
    ([key, value]) => `${key.replaceAll("_", " ")} ${value.toFixed(2)}`,
  );
  return [
    ...parts,
    ...(record.advantage === null ? [] : [`advantage ${record.advantage.toFixed(2)}`]),
    `${record.tokens} tokens`,
    `group ${record.group}, rollout ${record.rollout}`,
    ...(record.fault === null ? [] : [record.fault]),
  ];
}

function plan({ actions }: RolloutRecord): string {
  if (actions.length === 0) return "<p>No action.</p>";
  const rows = actions.map(
    ({ action, fate, detail }) =>
      `<tr><td><code>${escapeHtml(action)}</code></td><td class="fate${fate === "done" ? "" : " bad"}">${escapeHtml(fate)}</td><td class="dim">${escapeHtml(detail ?? "")}</td></tr>`,
  );
  return `<table><tbody>${rows.join("")}</tbody></table>`;
}

/** The form as the server received it beside the truth: by label where the record has it, else as it was posted. */
function fields(record: RolloutRecord): string {
  const posted = record.posted.map(
    ([name, value]) => `<tr><th scope="row">${escapeHtml(name)}</th><td>${escapeHtml(value)}</td></tr>`,
  );
  const raw = posted.length === 0 ? "<p>Nothing.</p>" : `<table><tbody>${posted.join("")}</tbody></table>`;
  const { received, field_scores: scores } = record;
  const truth = Object.entries(record.truth);
  if (received === undefined) {
    const rows = truth.map(
      ([label, value]) => `<tr><th scope="row">${escapeHtml(label)}</th><td>${escapeHtml(fieldText(value))}</td></tr>`,
    );
    return `<h3>The server received</h3>${raw}<h3>True values</h3><table><tbody>${rows.join("")}</tbody></table>`;
  }
  const rows = truth.map(([label, value]) => {
    const score = scores?.[label] ?? 0;
    const mark = score === 1 ? "good" : "bad";
    const got = Object.hasOwn(received, label) ? received[label] : null;
    return (
      `<tr><th scope="row">${escapeHtml(label)}</th><td>${escapeHtml(fieldText(value))}</td>` +
      `<td>${receivedText(got)}</td><td class="num ${mark}">${score.toFixed(2)}</td></tr>`
    );
  });
  const heading = record.posted.length > 0 ? "The server received" : "Nothing was sent; the page held";
  return (
    `<h3>${heading}, beside the truth</h3><table><thead><tr><th scope="col">field</th><th scope="col">truth</th>` +
    `<th scope="col">${record.posted.length > 0 ? "received" : "held"}</th><th scope="col" class="num">score</th></tr></thead><tbody>${rows.join("")}</tbody></table>` +
    `<details><summary>as posted</summary>${raw}</details>`
  );
}

function picture(image: Uint8Array | undefined, record: RolloutRecord): string {
  if (image === undefined) return "";
  const data = Buffer.from(image).toString("base64");
  return `<div><h3>The form, filled in</h3><img alt="${escapeHtml(`Page of ${record.form} as the plan left it`)}" src="data:image/jpeg;base64,${data}"></div>`;
}

function receivedText(value: unknown): string {
  if (value === null) return `<span class="dim">no such control</span>`;
  return escapeHtml(fieldText(value)) || `<span class="dim">empty</span>`;
}

function fieldText(value: unknown): string {
  if (Array.isArray(value)) return value.map(fieldText).join(", ");
  return typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
}
