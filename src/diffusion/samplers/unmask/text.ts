import type { Batch } from "../../batch.js";
import { BufferBuilder } from "../../buffer.js";
import type { LayoutSizes } from "../../layouts.js";
import type { SamplerOptions } from "../../sampler.js";
import { policyHead } from "../../score-head.js";
import { bufferTerms, layoutLength, type ScoredBuffer } from "../../terms.js";
import type { TokenTrajectory } from "../../trajectory.js";

/**
 * Responses as if a causal model had written them from left to right: log p(y_i | prompt, y_<i), the logits shifted by
 * one, a segment a token.
 */
export function textTerms(
  trajectories: readonly TokenTrajectory[],
  options: SamplerOptions,
  layout: LayoutSizes,
  temperature = 1,
): Batch {
  const { tokens } = options.model;
  const terms = layout.batch * options.responseLength;
  const counts = new Float32Array(terms);
  const owner: number[] = [];
  const scored = trajectories.map((trajectory, b): ScoredBuffer => {
    const buffer = new BufferBuilder(trajectory.prompt);
    return {
      buffer,
      terms: trajectory.response.map((target, i) => {
        const row = buffer.ids.length - 1;
        buffer.push(target, i);
        counts[owner.length] = 1;
        owner.push(b);
        return { row, target, coefficient: 1, segment: owner.length - 1, features: { eos_allowed: 1 } };
      }),
    };
  });
  return bufferTerms(
    scored,
    { batch: layout.batch, length: layoutLength(scored, layout), terms, segments: terms },
    { owner, tokens: counts, temperature, head: policyHead, pad: tokens.pad, filler: tokens.eos },
  );
}
