import { objectiveRefusal } from "../../../../../src/engine/scoring-check.js";
import type { Measurement, ObjectiveOnTrial, Proof, VerifyContext } from "../../../../../src/features/verify/proof.js";
import { type FormulaOptions, hasFormula, lossFormula } from "../formulas.js";
import { runLossHead } from "../loss-head.js";
import { type OffPolicy, openOffPolicy } from "../off-policy.js";
import { headParameters, prepare } from "../prepared-step.js";

/** Tolerance of float32 against float64: of the loss, and of a term's gradient relative to the root mean square. */
const LIMIT = 2e-3;
/** Nats by which one term of each micro-batch is moved to reach the penalty's clamp. */
const FAR = 12;
/** Sets of options, tried with each objective that has them. */
const VARIANTS: readonly FormulaOptions[] = [
  {},
  { clip_range_low: 0.05, clip_range_high: 0.3, kl_coeff: 0.3 },
  { surrogate: "cispo", advantage: "leave_one_out", adv_clip_max: 0.4, clip_range_high: 0.1 },
  { surrogate: "cispo", length_norm: "response", kl_coeff: 0.2 },
  { length_norm: "segment", advantage: "center", kl_coeff: 0.1 },
  { length_norm: 7, turn_credit: "turn", discount: 0.8 },
  { discount: 0.7, importance_cap: 1.02, advantage: "group" },
  { importance_cap: 1, importance_beyond: "mask", importance_level: "response" },
  { ratio_level: "token", reduction: "mean", ratio_clamp: 0.1 },
  { ratio_level: "token", turn_credit: "part" },
  { ratio_level: "sequence", length_norm: "response" },
  { ratio_level: "sequence", reduction: "mean", turn_credit: "turn" },
  { reduction: "mean", steps_per_update: 2 },
  { steps_per_update: 2, length_norm: 5 },
  { top_steps: 1 },
  { mc_samples: 3, coupled: false },
  { mc_samples: 2, points: 2 },
  { points: 4, kl_coeff: 0.5 },
  { omega: 0.2, beta: 1.2 },
  { psi: 1.5 },
  { beta: 2, clip_range_low: 0.4, adv_clip_max: 0.5 },
];

/**
 * Compares each objective's loss and gradient off policy with its formula in float64 (formulas.ts). Sampling,
 * old, trained and reference policy all differ. Credit, layout, weights, old values and the loss head are computed as
 * in a training step; the formula takes only log-probabilities from the engine.
 */
export async function measureObjectiveFormula(context: VerifyContext): Promise<Measurement[]> {
  const away = await openOffPolicy(context);
  const { sampler, options: sampling } = context.policy;
  const measurements: Measurement[] = [];
  for (const { objective, options } of context.objectives.filter((trial) => hasFormula(trial.objective.name))) {
    const { schema } = objective;
    const measure = async (own: unknown, of: string, far?: number) =>
      measurements.push(await measureHead(context, away, { objective, options: own }, of, far));
    const seen = new Set<string>();
    for (const variant of VARIANTS) {
      const own = Object.entries(variant).filter(([name]) => name in schema.shape);
      const parsed = schema.safeParse(Object.fromEntries(own));
      const name = own.map(([key, value]) => `${key}=${value}`).join(" ");
      const partly = own.length < Object.keys(variant).length && "ratio_level" in variant;
      if (!parsed.success || seen.has(name) || partly) continue;
      seen.add(name);
      if (objectiveRefusal(objective, sampler, sampling, objective.needs(parsed.data))) continue;
      await measure(parsed.data, name || "defaults");
    }
    if ("kl_coeff" in schema.shape) await measure(options, "far from the reference", FAR);
  }
  return measurements;
}

/** Runs the loss head alone on scored log-probabilities. */
async function measureHead(
  context: VerifyContext,
  away: OffPolicy,
  trial: ObjectiveOnTrial,
  of: string,
  far = 0,
): Promise<Measurement> {
  const { name: kind } = trial.objective;
  const name = `${kind}: ${of}`;
  const prepared = await prepare(context, away, trial, far);
  if (typeof prepared === "string") return { name, measured: Infinity, limit: LIMIT, detail: prepared };
  const { batches, scored } = prepared;
  const inputs = await Promise.all(
    batches.map(async (micro) => {
      const logProbs = (await away.score(micro.own.batch, "now")).logProbs.slice();
      const first = micro.own.terms[0]?.r as number;
      logProbs[first] = (logProbs[first] as number) - far;
      return { ...micro, logProbs };
    }),
  );
  const outputs = await runLossHead(context.policy, trial, inputs, headParameters(context, trial));
  const loss = outputs.reduce((sum, out) => sum + out.loss, 0);
  const { loss: expected, slopes } = lossFormula(kind, scored, trial.options as FormulaOptions);
  let next = 0;
  const errors = outputs.map(({ gradient }, i) => {
    // the gradient by all other terms is 0
    const wanted = new Float64Array(gradient.length);
    for (const { r } of batches[i]?.own.terms ?? []) wanted[r] = slopes[next++] as number;
    return Math.max(...gradient.map((x, r) => Math.abs(x - (wanted[r] as number))));
  });
  const typical = Math.sqrt(slopes.reduce((a, x) => a + x * x, 0) / slopes.length);
  const slopeError = Math.max(...errors) / typical;
  const lossError = Math.abs(loss - expected) / Math.max(Math.abs(expected), 0.1);
  return {
    name,
    measured: Math.max(slopeError, lossError),
    limit: LIMIT,
    detail: `loss ${expected.toPrecision(4)} off by ${lossError.toExponential(1)}, gradient of ${scored.terms.length} log-probabilities by ${slopeError.toExponential(1)}`,
  };
}

export const proof: Proof = {
  claim: "every objective's loss and gradient off policy are what its formula says",
  run: (context) => measureObjectiveFormula(context),
};
