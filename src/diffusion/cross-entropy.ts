import type { TokenBuffer } from "../attention/rows.js";
import { misuse } from "../core/errors.js";
import { fillCanvas, type SupervisedExample } from "./examples.js";
import type { Batch } from "./layout/batch.js";
import { packTerms } from "./layout/packing.js";
import type { SupervisedLayout } from "./layout/scorings.js";
import type { SamplerOptions } from "./sampler.js";
import { modelHead } from "./score-head.js";

/**
 * Lays out the mean cross-entropy of all tokens of the responses. Each token, ends included, is predicted from the one
 * before it.
 * @param option the config setting that messages name, as `sampler.kind=autoregressive`.
 * @param lay lays out an example: prompt, given tokens, and the response with its ends. `rows`: the buffer index of the
 *   row that predicts each token of the response.
 * @throws UserError where an example does not fit, or the objective asks for masks or weighs two losses.
 */
export function crossEntropy(
  examples: readonly SupervisedExample[],
  options: SamplerOptions,
  layout: SupervisedLayout,
  option: string,
  lay: (example: SupervisedExample) => { readonly buffer: TokenBuffer; readonly rows: readonly number[] },
): Batch[] {
  if (layout.maskGiven)
    misuse(`${option} masks nothing: what is given is read, and never written.`, {
      hint: "Set objective.mask_given=false.",
    });
  if (layout.arWeight !== null)
    misuse(`${option} has one loss, the autoregressive one: there is nothing to weigh.`, {
      hint: "Set objective.ar_weight=null.",
    });
  const { pad, eos } = options.model.tokens;
  const written = examples.map((example) => {
    const { canvas, isLabelled } = fillCanvas(example, options, eos);
    const response = canvas.isFree ? [...example.response, eos] : example.response;
    return { example: { ...example, response }, labelled: canvas.cellsOf(response, eos).map(isLabelled) };
  });
  const total = written.reduce((n, { labelled }) => n + labelled.filter(Boolean).length, 0);
  const scored = written.map(({ example, labelled }) => {
    const { buffer, rows } = lay(example);
    const terms = example.response.map((target, i) => ({
      row: rows[i] as number,
      target,
      coefficient: 1 / total,
      segment: 0,
    }));
    return { buffer, terms: terms.filter((_, i) => labelled[i]) };
  });
  return packTerms(scored, options.promptLength + options.responseLength, layout, {
    owner: [0],
    tokens: new Float32Array(1),
    temperature: 1,
    head: modelHead,
    pad,
    filler: eos,
  });
}
