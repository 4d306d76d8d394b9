import type { Batch } from "../../layout/batch.js";
import type { LayoutSizes } from "../../layout/scorings.js";
import { layText } from "../../layout/text.js";
import type { SamplerOptions } from "../../sampler.js";
import { constrainedHead, policyHead } from "../../score-head.js";
import { Canvas } from "../../template.js";
import { bufferTerms, layoutLength, type ScoredBuffer } from "../../terms.js";
import type { TokenTrajectory } from "../../trajectory.js";

/**
 * Scores responses as if a causal model had written them from left to right (of a template the values and their ends,
 * given all before them): log p(y_i | prompt, y_<i), the logits shifted by one, one segment per token.
 * @param constrained blanks with options were written by constrained decoding.
 */
export function textTerms(
  trajectories: readonly TokenTrajectory[],
  options: SamplerOptions,
  layout: LayoutSizes,
  temperature = 1,
  constrained = false,
): Batch {
  const { tokens } = options.model;
  const owner: number[] = [];
  const scored = trajectories.map((trajectory, b): ScoredBuffer => {
    const { response } = trajectory;
    const { buffer, rows } = layText(trajectory, tokens.eos);
    const allowed = constrained ? allowedInText(trajectory, tokens.eos) : [];
    return {
      buffer,
      terms: response.map((target, i) => {
        const row = rows[i] as number;
        owner.push(b);
        return {
          row,
          target,
          coefficient: 1,
          segment: owner.length - 1,
          features: { eos_allowed: 1 },
          allowed: allowed[i],
        };
      }),
    };
  });
  return bufferTerms(
    scored,
    { batch: layout.batch, length: layoutLength(scored, layout), segments: owner.length, share: layout.share },
    {
      owner,
      tokens: new Float32Array(owner.length).fill(1),
      temperature,
      head: constrained ? constrainedHead : policyHead,
      pad: tokens.pad,
      filler: tokens.eos,
    },
  );
}

/** Returns the tokens among which each token of a text was drawn, where a blank has options; undefined: all. */
export function allowedInText(
  { template, response }: Pick<TokenTrajectory, "template" | "response">,
  eos: number,
): (readonly number[] | undefined)[] {
  const canvas = Canvas.of(template);
  const cells = canvas.cellsOf(response, eos);
  const allowed = canvas.allowedAt(
    cells.map((cell, i) => [cell, response[i] as number]),
    eos,
  );
  return cells.map((cell) => allowed.get(cell));
}
