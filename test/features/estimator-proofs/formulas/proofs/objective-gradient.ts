import { closing } from "../../../../../src/core/closing.js";
import type { Batch } from "../../../../../src/diffusion/batch.js";
import type { Engine } from "../../../../../src/engine/engine.js";
import { linearObjective } from "../../../../../src/features/estimator-proofs/linear-objective.js";
import { inner } from "../../../../../src/features/verify/direction.js";
import {
  figures,
  type Measurement,
  type ObjectiveOnTrial,
  onePerScoring,
  type Proof,
  type VerifyContext,
} from "../../../../../src/features/verify/proof.js";
import type { Tensor } from "../../../../../src/onnx/types.js";
import { sameValues } from "../../../../../src/train/micro-batch.js";
import { type FormulaOptions, hasFormula, lossFormula } from "../formulas.js";
import { type OffPolicy, openOffPolicy, tempered } from "../off-policy.js";
import { headParameters, type Prepared, prepare } from "../prepared-step.js";

/** Tolerance of float32 gradients after two passes through the network, relative to their norm. */
const LIMIT = 1e-2;

/**
 * Compares training_model's loss and gradient off policy with the gradient of a weighted sum of log-probabilities, with
 * weights from the formula in float64 (formulas.ts). The entropy bonus is included where it is supported.
 */
export async function measureObjectiveGradient(context: VerifyContext): Promise<Measurement[]> {
  const away = await openOffPolicy(context);
  const all = new Map<string, Weighed | string>();
  for (const trial of onePerScoring(context.objectives.filter(({ objective }) => hasFormula(objective.name))))
    all.set(`${trial.objective.name}: adapter's gradient`, await weigh(context, away, trial));
  if (all.size === 0) return [];
  await using policy = closing(await context.open({ objective: linearObjective, options: {} }));
  await policy.engine.setParameters("policy", away.policies.now);
  const measurements: Measurement[] = [];
  for (const [name, weighed] of all) {
    const figure = typeof weighed === "string" ? ([Infinity, weighed] as const) : await compare(policy.engine, weighed);
    measurements.push(...figures(LIMIT, [[name, ...figure]]));
  }
  return measurements;
}

/** An objective's gradient, and batches whose weighted sum of log-probabilities should have the same gradient. */
interface Weighed {
  readonly lossError: number;
  readonly gradient: ReadonlyMap<string, Tensor>;
  readonly sums: readonly Batch[];
}

/** Stencil of the derivative by the logarithm of the inverse temperature, with an error of order h^4. */
const STENCIL = [
  [-2, 1],
  [-1, -8],
  [1, 8],
  [2, -1],
] as const;
const SHARPER = 0.04;

/**
 * Runs the whole training graph with an objective's options, and the entropy bonus where it is supported.
 * @returns a text if the step cannot be compared with the formula.
 */
async function weigh(context: VerifyContext, away: OffPolicy, own: ObjectiveOnTrial): Promise<Weighed | string> {
  const { objective } = own;
  const { sampler } = context.policy;
  const hasEntropy = "entropy_coeff" in objective.schema.shape && sampler.scoreHeads[0]?.distribution !== undefined;
  const trial = hasEntropy ? { objective, options: { ...(own.options as object), entropy_coeff: 0.2 } } : own;
  const prepared = await prepare(context, away, trial);
  if (typeof prepared === "string") return prepared;
  const { batches, scored: plain } = prepared;
  const entropies = hasEntropy ? await entropiesOf(away, prepared) : [];
  const terms = plain.terms.map((term, i) => ({ ...term, entropy: entropies[i] ?? 0 }));
  const formula = lossFormula(objective.name, { ...plain, terms }, trial.options as FormulaOptions);
  const { loss: expected, slopes, entropySlopes } = formula;
  await using policy = closing(await context.open(trial));
  const { engine } = policy;
  const parameters = new Map([
    ...(await engine.getParameters("policy")),
    ...headParameters(context, trial),
    ...away.policies.now,
  ]);
  await engine.setParameters("policy", parameters);
  let loss = 0;
  for (const { batch, values } of batches) loss += (await engine.accumulate(batch, values)).loss as number;
  const gradient = await engine.getGradients();
  let next = 0;
  const sums = batches.flatMap(({ own: { batch, terms: of } }) => {
    const weights = new Float32Array(batch.coefficient.length);
    const bonus = new Float32Array(batch.coefficient.length);
    for (const { r } of of) {
      // H = d log p / d log(1 / tau) - log p
      weights[r] = (slopes[next] as number) - (entropySlopes[next] as number);
      bonus[r] = (entropySlopes[next] as number) / (12 * SHARPER);
      next++;
    }
    const at = STENCIL.map(([k, c]) => ({
      ...tempered(batch, 1 + k * SHARPER),
      coefficient: bonus.map((x) => c * x),
    }));
    return [{ ...batch, coefficient: weights }, ...(hasEntropy ? at : [])];
  });
  return { lossError: Math.abs(loss - expected) / Math.max(Math.abs(expected), 0.1), gradient, sums };
}

/**
 * Computes the entropy of each term's distribution: for p ~ exp(b z), d log p / d b = z - E z, so that
 * b d log p / d b - log p = log sum exp(b z) - b E z, whatever token was drawn.
 */
async function entropiesOf(away: OffPolicy, { batches }: Prepared): Promise<number[]> {
  const all: number[] = [];
  for (const { own } of batches) {
    const at = async (sharper: number) => (await away.score(own.batch, "now", sharper)).logProbs;
    const base = await at(1);
    const slope = new Float64Array(base.length);
    for (const [k, c] of STENCIL) {
      const logProbs = await at(1 + k * SHARPER);
      for (const { r } of own.terms) slope[r] = (slope[r] as number) + (c * (logProbs[r] as number)) / (12 * SHARPER);
    }
    all.push(...own.terms.map(({ r }) => (slope[r] as number) - (base[r] as number)));
  }
  return all;
}

/** @param engine has the objective {@link linearObjective}. */
async function compare(
  engine: Engine,
  { lossError, gradient, sums }: Weighed,
): Promise<readonly [measured: number, detail: string]> {
  engine.discardGradients();
  for (const batch of sums) await engine.accumulate(batch, sameValues(new Float32Array(batch.segments)));
  const expected = await engine.getGradients();
  const own = new Map([...gradient].filter(([key]) => expected.has(key)));
  const [x, y] = [inner(expected, expected), inner(own, own)];
  const error = Math.sqrt(Math.max(0, x + y - 2 * inner(expected, own)) / x);
  const detail = `off by ${error.toExponential(1)} of its length, the loss by ${lossError.toExponential(1)}`;
  return [Math.max(error, lossError), detail];
}

export const proof: Proof = {
  claim: "the adapter's gradient off policy is that of the formula, of every scoring",
  run: (context) => measureObjectiveGradient(context),
};
