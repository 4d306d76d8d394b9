import { html, raw } from "hono/html";
import type { Reveal } from "../../diffusion/sampler.js";
import type { DetailTable, EnvironmentKind } from "../../env/environment.js";
import type { RolloutRecord } from "../../runs/rollout-record.js";
import { type Speller, spell } from "../../text/token-text.js";
import type { ReportData } from "./data.js";
import { countText, type Html } from "./html.js";
import type { Look } from "./look.js";
import type { ShownRollout } from "./rollout-sample.js";
import type { UnmovedBlank } from "./unmoved.js";

/** Most bytes of rollouts in a page, to keep it fast; the page says how many are left out. */
const MOST_BYTES = 12 * 2 ** 20;

/** Colours of verdicts; answers that a site accepted without success are neutral. */
const TONES: Readonly<Record<string, string>> = { success: "good", accepted: "dim" };

/** Makes the section of rollouts with its filters. */
export function rolloutSection({ rollouts, look, screenshot }: ReportData): Html {
  if (rollouts.shown.length === 0) return html``;
  const cards: Html[] = [];
  let bytes = 0;
  for (const card of rolloutCards(rollouts.shown, look, screenshot)) {
    bytes += String(card).length;
    if (bytes > MOST_BYTES) break;
    cards.push(card);
  }
  const embedded = rollouts.shown.slice(0, cards.length);
  const covered = embedded.reduce((n, { alike }) => n + alike, 0);
  const older =
    rollouts.skippedSteps > 0 ? ` The ${countText(rollouts.skippedSteps)} oldest steps were too many to read.` : "";
  return html`<section id="rollouts"><h2>Rollouts, worst first</h2>
<p class="dim">${countText(cards.length)} of ${countText(rollouts.total)} rollouts:
the worst of the newest step (${rollouts.steps.at(-1)}) and of all steps before it;
they stand for ${countText(covered)}, as equal responses to one task are shown once. The others are in <code>rollouts/</code>.${older}</p>
${unmovedBlanks(rollouts.unmoved)}
${filters(embedded, look.kind)}<div id="cards">${cards}</div></section>`;
}

/** Warns of blanks whose reward never changed: training cannot learn them. */
function unmovedBlanks(unmoved: readonly UnmovedBlank[]): Html {
  if (unmoved.length === 0) return html``;
  return html`<p class="problems">The reward of these blanks was the same whatever was written there, so that nothing is learned about them:
${unmoved.map(({ form, name, reward, values, rollouts }, i) => html`${i > 0 && "; "}<b>${name}</b> of ${form} (${countText(values)} values in ${countText(rollouts)} rollouts, always ${reward})`)}.</p>`;
}

/** The choice between the heat maps' colourings. */
export const COLOURS = html`<fieldset><legend>Colour</legend><label><input type="radio" name="colour" value="order" checked> order</label>
<label><input type="radio" name="colour" value="probability"> probability</label></fieldset>`;

/** Makes the filters; they stay hidden without the page's script. */
function filters(shown: readonly ShownRollout[], kind: Look["kind"]): Html {
  const select = (id: string, label: string, values: readonly (string | number)[]): Html =>
    html`<label>${label} <select id="${id}"><option value="">all</option>
${values.map((value) => html`<option value="${value}">${value}</option>`)}</select></label>`;
  const records = shown.map(({ record }) => record);
  const verdicts = [...new Set(records.map((record) => verdictOf(record, kind)))].sort();
  const forms = [...new Set(records.map(({ form }) => form))].sort();
  const steps = [...new Set(records.map(({ step }) => step))].sort((a, b) => b - a);
  return html`<div class="filters" hidden><label>Find <input id="find" type="search" placeholder="text of prompt, plan, form"></label>
${select("verdict", "Verdict", verdicts)}${select("form", "Form", forms)}${select("step", "Step", steps)}
<label>Sort <select id="sort"><option value="reward">worst first</option><option value="-reward">best first</option>
<option value="-step">newest first</option><option value="unlikely">least likely first</option>
<option value="-alike">most frequent first</option></select></label>
${COLOURS}<output id="count" aria-live="polite">${shown.length} shown</output></div>`;
}

/** Makes the rollouts' cards; the first is open if there are pictures. A colour means the same round in all of them. */
export function* rolloutCards(
  shown: readonly ShownRollout[],
  { reveals, tokenizer, kind }: Look,
  screenshot?: ReportData["screenshot"],
): Generator<Html> {
  const orders = shown.map(({ record }) => record.turns.map((turn) => reveals(turn.trajectory)));
  const steps = orders.flat(2).reduce((most, reveal) => Math.max(most, (reveal?.step ?? 0) + 1), 1);
  for (const [i, { record, alike }] of shown.entries()) {
    const own = orders[i] ?? [];
    const verdict = verdictOf(record, kind);
    const unlikely = own.flat().reduce((least, reveal) => Math.min(least, reveal?.logProb ?? 0), 0);
    const drawn = kind?.drawing?.(record.detail);
    const image = screenshot?.(record);
    const turns = record.turns.map((turn, t) => {
      const order = own[t];
      if (turn.prompt === "" && turn.response === "" && order === undefined) return undefined;
      const reward = turn.reward === undefined ? "" : ` (reward ${turn.reward.toFixed(3)})`;
      const of = record.turns.length > 1 ? ` of turn ${t + 1}${reward}` : "";
      return html`<div class="columns"><div><h3>Prompt${of}</h3><pre>${turn.prompt}</pre></div>
<div><h3>Response${of}${order && ", and the order it was unmasked in"}</h3>
${order === undefined ? html`<pre>${turn.response}</pre>` : heatMap(order, steps, tokenizer)}</div></div>`;
    });
    yield html`<details class="rollout"${i === 0 && screenshot && raw(" open")} data-verdict="${verdict}" data-form="${record.form}"
data-step="${record.step}" data-reward="${record.reward ?? 2}" data-alike="${alike}" data-unlikely="${Number(unlikely.toFixed(3))}">
<summary><b class="num">${record.reward?.toFixed(3) ?? "–"}</b> <span class="verdict ${TONES[verdict] ?? "bad"}">${verdict}</span> ${record.form}
<span class="dim">step ${record.step}${alike > 1 && ` · ${alike} alike`} · ${record.task_id}</span></summary>
<p class="dim">${facts(record).join(" · ")}</p>
${drawn && html`<h3>${drawn.title}</h3><div class="wide">${raw(drawn.svg)}</div>`}${turns}
<div class="columns">${(kind?.view?.(record.detail) ?? []).map((of) => html`<div>${table(of)}</div>`)}
${image && html`<div><h3>The page at the end</h3><img alt="Page of ${record.form} as the plan left it" src="data:image/jpeg;base64,${Buffer.from(image).toString("base64")}"></div>`}</div></details>`;
  }
}

