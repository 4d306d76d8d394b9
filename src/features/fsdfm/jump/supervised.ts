import { misuse } from "../../../core/errors.js";
import { fillCanvas, type SupervisedExample, stratified } from "../../../diffusion/examples.js";
import type { Batch } from "../../../diffusion/layout/batch.js";
import { packTerms } from "../../../diffusion/layout/packing.js";
import type { SupervisedLayout } from "../../../diffusion/layout/scorings.js";
import type { ScoredBuffer } from "../../../diffusion/terms.js";
import { corrupt, flowConditions } from "./bound.js";
import { flowBuffer } from "./canvas.js";
import { generalisedKlHead } from "./heads.js";
import { type JumpOptions, ordinaryTokens } from "./options.js";

/**
 * The supervised loss of discrete flow matching: the generalised KL of bound.ts, averaged over the canvas, kappa
 * stratified over the batch in (0, 1 - 1 / (L + 1)). The prompt and given tokens are never corrupted. With w = 1, or
 * `eosFillWeight` after an end, a token weighs w / ((1 - kappa) * sum of w) / B.
 * @throws UserError where an example does not fit, or an autoregressive loss is asked for.
 */
export function supervisedFlowTerms(
  examples: readonly SupervisedExample[],
  options: JumpOptions,
  layout: SupervisedLayout,
): Batch[] {
  const { arWeight, eosFillWeight, packLength, maskGiven, rng } = layout;
  if (packLength !== undefined) {
    misuse("FS-DFM reads one example a sequence: each has a time of its own.", {
      hint: "Set objective.pack_length=null.",
    });
  }
  if ((arWeight ?? 0) > 0)
    misuse("FS-DFM has no autoregressive loss: it reads the whole canvas.", { hint: "Set objective.ar_weight=0." });
  const { promptLength, responseLength, model } = options;
  const { eos, pad } = model.tokens;
  const ordinary = ordinaryTokens(model);
  const kappas = stratified(examples.length, rng).map((u) => u * (1 - 1 / (responseLength + 1)));
  const scored = examples.map((example, b): ScoredBuffer => {
    const { canvas, tokens, ends, isLabelled } = fillCanvas(example, options, eos, maskGiven);
    const kappa = kappas[b] as number;
    const state = corrupt(tokens, {
      kappa,
      noisy: tokens.map(() => rng.uniform() >= kappa),
      noise: tokens.map(() => rng.pick(ordinary)),
    });
    const weight = (i: number): number =>
      isLabelled(i) ? (i > (ends[canvas.blankOf(i)] as number) ? eosFillWeight : 1) : 0;
    const total = tokens.reduce((sum, _, i) => sum + weight(i), 0);
    const terms = tokens.map((target, i) => ({
      row: example.prompt.length + canvas.given.length + i,
      target,
      coefficient: weight(i) / ((1 - kappa) * total * examples.length),
      segment: 0,
      features: { current: state[i] as number },
    }));
    return {
      buffer: flowBuffer(example.prompt, state, canvas),
      conditions: flowConditions(kappa, options),
      terms,
    };
  });
  return packTerms(scored, promptLength + responseLength, layout, {
    owner: [0],
    tokens: new Float32Array(1),
    temperature: 1,
    head: generalisedKlHead,
    pad,
    filler: eos,
  });
}
