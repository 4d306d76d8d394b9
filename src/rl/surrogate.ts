import { z } from "zod";
import type { Emitter } from "../onnx/emit.js";
import type { Value } from "../onnx/types.js";

/** Options that mean the same in every objective with a clipped ratio. */
export const surrogateOptions = {
  surrogate: z
    .enum(["ppo", "cispo"])
    .default("ppo")
    .describe(
      "ppo: a ratio that is clipped has no gradient; cispo: the clipped ratio weighs the gradient of every term",
    ),
};

export interface SurrogateOptions {
  readonly surrogate: "ppo" | "cispo";
  /** eps where a side names none of its own. */
  readonly clip_range?: number;
  readonly clip_range_low?: number | null;
  readonly clip_range_high?: number | null;
}

/** What ratios are clipped to. */
export function clipBounds(o: Omit<SurrogateOptions, "surrogate">): readonly [low: number, high: number] {
  const side = (own: number | null | undefined): number => own ?? (o.clip_range as number);
  return [1 - side(o.clip_range_low), 1 + side(o.clip_range_high)];
}

/** Whether gradients do not pass the ratio. */
export function holdsRatio({ surrogate }: Pick<SurrogateOptions, "surrogate">): boolean {
  return surrogate === "cispo";
}

/**
 * The surrogate of each segment [S], of l and the ratio rho = exp(l - l_old):
 *   ppo    max(-A rho, -A clip(rho, 1 - eps_low, 1 + eps_high))           Schulman et al. 2017; DAPO (arXiv 2503.14476)
 *   cispo  -A l sg(clip(rho, 1 - eps_low, 1 + eps_high))                  MiniMax-M1 (arXiv 2506.13585)
 */
export function surrogateOf(
  e: Emitter,
  { ratio, logProb, advantage }: { readonly ratio: Value; readonly logProb: Value; readonly advantage: Value },
  o: SurrogateOptions,
): Value {
  const clipped = e.clip(ratio, ...clipBounds(o));
  const gain = e.neg(advantage);
  if (holdsRatio(o)) return e.mul(e.mul(gain, e.stopGradient(clipped)), logProb);
  return e.max(e.mul(gain, ratio), e.mul(gain, clipped));
}
