import { z } from "zod";
import { misuse } from "../core/errors.js";
import type { Scoring } from "../diffusion/layout/scorings.js";
import type { Emitter } from "../onnx/emit.js";
import type { Value } from "../onnx/types.js";
import { episodeCredit } from "./credit.js";
import type { Loss, LossInputs, UnreadConfig } from "./objective.js";
import type { WeighingOptions } from "./weighing.js";

/** Options of the clip range of a ratio, for every objective that has one. @param eps its default. */
export const clipOptions = (eps: number) => ({
  clip_range: z.number().positive().lt(1).default(eps).describe("eps: the ratio is clipped to 1 +- eps"),
  clip_range_low: z.number().positive().lt(1).nullable().default(null).describe("eps below 1; null: clip_range"),
  clip_range_high: z.number().positive().nullable().default(null).describe("eps above 1; null: clip_range"),
});

/** Options shared by every objective with a clipped surrogate. @param eps default range of the ratio. */
export const ratioOptions = (eps: number) => ({
  ...clipOptions(eps),
  surrogate: z
    .enum(["ppo", "cispo"])
    .default("ppo")
    .describe(
      "ppo: a ratio that is clipped has no gradient; cispo: the clipped ratio weighs the gradient of every term",
    ),
  entropy_coeff: z.number().min(0).default(0).describe("weight of the mean entropy of a token, which is rewarded"),
  length_norm: z
    .union([z.enum(["own", "segment", "response"]), z.number().positive()])
    .default("own")
    .describe(
      "what has equal weight: segment = each ratio of a step, response = each response, own = as in the objective's paper; " +
        "a number C divides the sum over a response by C (Dr. GRPO)",
    ),
  importance_cap: z
    .number()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      "C of truncated importance sampling from the policy that sampled to the one before the update; null: the ratio begins at the recorded values",
    ),
});

export type RatioOptions = z.infer<z.ZodObject<ReturnType<typeof ratioOptions>>>;
/** The {@link RatioOptions} that a loss reads. */
export type SurrogateOptions = Pick<RatioOptions, "surrogate"> & Partial<RatioOptions>;

/** Returns the bounds to which ratios are clipped. */
export function clipBounds(o: Partial<RatioOptions>): readonly [low: number, high: number] {
  const side = (bound: number | null | undefined): number => bound ?? (o.clip_range as number);
  return [1 - side(o.clip_range_low), 1 + side(o.clip_range_high)];
}

/** Tells whether the ratio has no gradient. */
export function holdsRatio({ surrogate }: Pick<SurrogateOptions, "surrogate">): boolean {
  return surrogate === "cispo";
}

/**
 * Returns the reason not to read `importance_cap` where rollouts do not record what the ratio is of: then only an older
 * policy, which can score it, gives the weights.
 */
export function withoutRecords(why: string, config: UnreadConfig | undefined): Readonly<Record<string, string>> {
  if ((config?.distributed?.staleness ?? 0) > 0) return {};
  return { "objective.importance_cap": `${why}; it weighs those of an older policy (distributed.staleness) alone` };
}

/** The members that objectives with {@link ratioOptions} and a penalty to the reference share. */
export const ratioObjective = (scoring: Scoring) => ({
  learnsFrom: "rollouts" as const,
  scoring,
  needs: (o: { readonly kl_coeff: number }) => ({ reference: o.kl_coeff > 0 }),
  unread: (
    o: Partial<RatioOptions> & { readonly kl_coeff: number },
    config?: UnreadConfig,
  ): Readonly<Record<string, string>> => ({
    ...(o.kl_coeff === 0 && { "training.reference_refresh": "objective.kl_coeff=0 compares with no reference" }),
    ...(scoring !== "steps" &&
      withoutRecords("its ratios are not of the probabilities that a rollout records", config)),
    ...(o.clip_range_low != null &&
      o.clip_range_high != null && {
        "objective.clip_range": "clip_range_low and clip_range_high are set",
      }),
  }),
  credit: episodeCredit,
  held: (o: Pick<SurrogateOptions, "surrogate">): readonly ("ratio" | "states")[] => (holdsRatio(o) ? ["ratio"] : []),
  weighing: (o: WeighingOptions): WeighingOptions => o,
});

/**
 * The surrogate [S] of each segment, from l and the ratio rho = exp(l - l_old):
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

/** 1 where a value [S] is outside the bounds, else 0. */
export function outside(e: Emitter, v: Value, [low, high]: readonly [low: number, high: number]): Value {
  return e.indicator(e.g.op("Or", [e.less(v, low), e.greater(v, high)]));
}

/** Measures a ratio [S]: its mean, its maximum and distance from 1, and the share outside the clip bounds. */
export function ratioMetrics(
  { e, weight }: Pick<LossInputs, "e" | "weight">,
  ratio: Value,
  bounds: readonly [low: number, high: number],
): Loss["metrics"] {
  const real = e.indicator(e.greater(weight, 0));
  const largest = (v: Value): Value => e.maxOver(e.mul(real, v), [0], false);
  return {
    ratio_mean: { value: e.total(e.mul(weight, ratio)), reduce: "sum" },
    ratio_max: { value: largest(ratio), reduce: "max" },
    ratio_error: { value: largest(e.g.op("Abs", [e.sub(ratio, 1)])), reduce: "max" },
    clip_fraction: { value: e.total(e.mul(weight, outside(e, ratio, bounds))), reduce: "sum" },
  };
}

/**
 * Adds the entropy bonus to a loss: minus entropy_coeff times the mean over segments of the mean entropy [nats] of
 * their tokens' distributions (Williams & Peng 1991; A3C, arXiv 1602.01783), exact over the vocabulary.
 * @throws UserError where the sampler's terms have no distribution over tokens.
 */
export function withEntropy({ loss, metrics }: Loss, inputs: LossInputs, coefficient: number | undefined): Loss {
  if (coefficient === undefined || coefficient === 0) return { loss, metrics };
  const { e, weight } = inputs;
  if (inputs.entropy === undefined)
    misuse("objective.entropy_coeff: this sampler's terms are of no distribution over tokens.", {
      hint: "Set it to 0, or use a sampler that draws tokens (unmask, autoregressive).",
    });
  const entropy = e.total(e.mul(weight, inputs.entropy()));
  return {
    loss: e.sub(loss, e.mul(entropy, coefficient)),
    metrics: { ...metrics, entropy: { value: entropy, reduce: "sum" } },
  };
}
