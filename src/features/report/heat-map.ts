import { html } from "hono/html";
import type { Reveal } from "../../diffusion/sampler.js";
import { type Speller, spell } from "../../text/token-text.js";
import type { Html } from "./html.js";

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
export function heatMap(reveals: readonly Reveal[], steps: number, tokenizer: Speller | undefined): Html {
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
