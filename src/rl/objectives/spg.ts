/**
 * SPG, sandwiched policy gradient (arXiv 2510.09541): a lower bound of log pi for good responses and an upper bound for
 * bad ones, since a lower bound can be lowered by loosening it, which makes no response less likely.
 *
 *   loss = -sum_g A_g l_g |y_g| / sum_g |y_g|,  no ratio, no penalty
 *   A >= 0:  l = ELBO / L = (1/L) mean_m sum_{i in M_m} c_m log p_i
 *   A < 0:   l = omega EUBO / L + (1 - omega) ELBO / L
 *   EUBO = sum_i (1/beta) log mean_m [ 1(i in M_m) c_m p_i^beta ]
 *
 * over the same M masks, c_m = 1 / (share of masked units) as the sampler's bound has it. A token that no mask covers has
 * no upper bound and is left out of it. Masks are drawn as in the lower bound, not in blocks.
 */
import { z } from "zod";
import type { Batch } from "../../diffusion/batch.js";
import { i64, type NamedTensors } from "../../onnx/tensors.js";
import type { Value } from "../../onnx/types.js";
import { advantageOptions, episodeCredit } from "../credit.js";
import { countEqually } from "../layouts.js";
import type { Objective } from "../objective.js";

const schema = z.strictObject({
  mc_samples: z.int().min(1).default(2).describe("M: masks a response"),
  beta: z.number().min(1).default(1.5).describe("beta of the upper bound"),
  omega: z.number().min(0).max(1).default(0.5).describe("share of the upper bound for responses of negative advantage"),
  ...advantageOptions("center"),
});

export type SpgOptions = z.infer<typeof schema>;

/** p^beta of a term that is padding or that no mask covers. */
const NOTHING = 1e-30;

/** The token [R] that each term predicts, numbered; padding adds nothing to token 0. Of each number its segment [R]. */
function tokenOf({ inputs, segment, coefficient }: Batch): NamedTensors {
  const [rows, positions] = [inputs.rows?.data, inputs.position_ids?.data] as [BigInt64Array, BigInt64Array];
  const known = new Map<string, number>();
  const token = BigInt64Array.from({ length: coefficient.length }, (_, r) => {
    if (coefficient[r] === 0) return 0n;
    const key = `${segment[r]}/${positions[Number(rows[r])]}`;
    const number = known.get(key) ?? known.size;
    known.set(key, number);
    return BigInt(number);
  });
  const owner = new BigInt64Array(coefficient.length);
  token.forEach((number, r) => {
    if (coefficient[r] !== 0) owner[Number(number)] = segment[r] as bigint;
  });
  const real = Float32Array.from(owner, (_, number) => (number < known.size ? 1 : 0));
  return {
    token: i64([token.length], token),
    token_segment: i64([owner.length], owner),
    token_real: { dtype: "float32", shape: [real.length], data: real },
  };
}

export const objective: Objective<SpgOptions> = {
  name: "spg",
  description: "policy gradient between a lower bound of the good and an upper bound of the bad responses",
  schema,
  learnsFrom: "rollouts",
  scoring: "bound",
  needs: () => ({ reference: false }),
  credit: episodeCredit,
  inputs: {
    token: { dtype: "int64", shape: ["R"] },
    token_segment: { dtype: "int64", shape: ["R"] },
    token_real: { dtype: "float32", shape: ["R"] },
  },
  feed: tokenOf,
  layout(trajectories, o, context) {
    const batch = context.boundTerms(trajectories, { samples: o.mc_samples, coupled: false });
    // by length: a token counts the same in every response
    const share = countEqually(batch, String).share as Float32Array;
    return { ...batch, share: share.map((x, s) => x * (batch.units[s] as number)) };
  },
  loss({ e, value, logProbs, coefficient, advantage, weight, units, extra }, { beta, omega }) {
    const { token, token_segment, token_real } = extra as Record<"token" | "token_segment" | "token_real", Value>;
    const add = (base: Value, index: Value, updates: Value): Value =>
      e.g.op("ScatterElements", [base, index, updates], { axis: 0, reduction: "add" });
    const powers = e.mul(coefficient, e.exp(e.mul(logProbs, beta)));
    const mass = add(e.mul(token_real, 0), token, powers);
    const upper = e.mul(e.mul(e.log(e.max(mass, NOTHING)), 1 / beta), token_real);
    const eubo = e.div(add(e.mul(value, 0), token_segment, upper), units);
    const elbo = e.div(value, units);
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
