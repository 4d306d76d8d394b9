/**
 * SPG, sandwiched policy gradient (arXiv 2510.09541): a lower bound of log pi for good responses and an upper bound for
 * bad ones, since a lower bound can be reduced by loosening it, without making the response less likely.
 *
 *   loss = -sum_g A_g l_g |y_g| / sum_g |y_g|,  no ratio, no penalty
 *   A >= 0:  l = ELBO / L = (1/L) mean_m sum_{i in M_m} c_m log p_i
 *   A < 0:   l = omega EUBO + (1 - omega) ELBO / L
 *   EUBO = mean_i (1/beta) log mean_m [ 1(i in M_m) c_m p_i^beta ]
 *
 * over the same M masks, c_m = (U + 1) / (masked units) as in the sampler's bound of U units: 1(i in M_m) c_m has mean
 * 1, so that by Jensen's inequality the expected upper bound is not below the lower one. The mean is over the tokens
 * that some mask covers, since the others have no upper bound (as in the official code; the paper sums over all
 * tokens). Masks are drawn as in the lower bound, by slots and not in blocks. A draw without masks counts 0 in both.
 */
import { z } from "zod";
import type { Batch } from "../../../diffusion/layout/batch.js";
import { f32, i64, type NamedTensors } from "../../../onnx/tensors.js";
import type { Tensor, Value } from "../../../onnx/types.js";
import { advantageOptions, episodeCredit } from "../../../rl/credit.js";
import { countEqually } from "../../../rl/layouts.js";
import type { Objective } from "../../../rl/objective.js";

const schema = z.strictObject({
  mc_samples: z.int().min(1).max(1024).default(2).describe("M: masks a response"),
  beta: z.number().min(1).default(1.5).describe("beta of the upper bound"),
  omega: z.number().min(0).max(1).default(0.5).describe("share of the upper bound for responses of negative advantage"),
  ...advantageOptions("center"),
});

/** Least p^beta under the logarithm: that of a padding term, or of a token that no mask covers, is 0. */
const LEAST_MASS = 1e-30;

/**
 * Numbers the tokens [R] that the terms predict; padding adds nothing to token 0. Returns each number's segment [R],
 * and its share [R] of the segment's mean.
 */
function tokenOf({ inputs, segment, coefficient }: Batch): NamedTensors {
  const { rows, position_ids: positions, input_ids: ids } = inputs as Record<string, Tensor>;
  const known = new Map<string, number>();
  const token = BigInt64Array.from({ length: coefficient.length }, (_, r) => {
    if (coefficient[r] === 0) return 0n;
    // a mask predicts its own position, a token of a slot the next one
    const row = Number(rows?.data[r]);
    const key = `${segment[r]}/${positions?.data[row]}/${ids?.data[row]}`;
    const number = known.get(key) ?? known.size;
    known.set(key, number);
    return BigInt(number);
  });
  const owner = new BigInt64Array(coefficient.length);
  token.forEach((number, r) => {
    if (coefficient[r] !== 0) owner[Number(number)] = segment[r] as bigint;
  });
  const covered = new Map<bigint, number>();
  for (const of of owner.subarray(0, known.size)) covered.set(of, (covered.get(of) ?? 0) + 1);
  const share = Float32Array.from(owner, (of, number) => (number < known.size ? 1 / (covered.get(of) as number) : 0));
  return {
    token: i64([token.length], token),
    token_segment: i64([owner.length], owner),
    token_share: f32([share.length], share),
  };
}

export const objective: Objective<z.infer<typeof schema>> = {
  name: "spg",
  description: "policy gradient between a lower bound of the good and an upper bound of the bad responses",
  schema,
  learnsFrom: "rollouts",
  scoring: "masks",
  needs: () => ({ reference: false }),
  unread: () => ({ "training.reference_refresh": "it has no reference" }),
  credit: episodeCredit,
  readsPrompt: false,
  inputs: {
    token: { dtype: "int64", shape: ["R"] },
    token_segment: { dtype: "int64", shape: ["R"] },
    token_share: { dtype: "float32", shape: ["R"] },
  },
  feed: tokenOf,
  layout(trajectories, o, context) {
    const batch = context.boundTerms(trajectories, { samples: o.mc_samples, coupled: false });
    // by length, so that every token has equal weight in every response
    const share = countEqually(batch, String).share as Float32Array;
    return { ...batch, share: share.map((x, s) => x * (batch.units[s] as number)) };
  },
  loss({ e, logProb, logProbs, coefficient, advantage, weight, units, extra }, { beta, omega }) {
    const { token, token_segment, token_share } = extra as Record<"token" | "token_segment" | "token_share", Value>;
    const add = (base: Value, index: Value, updates: Value): Value =>
      e.g.op("ScatterElements", [base, index, updates], { axis: 0, reduction: "add" });
    const powers = e.mul(coefficient, e.exp(e.mul(logProbs, beta)));
    const mass = add(e.mul(token_share, 0), token, powers);
    const upper = e.mul(e.mul(e.log(e.max(mass, LEAST_MASS)), 1 / beta), token_share);
    const eubo = add(e.mul(logProb, 0), token_segment, upper);
    const elbo = e.div(logProb, units);
    const negative = e.indicator(e.less(advantage, 0));
    const mixed = e.add(elbo, e.mul(e.mul(negative, omega), e.sub(eubo, elbo)));
    const average = (v: Value): Value => e.total(e.mul(weight, v));
    return {
      loss: e.neg(average(e.mul(advantage, mixed))),
      metrics: {
        elbo_per_token: { value: average(elbo), reduce: "sum" },
        eubo_per_token: { value: average(eubo), reduce: "sum" },
      },
    };
  },
};
