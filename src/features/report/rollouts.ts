import { countText, escapeHtml } from "../../core/html.js";
import type { Reveal } from "../../diffusion/sampler.js";
import type { DetailTable, EnvironmentKind } from "../../env/environment.js";
import type { RolloutRecord } from "../../runs/rollout-record.js";
import type { Speller } from "../../text/token-text.js";
import type { ReportData } from "./data.js";
import { heatMap } from "./heat-map.js";
import type { ShownRollout } from "./rollout-sample.js";

/** A page stays quick below this many bytes of rollouts; the rest is left out and said to be. */
const MOST_BYTES = 12 * 2 ** 20;

/** Colours of verdicts; what a site accepted although it was no success is neither good nor bad. */
const TONES: Readonly<Record<string, string>> = { success: "good", accepted: "dim" };

/** The browser of rollouts with its filters. */
export function rolloutSection({ rollouts, reveals, tokenizer, screenshot, kind }: ReportData): string {
  if (rollouts.shown.length === 0) return "";
  const cards: string[] = [];
  let bytes = 0;
  const orders = rollouts.shown.map(({ record }) => ordersOf(record, reveals));
  const steps = orderSteps(orders);
  for (const [i, shown] of rollouts.shown.entries()) {
    const image = screenshot(shown.record);
    const card = rolloutCard(shown, { open: i === 0, orders: orders[i] ?? [], steps, tokenizer, image, kind });
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
    `${filters(embedded, kind)}<div id="cards">${cards.join("")}</div></section>`
  );
}

