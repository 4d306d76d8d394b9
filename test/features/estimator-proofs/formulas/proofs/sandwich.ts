import { closing } from "../../../../../src/core/closing.js";
import { mean } from "../../../../../src/core/statistics.js";
import { boundTerms, drawMask, type MaskDraw } from "../../../../../src/diffusion/samplers/unmask/elbo.js";
import type { UnmaskOptions } from "../../../../../src/diffusion/samplers/unmask/options.js";
import type { UnmaskTrajectory } from "../../../../../src/diffusion/samplers/unmask/trajectory.js";
import { distinct, revealOrders, shortResponse } from "../../../../../src/features/estimator-proofs/proofs/elbo.js";
import {
  figures,
  type Measurement,
  type ObjectiveOnTrial,
  type Proof,
  type VerifyContext,
} from "../../../../../src/features/verify/proof.js";
import type { Tensor } from "../../../../../src/onnx/types.js";
import type { LayoutContext } from "../../../../../src/rl/objective.js";
import { sameValues } from "../../../../../src/train/micro-batch.js";

const LIMIT = 1e-4;

/**
 * Verifies SPG's two bounds exactly, on all masks of a short response weighted by their probabilities:
 *
 *   ELBO <= log pi <= L EUBO(beta = L),   EUBO(beta) >= ELBO / L for every beta >= 1
 *
 * pi is the probability of the text if one slot a step is revealed in random order: pi = E Pi_i X_i over orders, with
 * X_i that of token i when it is revealed. The lower bound is Jensen's; the upper one, for beta = L, is Hoelder's
 * inequality E Pi_i X_i <= Pi_i (E X_i^L)^(1/L). For a smaller beta, as in the options, only the second line holds.
 */
export async function measureSandwich(context: VerifyContext): Promise<Measurement[]> {
  const trial = context.objectives.find(({ objective }) => objective.name === "spg");
  if (trial === undefined) return [];
  const trajectory = shortResponse(context);
  const { length } = trajectory.response;
  const orders = await revealOrders(context, trajectory);
  const exact = orders.reduce((sum, { probability, logProb }) => sum + probability * logProb, 0);
  const logPi = Math.log(orders.reduce((sum, { probability, logProb }) => sum + probability * Math.exp(logProb), 0));
  const own = trial.options as { readonly beta: number };
  const { elbo, eubo, expected } = await boundsOf(context, trial, trajectory, own.beta);
  const { eubo: tight } = await boundsOf(context, trial, trajectory, length);
  const pi = logPi / length;
  const nats = (x: number): string => `${(x * length).toFixed(3)} nats`;
  const beyond = (low: number, high: number): number => Math.max(0, low - high);
  return figures(LIMIT, [
    [
      "spg: upper bound as enumerated",
      Math.abs(eubo - expected),
      `|loss head - sum over masks| a token, beta ${own.beta}`,
    ],
    ["spg: lower bound as enumerated", Math.abs(elbo - exact / length), "|loss head - mean over orders| a token"],
    ["spg: lower bound below log pi", beyond(elbo, pi), `${nats(elbo)} and ${nats(pi)}`],
    ["spg: upper bound above log pi", beyond(pi, tight), `${nats(tight)} at beta ${length}`],
    ["spg: upper bound above the lower one", beyond(elbo, eubo), `${nats(eubo)} at beta ${own.beta}`],
  ]);
}

/** Reads the bounds per token from the objective's loss, and computes the upper one from the same log-probabilities. */
async function boundsOf(
  context: VerifyContext,
  { objective, options: chosen }: ObjectiveOnTrial,
  trajectory: UnmaskTrajectory,
  beta: number,
): Promise<{ readonly elbo: number; readonly eubo: number; readonly expected: number }> {
  const draws = equallyLikely();
  const options = { ...(chosen as object), mc_samples: draws.length, beta };
  await using policy = closing(await context.open({ objective, options }));
  const { engine } = policy;
  const sampling = { ...(policy.options as UnmaskOptions), responseLength: trajectory.responseLength };
  let next = 0;
  const only = (): never => {
    throw new Error("spg asks for a bound alone");
  };
  const layouts: LayoutContext = {
    rngs: [],
    steps: only,
    stepTerms: only,
    textTerms: only,
    boundTerms: (some, layout) =>
      boundTerms(
        some as readonly UnmaskTrajectory[],
        sampling,
        { ...layout, batch: 1, lengthStep: 16, rngs: [context.rng("unused")] },
        () => draws[next++] as MaskDraw,
      ),
  };
  const batch = objective.layout([trajectory], options, layouts);
  const one = Float32Array.from([1]);
  const extra = objective.feed?.(batch, [trajectory], options);
  const told = await engine.accumulate(batch, { ...sameValues(one), ...(extra && { extra }) });
  engine.discardGradients();
  const { logProbs } = await engine.score(batch, "policy");
  const { rows, position_ids: positions, input_ids: ids } = batch.inputs as Record<string, Tensor>;
  const masses = new Map<string, number>();
  batch.coefficient.forEach((c, r) => {
    if (c === 0) return;
    // each token is predicted at one position of the response: from its mask, or from the token before it
    const row = Number(rows?.data[r]);
    const target = `${batch.headInputs.targets?.data[r]}/${positions?.data[row]}/${ids?.data[row]}`;
    masses.set(target, (masses.get(target) ?? 0) + c * Math.exp(beta * (logProbs[r] as number)));
  });
  const expected = mean([...masses.values()].map((mass) => Math.log(mass) / beta));
  return { elbo: told.elbo_per_token as number, eubo: told.eubo_per_token as number, expected };
}

/** Lists all draws of masks, repeated so that all entries are equally likely. */
function equallyLikely(): MaskDraw[] {
  const draws = distinct(drawMask);
  const least = Math.min(...draws.map(({ probability }) => probability));
  return draws.flatMap(({ value, probability }) =>
    Array.from({ length: Math.round(probability / least) }, () => value),
  );
}

export const proof: Proof = {
  claim: "SPG's bounds hold log pi between them",
  sampler: "unmask",
  run: (context) => measureSandwich(context),
};
