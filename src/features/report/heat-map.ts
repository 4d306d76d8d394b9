import { escapeHtml } from "../../core/html.js";
import type { Reveal } from "../../diffusion/sampler.js";
import { type Speller, spell } from "../../text/token-text.js";

/** Colours of the order, and of the probability (style.ts). */
const SHADES = 8;
/** Upper ends of the first seven probability classes; the eighth is the rest. */
const PROBABILITIES = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9] as const;
/** Tokens less likely than this are underlined in either colouring. */
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
 * A response with the order in which it was unmasked: a token's colour is its round. Each token carries its round and
 * its probability, which the page's script shows at the pointer or the keyboard's cursor.
 * @param steps rounds of the longest response shown, so that a colour means the same round everywhere.
 */
export function heatMap(reveals: readonly Reveal[], steps: number, tokenizer: Speller | null): string {
  const texts =
    tokenizer === null
      ? undefined
      : spell(
          reveals.map((r) => r.token),
          tokenizer,
        );
  const tokens = reveals.map((reveal, i) => tokenSpan(reveal, texts?.[i], steps));
  const used = [...new Set(reveals.map((r) => r.step))].sort((a, b) => a - b);
  return (
    `<div class="heat" tabindex="0" role="group" aria-label="Response, ${reveals.length} tokens in ${used.length} rounds; the arrow keys go through it">${tokens.join("")}</div>` +
    `<p class="legend dim">${legend(steps)}</p><p class="probe" aria-live="polite">${reveals.length} tokens. Point at one, or use the arrow keys, for its round and probability.</p>`
  );
}

function tokenSpan({ token, step, logProb }: Reveal, text: string | undefined, steps: number): string {
  const p = logProb === undefined ? undefined : Math.exp(logProb);
  const classes = [
    `o${shade(step, steps)}`,
    ...(p === undefined ? [] : [`p${likelihood(p)}`, ...(p < UNLIKELY ? ["low"] : [])]),
  ];
  // a line break shows where it is, and breaks
  const shown = text === undefined ? `${token} ` : escapeHtml(text).replaceAll("\n", "↵\n");
  const probability = p === undefined ? "" : ` data-p="${Number(p.toPrecision(3))}"`;
  return `<span class="${classes.join(" ")}" data-r="${step + 1}"${probability}>${shown}</span>`;
}

function legend(steps: number): string {
  const rounds = steps <= SHADES ? Array.from({ length: steps }, (_, i) => i) : [];
  const swatch = (kind: string, shadeOf: number, label: string): string =>
    `<span class="swatch ${kind}${shadeOf}">${label}</span>`;
  const order =
    rounds.length > 0
      ? rounds.map((round) => swatch("o", shade(round, steps), String(round + 1))).join("")
      : Array.from({ length: SHADES }, (_, i) =>
          swatch("o", i, i === 0 ? "1" : i === SHADES - 1 ? String(steps) : "&nbsp;"),
        ).join("");
  const limits = [...PROBABILITIES.map((limit) => `&lt; ${limit}`), "more"];
  const probability = limits.map((label, i) => swatch("p", i, label)).join("");
  return (
    `<span class="by-order">round ${order}</span><span class="by-probability">probability ${probability}</span>` +
    ` <span class="low">underlined</span>: less likely than ${UNLIKELY}`
  );
}
