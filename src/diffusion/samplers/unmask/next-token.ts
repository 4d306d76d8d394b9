import { misuse } from "../../../core/errors.js";
import { crossEntropy } from "../../cross-entropy.js";
import type { SupervisedExample } from "../../examples.js";
import type { Batch } from "../../layout/batch.js";
import { BufferBuilder } from "../../layout/buffer.js";
import type { LayoutSizes, SupervisedLayout } from "../../layout/scorings.js";
import type { Written } from "../../layout/text.js";
import { policyHead } from "../../score-head.js";
import { Canvas } from "../../template.js";
import { bufferTerms, layoutLength, responseSegments, type ScoredBuffer } from "../../terms.js";
import type { SampledModel } from "../../tokens.js";
import type { UnmaskOptions } from "./options.js";
import type { UnmaskTrajectory } from "./trajectory.js";

/**
 * `slot_fill: next-token`: each token of a blank is predicted by the row of the token before it, the first by the last
 * given token before the blank (DiffuLLaMA's shift, arXiv 2410.17891), so that a pretrained causal model is used as it
 * was trained. There are no masks, and all blanks advance side by side. A token of a blank sees the prompt, the given
 * tokens before the blank, and the blank's earlier tokens; a given token sees the prompt and the given tokens before
 * it. No token sees another blank's value, so that keys and values are final when they are computed, whatever the
 * rounds. An end is predicted and never read.
 *
 * A bidirectional model with shifted logits (Dream) predicts so too. Its prompt and given tokens see each other, and
 * values see all of them: still nothing that is drawn later.
 */

/**
 * Lays out prompt, given tokens, and the tokens of blanks that stand before the cells to predict.
 * @param tokens by cell. @param cells to predict.
 * @returns `rows`: by cell, the buffer index of the row that predicts it; of earlier cells of the same blanks too.
 * @throws UserError where nothing stands before a blank.
 */
export function layBefore(
  { prompt, canvas }: { readonly prompt: readonly number[]; readonly canvas: Canvas },
  tokens: ReadonlyMap<number, number>,
  cells: Iterable<number>,
  { attention, tokens: { pad } }: Pick<SampledModel, "attention" | "tokens">,
): { readonly buffer: BufferBuilder; readonly rows: ReadonlyMap<number, number> } {
  const buffer = new BufferBuilder(prompt, canvas);
  const rows = new Map<number, number>();
  const causal = attention === "causal";
  if (!causal) buffer.prefix.fill(buffer.start);
  // shifted logits of an entry are in the row behind it
  const predict = (cell: number, row: number): unknown => rows.set(cell, causal ? row : row + 1);
  const lastOf = new Map<number, number>();
  for (const cell of cells) {
    const blank = canvas.blankOf(cell);
    lastOf.set(blank, Math.max(cell, lastOf.get(blank) ?? 0));
  }
  for (const [blank, last] of lastOf) {
    const { first, start } = canvas.blanks[blank] as (typeof canvas.blanks)[number];
    const before = prompt.length + canvas.given.filter(([position]) => position < start).length;
    if (before === 0)
      misuse(
        "A blank begins a text without a prompt: slot_fill=next-token has no token to predict its first one from.",
        {
          hint: "Write a prompt, or a word before the blank.",
        },
      );
    const from = buffer.length;
    predict(first, before - 1);
    const prefix = causal ? before : buffer.start;
    for (let cell = first; cell < last; cell++)
      predict(cell + 1, buffer.push(tokens.get(cell) as number, cell, prefix, from));
  }
  if (!causal) buffer.push(pad, 0, 0, buffer.length);
  return { buffer, rows };
}

/** Lays out what predicts a response. @returns `written`: cell -> token, in the response's order. */
export function layResponse({ prompt, template, response }: Written, model: SampledModel) {
  const canvas = Canvas.of(template);
  const written = new Map(canvas.cellsOf(response, model.tokens.eos).map((cell, i) => [cell, response[i] as number]));
  return { written, ...layBefore({ prompt, canvas }, written, written.keys(), model) };
}

/**
 * Lays out one segment per response: its log-probability, which is the exact value of what a bound would estimate. EOS
 * is an ordinary token here and the temperature is 1, as in a bound by masks.
 */
export function responseTerms(
  trajectories: readonly UnmaskTrajectory[],
  { model }: UnmaskOptions,
  layout: LayoutSizes,
): Batch {
  const scored = trajectories.map((trajectory, segment): ScoredBuffer => {
    const { buffer, rows, written } = layResponse(trajectory, model);
    const terms = [...written].map(([cell, target]) => ({
      row: rows.get(cell) as number,
      target,
      coefficient: 1,
      segment,
      features: { eos_allowed: 1 },
    }));
    return { buffer, terms };
  });
  return bufferTerms(
    scored,
    { batch: layout.batch, length: layoutLength(scored, layout), segments: layout.batch, share: layout.share },
    responseSegments(trajectories, layout, policyHead, model.tokens),
  );
}

/** Lays out the mean cross-entropy of all value tokens and ends. @throws UserError where an example does not fit. */
export function nextTokenLoss(
  examples: readonly SupervisedExample[],
  options: UnmaskOptions,
  layout: SupervisedLayout,
): Batch[] {
  return crossEntropy(examples, options, layout, "sampler.slot_fill=next-token", (example) => {
    const { buffer, rows, written } = layResponse(example, options.model);
    return { buffer, rows: [...written.keys()].map((cell) => rows.get(cell) as number) };
  });
}