function verdictOf(record: RolloutRecord, kind: Pick<EnvironmentKind, "verdict"> | undefined): string {
  if (record.fault !== null) return "fault";
  return record.success ? "success" : (kind?.verdict?.(record.detail) ?? "no success");
}

export function table({ title, head, rows }: DetailTable): Html {
  if (rows.length === 0) return html`<h3>${title}</h3><p>Nothing.</p>`;
  const columns = (head ?? []).map((text) => html`<th scope="col">${text}</th>`);
  const body = rows.map(([first, ...cells]) => {
    const rest = cells.map(({ text, tone }) => html`<td${tone && html` class="${tone}"`}>${text}</td>`);
    return html`<tr>${first && html`<th scope="row">${first.text}</th>`}${rest}</tr>`;
  });
  return html`<h3>${title}</h3><table>${columns.length > 0 && html`<thead><tr>${columns}</tr></thead>`}<tbody>${body}</tbody></table>`;
}

function facts(record: RolloutRecord): string[] {
  return [
    ...Object.entries(record.metrics ?? {}).map(([key, value]) => `${key.replaceAll("_", " ")} ${value.toFixed(2)}`),
    ...(record.advantage === null ? [] : [`advantage ${record.advantage.toFixed(2)}`]),
    `${record.tokens} tokens`,
    `group ${record.group}, rollout ${record.rollout}`,
    ...(record.fault === null ? [] : [record.fault]),
  ];
}

/** Number of colours for the order, and for the probability (style.ts). */
const SHADES = 8;
/** Upper limits of the first seven probability classes; the eighth is the rest. */
const PROBABILITIES = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9] as const;
/** Tokens with a lower probability are underlined. */
const UNLIKELY = 0.5;

/** Colour of a step among `steps`. */
function shade(step: number, steps: number): number {
  return steps <= 1 ? 0 : Math.round((Math.min(step, steps - 1) / (steps - 1)) * (SHADES - 1));
}

function likelihood(p: number): number {
  const index = PROBABILITIES.findIndex((limit) => p < limit);
  return index < 0 ? SHADES - 1 : index;
}

/**
 * Shows a response with the order in which it was unmasked: a token's colour is its round. Each token carries its round
 * and its probability, which the page's script shows at the pointer or the keyboard's cursor.
 * @param steps rounds of the longest response shown, so that a colour means the same round in all of them.
 */
function heatMap(reveals: readonly Reveal[], steps: number, tokenizer: Speller | undefined): Html {
  const ids = reveals.map(({ token }) => token);
  const texts = tokenizer === undefined ? ids.map((id) => `${id} `) : spell(ids, tokenizer);
  const rounds = new Set(reveals.map(({ step }) => step)).size;
  const tokens = reveals.map(({ step, logProb }, i) => {
    const p = logProb === undefined ? undefined : Math.exp(logProb);
    const chance = p === undefined ? "" : ` p${likelihood(p)}${p < UNLIKELY ? " low" : ""}`;
    const probability = p !== undefined && html` data-p="${Number(p.toPrecision(3))}"`;
    // line breaks are visible, and break the line
    const text = texts[i]?.replaceAll("\n", "↵\n");
    return html`<span class="o${shade(step, steps)}${chance}" data-r="${step + 1}"${probability}>${text}</span>`;
  });
  return html`<div class="heat" tabindex="0" role="group"
aria-label="Response, ${reveals.length} tokens in ${rounds} rounds; the arrow keys go through it">${tokens}</div>
<p class="legend dim">${legend(steps)}</p>
<p class="probe" aria-live="polite">${reveals.length} tokens. Point at one, or use the arrow keys, for its round and probability.</p>`;
}

function legend(steps: number): Html {
  const swatch = (kind: string, of: number, label: string | number): Html =>
    html`<span class="swatch ${kind}${of}">${label}</span>`;
  const order =
    steps <= SHADES
      ? Array.from({ length: steps }, (_, round) => swatch("o", shade(round, steps), round + 1))
      : [1, ...Array(SHADES - 2).fill("\u00a0"), steps].map((label, i) => swatch("o", i, label));
  const limits = [...PROBABILITIES.map((limit) => `< ${limit}`), "more"];
  return html`<span class="by-order">round ${order}</span>
<span class="by-probability">probability ${limits.map((label, i) => swatch("p", i, label))}</span>
<span class="low">underlined</span>: less likely than ${UNLIKELY}`;
}
