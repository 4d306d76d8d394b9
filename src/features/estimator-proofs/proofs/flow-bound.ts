import { policyHead } from "../../../diffusion/score-head.js";
import { bufferTerms } from "../../../diffusion/terms.js";
import { type Corruption, corrupt, flowBoundTerms, flowConditions } from "../../fsdfm/jump/bound.js";
import { flowBuffer } from "../../fsdfm/jump/canvas.js";
import { type JumpOptions, ordinaryTokens } from "../../fsdfm/jump/options.js";
import type { JumpTrajectory } from "../../fsdfm/jump/trajectory.js";
import { type Measurement, type Proof, takePrompts, type VerifyContext } from "../../verify/proof.js";

const LIMIT = 1e-5;
const CANVAS = 4;
const KAPPA = 0.3;

/**
 * Verifies ESPO's generalised-KL estimate: its mean over all corruptions of a short canvas, weighted by probability,
 * equals the formula at that kappa; with the complement, the mean of the formula at kappa and 1 - kappa. The formula's
 * probabilities come from a different head than the estimate's.
 * @param lay lays a response out.
 */
export async function measureFlowBound(
  context: VerifyContext,
  lay: typeof flowBoundTerms = flowBoundTerms,
): Promise<Measurement[]> {
  const { engine, options: full } = context.policy;
  const options = { ...(full as JumpOptions), responseLength: CANVAS };
  const trajectory = shortResponse(context, options);
  const rng = context.rng("flow-bound");
  const ordinary = ordinaryTokens(options.model);
  const noise = Array.from({ length: CANVAS }, () => rng.pick(ordinary));
  const draws = (kappa: number): { draw: Corruption; probability: number }[] =>
    Array.from({ length: 2 ** CANVAS }, (_, mask) => {
      const noisy = noise.map((_, i) => Math.floor(mask / 2 ** i) % 2 === 1);
      const probability = noisy.reduce((p, x) => p * (x ? 1 - kappa : kappa), 1);
      return { draw: { kappa, noisy, noise }, probability };
    });
  const measurements: Measurement[] = [];
  for (const coupled of [false, true]) {
    const all = draws(KAPPA);
    let next = 0;
    const batch = lay(
      all.map(() => trajectory),
      options,
      { batch: all.length, lengthStep: 32, samples: 1, coupled, rngs: all.map(() => rng) },
      () => (all[next++] as (typeof all)[number]).draw,
    );
    const { value } = await engine.score(batch, "policy");
    const mean = all.reduce((sum, { probability }, i) => sum + probability * (value[i] as number), 0);
    const kappas = coupled ? [KAPPA, 1 - KAPPA] : [KAPPA];
    let exact = 0;
    for (const kappa of kappas) exact += (await integrand(context, options, trajectory, draws(kappa))) / kappas.length;
    measurements.push({
      name: coupled ? "generalised KL with its complement" : "generalised KL",
      measured: Math.abs(mean / exact - 1),
      limit: LIMIT,
      detail: `|mean over ${all.length} corruptions / formula - 1|, formula ${exact.toFixed(3)} nats`,
    });
  }
  return measurements;
}

/** Makes a response of ordinary tokens that ends in EOS one position before the end of the canvas. */
function shortResponse(context: VerifyContext, options: JumpOptions): JumpTrajectory {
  const rng = context.rng("flow-bound/response");
  const { eos } = options.model.tokens;
  const words = ordinaryTokens(options.model).filter((token) => token !== eos);
  const response = [...Array.from({ length: CANVAS - 2 }, () => rng.pick(words)), eos];
  const [prompt] = takePrompts(context, 1) as [readonly number[]];
  const { exponent, responseLength } = options;
  return { prompt, responseLength, exponent, temperature: 1, source: [], steps: [], response, ended: "eos" };
}

/** Sums over corruptions: probability times sum_i 1/(1-kappa) [p(x_t) - d + (1 - d) log p(x_1)]. */
async function integrand(
  { policy: { engine } }: VerifyContext,
  options: JumpOptions,
  { prompt, response }: JumpTrajectory,
  draws: readonly { readonly draw: Corruption; readonly probability: number }[],
): Promise<number> {
  const { eos, pad } = options.model.tokens;
  const canvas = Array.from({ length: CANVAS }, (_, i) => response[i] ?? eos);
  const states = draws.map(({ draw }) => corrupt(canvas, draw));
  const scored = states.map((state, i) => ({
    buffer: flowBuffer(prompt, state),
    conditions: flowConditions((draws[i] as (typeof draws)[number]).draw.kappa, options),
    // two terms per position: the current token and the true one
    terms: response.flatMap((target, position) =>
      [state[position] as number, target].map((token) => ({
        row: prompt.length + position,
        target: token,
        coefficient: 0,
        segment: 0,
        features: { eos_allowed: 1 },
      })),
    ),
  }));
  const batch = bufferTerms(
    scored,
    { batch: scored.length, length: options.promptLength + CANVAS, segments: 1 },
    { owner: [0], tokens: new Float32Array(1), temperature: 1, head: policyHead, pad, filler: eos },
  );
  const { logProbs } = await engine.score(batch, "policy");
  let [total, r] = [0, 0];
  draws.forEach(({ draw, probability }, i) => {
    response.forEach((target, position) => {
      const [now, right] = [logProbs[r++] as number, logProbs[r++] as number];
      const same = states[i]?.[position] === target;
      total += (probability / (1 - draw.kappa)) * (Math.exp(now) - Number(same) + (same ? 0 : right));
    });
  });
  return total;
}

export const proof: Proof = {
  claim: "the flow's likelihood bound is what its formula says",
  sampler: "jump",
  run: (context) => measureFlowBound(context),
};