/** Filters need the page's script: they stay hidden without it. */
function filters(shown: readonly ShownRollout[], kind: CardOptions["kind"]): string {
  const options = (values: readonly (string | number)[]): string =>
    values.map((value) => `<option value="${escapeHtml(value)}">${escapeHtml(value)}</option>`).join("");
  const unique = <T extends string | number>(values: readonly T[]): T[] => [...new Set(values)].sort();
  const select = (id: string, label: string, all: string, values: readonly (string | number)[]): string =>
    `<label>${label} <select id="${id}"><option value="">${all}</option>${options(values)}</select></label>`;
  const steps = [...new Set(shown.map(({ record }) => record.step))].sort((a, b) => b - a);
  return (
    `<div class="filters" hidden>` +
    `<label>Find <input id="find" type="search" placeholder="text of prompt, plan, form"></label>` +
    select("verdict", "Verdict", "all", unique(shown.map(({ record }) => verdictOf(record, kind)))) +
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
  /** Order of each turn's response; undefined where the record does not say it. */
  readonly orders: readonly (readonly Reveal[] | undefined)[];
  /** The run's environment: it knows what to show of an episode; undefined where it is not known. */
  readonly kind: Pick<EnvironmentKind, "view" | "verdict" | "drawing"> | undefined;
  /** Rounds of the longest response shown. */
  readonly steps: number;
  readonly tokenizer: Speller | null;
  /** JPEG of the page. */
  readonly image: Uint8Array | undefined;
}

/** The order of each turn's response. */
export function ordersOf({ turns }: RolloutRecord, reveals: ReportData["reveals"]): (readonly Reveal[] | undefined)[] {
  return turns.map((turn) => reveals(turn.trajectory));
}

/** Rounds of the longest of some responses. */
export function orderSteps(orders: readonly (readonly (readonly Reveal[] | undefined)[])[]): number {
  return orders
    .flat()
    .reduce((most, reveals) => (reveals ?? []).reduce((steps, { step }) => Math.max(steps, step + 1), most), 1);
}

/** One rollout. Everything in it but our own words is untrusted. */
export function rolloutCard({ record, alike }: ShownRollout, options: CardOptions): string {
  const verdict = verdictOf(record, options.kind);
  const logProb = options.orders
    .flatMap((order) => order ?? [])
    .reduce((least, r) => Math.min(least, r.logProb ?? 0), 0);
  const tables = (options.kind?.view?.(record.detail) ?? []).map(table);
  return (
    `<details class="rollout"${options.open ? " open" : ""} data-verdict="${escapeHtml(verdict)}" data-form="${escapeHtml(record.form)}"` +
    ` data-step="${record.step}" data-reward="${record.reward ?? 2}" data-alike="${alike}" data-unlikely="${Number(logProb.toFixed(3))}">` +
    `<summary><b class="num">${record.reward === null ? "–" : record.reward.toFixed(3)}</b> ` +
    `<span class="verdict ${TONES[verdict] ?? "bad"}">${escapeHtml(verdict)}</span> ${escapeHtml(record.form)} ` +
    `<span class="dim">step ${record.step}${alike > 1 ? ` · ${alike} alike` : ""} · ${escapeHtml(record.task_id)}</span></summary>` +
    `<p class="dim">${facts(record).map(escapeHtml).join(" · ")}</p>` +
    drawing(record, options.kind) +
    `${record.turns.map((turn, t) => turnColumns(turn, t, record.turns.length, options)).join("")}` +
    `<div class="columns">${tables.map((text) => `<div>${text}</div>`).join("")}${picture(options.image, record)}</div></details>`
  );
}

function drawing({ detail }: RolloutRecord, kind: CardOptions["kind"]): string {
  const drawn = kind?.drawing?.(detail);
  return drawn === undefined ? "" : `<h3>${escapeHtml(drawn.title)}</h3><div class="wide">${drawn.svg}</div>`;
}

/** Gives what one turn saw and answered; nothing of one without texts. */
function turnColumns(turn: RolloutRecord["turns"][number], t: number, all: number, options: CardOptions): string {
  const { orders, steps, tokenizer } = options;
  const order = orders[t];
  if (turn.prompt === "" && turn.response === "" && order === undefined) return "";
  const response = order === undefined ? `<pre>${escapeHtml(turn.response)}</pre>` : heatMap(order, steps, tokenizer);
  const of =
    all > 1 ? ` of turn ${t + 1}${turn.reward === undefined ? "" : ` (reward ${turn.reward.toFixed(3)})`}` : "";
  return (
    `<div class="columns"><div><h3>Prompt${of}</h3><pre>${escapeHtml(turn.prompt)}</pre></div>` +
    `<div><h3>Response${of}${order === undefined ? "" : ", and the order it was unmasked in"}</h3>${response}</div></div>`
  );
}

function verdictOf(record: RolloutRecord, kind: CardOptions["kind"]): string {
  if (record.fault !== null) return "fault";
  return record.success ? "success" : (kind?.verdict?.(record.detail) ?? "no success");
}

function table({ title, head, rows }: DetailTable): string {
  if (rows.length === 0) return `<h3>${escapeHtml(title)}</h3><p>Nothing.</p>`;
  const columns = (head ?? []).map((text) => `<th scope="col">${escapeHtml(text)}</th>`).join("");
  const body = rows.map((cells) => {
    const line = cells.map(({ text, tone }, i) =>
      i === 0
        ? `<th scope="row">${escapeHtml(text)}</th>`
        : `<td${tone === undefined ? "" : ` class="${tone}"`}>${escapeHtml(text)}</td>`,
    );
    return `<tr>${line.join("")}</tr>`;
  });
  const top = columns === "" ? "" : `<thead><tr>${columns}</tr></thead>`;
  return `<h3>${escapeHtml(title)}</h3><table>${top}<tbody>${body.join("")}</tbody></table>`;
}

function facts(record: RolloutRecord): string[] {
  const parts = Object.entries(record.metrics ?? {}).map(
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

function picture(image: Uint8Array | undefined, record: RolloutRecord): string {
  if (image === undefined) return "";
  const data = Buffer.from(image).toString("base64");
  return `<div><h3>The page at the end</h3><img alt="${escapeHtml(`Page of ${record.form} as the plan left it`)}" src="data:image/jpeg;base64,${data}"></div>`;
}
