import { misuse } from "../../../core/errors.js";
import type { Rng } from "../../../core/rng.js";
import { fillCanvas, type SupervisedExample, stratified } from "../../examples.js";
import type { Batch } from "../../layout/batch.js";
import type { BufferBuilder } from "../../layout/buffer.js";
import { packTerms } from "../../layout/packing.js";
import type { SupervisedLayout } from "../../layout/scorings.js";
import { modelHead } from "../../score-head.js";
import type { Term } from "../../terms.js";
import { canvasOf, layCanvas, pushSlots, revealSlots } from "./canvas.js";
import { hasMask, isSerial, type UnmaskOptions } from "./options.js";

/** Default weight of the autoregressive loss. */
const AR_WEIGHT = 0.5;

/**
 * Lays out the supervised loss of masked diffusion: minus the sum of coefficient * log p. Each slot is masked with the
 * probability p of its example; a masked position predicts its own token.
 * A causal model (ReFusion, arXiv 2512.13586, `forward_process`) also predicts, at a clean token, its successor inside
 * the slot; so the first token of a clean slot has no term. A bidirectional model (LLaDA, arXiv 2502.09992, eq. 3) sees
 * the successor, and has no such term.
 * With autoregressive slots, clean slots see the context of a rollout ({@link PartialResponse}): each begins a new
 * round with a probability that its example draws from (0, 1). The slot with EOS is then read again after the masks,
 * which do not see it, so that tokens and EOS predict each other too.
 * Coefficients, with w = 1, times `eosFillWeight` after the first EOS, times `draftWeight` at masks from which no token
 * is drawn:
 *   masked  w / (p * W_b) / B, W_b the sum of w over the example's canvas (the paper's answer length, less EOS fill)
 *   clean   arWeight / (number of the batch's clean terms)
 * Without a template, slots with EOS are always masked, as EOS is never in the context of a rollout. Their coefficient
 * has the inclusion probability 1 in place of p. With a template, given tokens are never masked nor scored, and the
 * ends of other blanks are in the context. Slots after the end of a blank are masked together with the end, else left
 * out.
 * @throws UserError where an example does not fit, or a bidirectional model is to learn an autoregressive loss.
 */
export function corruptBatch(
  examples: readonly SupervisedExample[],
  options: UnmaskOptions,
  layout: SupervisedLayout,
): Batch[] {
  const { responseLength, promptLength, model } = options;
  const { tokens } = model;
  const causal = model.attention === "causal";
  if (!causal && (layout.arWeight ?? 0) > 0) {
    misuse("A bidirectional model has no autoregressive loss: it has seen the token it should predict.", {
      hint: "Set objective.ar_weight=0.",
    });
  }
  const arWeight = causal ? (layout.arWeight ?? AR_WEIGHT) : 0;
  // p = (1 - 1e-3) t + 1e-3: ReFusion's floor, 1/p stays below 1000
  const fractions = stratified(examples.length, layout.rng).map((t) => (1 - 1e-3) * t + 1e-3);
  const drafts = examples.map((example, b) =>
    corruptOne(example, options, fractions[b] as number, examples.length, layout),
  );
  const cleanTerms = drafts.reduce((n, { successors }) => n + successors.length, 0);
  const scored = drafts.map(({ buffer, terms, successors }) => ({
    buffer,
    terms: [...terms, ...successors.map((term) => ({ ...term, coefficient: arWeight / cleanTerms }))],
  }));
  const canvas = responseLength + (isSerial(options.slotFill) ? options.slotSize : 0);
  return packTerms(scored, promptLength + canvas, layout, {
    owner: [0],
    tokens: new Float32Array(1),
    temperature: 1,
    head: modelHead,
    pad: tokens.pad,
    filler: tokens.eos,
  });
}

interface Draft {
  readonly buffer: BufferBuilder;
  readonly terms: readonly Term[];
  /** Predictions of the next token, not yet weighted. */
  readonly successors: readonly Term[];
}

