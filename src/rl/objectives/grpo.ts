/**
 * The old baseline: GRPO (Shao et al. 2024) on autoregressive log-probabilities of the final text, as if the model had
 * written it from left to right. It did not: these are not the probabilities the text was sampled with. Kept because the
 * success criterion compares with it.
 *
 *   l_i  = log p(y_i | prompt, y_<i), the logits shifted by one
 *   loss = mean over tokens of max(-A rho_i, -A clip(rho_i, 1 - eps, 1 + eps)) + beta k3_i
 */
import { z } from "zod";
import { BufferBuilder, bucketLength } from "../../diffusion/buffer.js";
import type { Trajectory } from "../../diffusion/trajectory.js";
import { clippedLoss, clippedOptions } from "../clipped.js";
import type { LayoutContext, Loss, LossInputs, Objective, TermBatch } from "../objective.js";
import { bufferTerms, type ScoredBuffer } from "../terms.js";

const schema = z.strictObject({
  ...clippedOptions,
});

export type GrpoOptions = z.infer<typeof schema>;

export const objective: Objective<GrpoOptions> = {
  name: "grpo",
  description: "the old baseline: clipped ratio per token of the final text read from left to right",
  schema,
  learnsFrom: "rollouts",
  penalty: (o) => o.kl_coeff,

  layout(trajectories: readonly Trajectory[], _: GrpoOptions, context: LayoutContext): TermBatch {
    const terms = context.batch * context.canvas;
    const tokens = new Float32Array(terms);
    const owner: number[] = [];
    const scored = trajectories.map((trajectory, b): ScoredBuffer => {
      const buffer = new BufferBuilder(trajectory.prompt);
      return {
        buffer,
        terms: trajectory.response.map((target, i) => {
          const row = buffer.ids.length - 1;
          buffer.push(target, i);
          tokens[owner.length] = 1;
          owner.push(b);
          return { row, target, coefficient: 1, segment: owner.length - 1 };
        }),
      };
    });
    const length = bucketLength(Math.max(...scored.map((s) => s.buffer.ids.length)), context.lengthStep);
    return bufferTerms(
      scored,
      { batch: context.batch, length, terms, segments: terms },
      owner,
      tokens,
      context.tokens.pad,
    );
  },

  loss: (inputs: LossInputs, o: GrpoOptions): Loss => clippedLoss(inputs, o),
};
