import { UserError } from "../../../core/errors.js";
import type { Batch } from "../../batch.js";
import type { SupervisedLayout } from "../../layouts.js";
import { modelHead } from "../../score-head.js";
import { fillCanvas, type SupervisedExample, stratified } from "../../supervised.js";
import { bufferTerms, type ScoredBuffer, type Term } from "../../terms.js";
import { layCanvas, revealSlots } from "./canvas.js";
import type { UnmaskOptions } from "./options.js";

/** Weight of the autoregressive loss where the config names none. */
const AR_WEIGHT = 0.5;

/**
 * The supervised loss of masked diffusion as a batch: minus the sum of coefficient * log p. Each slot is masked with the
 * example's probability p; a masked position predicts its own token. A causal model (ReFusion, arXiv 2512.13586,
 * `forward_process`) also predicts, at a clean token, its successor inside the slot (so a clean slot's first token has
 * no term); a bidirectional one (LLaDA, arXiv 2502.09992, eq. 3) has seen the successor and gets no such term.
 * With w = 1, or `eosFillWeight` behind the first EOS:
 *   masked  w / (p * W_b) / B, W_b the sum of w over the example's canvas (the paper's answer length, EOS fill discounted)
 *   clean   arWeight / (number of the batch's clean terms)
 * Slots that hold EOS are always masked, as in a rollout, where no EOS is ever in the context; their loss then has the
 * weight of inclusion probability 1 instead of p.
 * @throws UserError where an example does not fit, or an autoregressive loss is asked of a bidirectional model.
 */
export function corruptBatch(
  examples: readonly SupervisedExample[],
  options: UnmaskOptions,
  { arWeight: asked, eosFillWeight, rng }: SupervisedLayout,
): Batch {
  const { slotSize, responseLength, promptLength, model } = options;
  const { tokens } = model;
  const causal = model.attention === "causal";
  if (!causal && (asked ?? 0) > 0) {
    throw new UserError("A bidirectional model has no autoregressive loss: it has seen the token it should predict.", {
      hint: "Set objective.ar_weight=0.",
      exitCode: 2,
    });
  }
  const arWeight = causal ? (asked ?? AR_WEIGHT) : 0;
  // p = (1 - 1e-3) t + 1e-3: ReFusion's floor, 1/p stays below 1000
  const fractions = stratified(examples.length, rng).map((t) => (1 - 1e-3) * t + 1e-3);
  const slots = responseLength / slotSize;
  let cleanTerms = 0;
  const drafts = examples.map((example, b) => {
    const canvas = fillCanvas(example, options, tokens.eos);
    const tokenWeight = (i: number): number => (i > example.response.length ? eosFillWeight : 1);
    const inclusion = Array.from({ length: slots }, (_, slot) => {
      const holdsEos = (slot + 1) * slotSize > example.response.length;
      return holdsEos ? 1 : (fractions[b] as number);
    });
    const masked = inclusion.map((probability) => rng.uniform() < probability);
    const clean = rng.shuffle(masked.flatMap((isMasked, slot) => (isMasked ? [] : [slot])));
    const { buffer, indexOf } = layCanvas(
      canvas.prompt,
      revealSlots(canvas.response, slotSize, clean),
      responseLength,
      model,
    );
    let answer = 0;
    for (let i = 0; i < responseLength; i++) answer += tokenWeight(i);
    const terms: Term[] = [];
    const successors: Term[] = [];
    for (let i = 0; i < responseLength; i++) {
      const slot = Math.floor(i / slotSize);
      const term = { target: canvas.response[i] as number, segment: 0 };
      if (masked[slot]) {
        const coefficient = tokenWeight(i) / ((inclusion[slot] as number) * answer * examples.length);
        terms.push({ ...term, row: indexOf[i] as number, coefficient });
      } else if (causal && i % slotSize > 0) {
        successors.push({ ...term, row: indexOf[i - 1] as number, coefficient: arWeight });
        cleanTerms++;
      }
    }
    return { buffer, terms, successors };
  });
  const scored = drafts.map(
    ({ buffer, terms, successors }): ScoredBuffer => ({
      buffer,
      terms: [...terms, ...successors.map((t) => ({ ...t, coefficient: t.coefficient / cleanTerms }))],
    }),
  );
  return bufferTerms(
    scored,
    {
      batch: examples.length,
      length: promptLength + responseLength,
      terms: examples.length * responseLength,
      segments: 1,
    },
    {
      owner: [0],
      tokens: new Float32Array(1),
      temperature: 1,
      head: modelHead,
      pad: tokens.pad,
      filler: tokens.eos,
    },
  );
}