/** @param fraction p of the example's slots. @param of examples of the batch. */
function corruptOne(
  example: SupervisedExample,
  options: UnmaskOptions,
  fraction: number,
  of: number,
  { eosFillWeight, draftWeight = 1, maskGiven, rng }: SupervisedLayout,
): Draft {
  const { slotSize, slotFill, model } = options;
  const causal = model.attention === "causal";
  const { prompt, response, template } = example;
  const fitting = slotSize * Math.ceil((response.length + 1) / slotSize);
  const length = Math.min(options.responseLength, Math.max(canvasOf(prompt, options), fitting));
  const sizes = template === undefined ? { ...options, responseLength: length } : options;
  const { canvas, tokens, ends, isLabelled } = fillCanvas(example, sizes, model.tokens.eos, maskGiven);
  const endOf = (cell: number): number => ends[canvas.blankOf(cell)] as number;
  const written = tokens.map((token, cell) => (cell > endOf(cell) ? undefined : token));
  const inclusion = Array.from({ length: Math.ceil(tokens.length / slotSize) }, (_, slot) =>
    canvas.isFree && (slot + 1) * slotSize > response.length ? 1 : fraction,
  );
  const drawn = inclusion.map((probability) => rng.uniform() < probability);
  // cells after an end are masked with it
  const masked = drawn.map((_, slot) => {
    const [first, end] = [slot * slotSize, endOf(slot * slotSize)];
    return drawn[Math.floor(Math.min(first, end) / slotSize)] as boolean;
  });
  const clean = rng.shuffle(masked.flatMap((isMasked, slot) => (isMasked ? [] : [slot])));
  const revealed = revealSlots(written, slotSize, clean);
  const rounds = isSerial(slotFill) ? drawRounds([...revealed.keys()], slotSize, rng) : undefined;
  const partial = { prompt, canvas, revealed, rounds, slotSize, slotFill };
  const { buffer, indexOf } = layCanvas(partial, tokens.length, model);
  const isDraft = (i: number): boolean => isSerial(slotFill) && i % slotSize > 0;
  // a token without a mask has no prediction
  const drafted = (i: number): number => (hasMask(options, i) ? draftWeight : 0);
  const tokenWeight = (i: number): number =>
    isLabelled(i) ? (i > endOf(i) ? eosFillWeight : 1) * (isDraft(i) ? drafted(i) : 1) : 0;
  const answer = tokens.reduce((sum, _, i) => sum + tokenWeight(i), 0);
  const terms: Term[] = [];
  const successors: Term[] = [];
  tokens.forEach((target, i) => {
    if (!isLabelled(i)) return;
    const slot = Math.floor(i / slotSize);
    if (masked[slot]) {
      if ((indexOf[i] as number) < 0) return;
      const coefficient = tokenWeight(i) / ((inclusion[slot] as number) * answer * of);
      terms.push({ target, segment: 0, row: indexOf[i] as number, coefficient });
    } else if (causal && i % slotSize > 0 && written[i] !== undefined && !canvas.masked.has(i)) {
      successors.push({ target, segment: 0, row: indexOf[i - 1] as number, coefficient: 0 });
    }
  });
  if (rounds !== undefined && canvas.isFree) {
    const slot = Math.floor(response.length / slotSize);
    const before = prompt.length + revealed.size;
    const rows = pushSlots(buffer, revealSlots(response, slotSize, [slot]), slotSize, before);
    for (const [position, row] of rows)
      successors.push({ target: tokens[position + 1] as number, segment: 0, row, coefficient: 0 });
  }
  return { buffer, terms, successors };
}

/**
 * Groups clean slots into rounds: each slot begins a new round with a probability drawn from (0, 1).
 * @param cells of clean slots, in their order.
 * @returns tokens of each round.
 */
function drawRounds(cells: readonly number[], slotSize: number, rng: Rng): number[] {
  const chance = rng.uniform();
  const rounds: number[] = [];
  cells.forEach((cell, i) => {
    const isFirst = i === 0 || Math.floor(cell / slotSize) !== Math.floor((cells[i - 1] as number) / slotSize);
    if (i === 0 || (isFirst && rng.uniform() < chance)) rounds.push(0);
    rounds[rounds.length - 1] = (rounds.at(-1) as number) + 1;
  });
  return rounds;
}
