import { allOutcomes, type DiscreteRng, type Outcome } from "../../../core/outcomes.js";
import { bucketLength } from "../../../diffusion/layout/buffer.js";
import { canvasLength, revealSlots } from "../../../diffusion/samplers/unmask/canvas.js";
import { boundTerms, drawMask, layMasked, type MaskDraw } from "../../../diffusion/samplers/unmask/elbo.js";
import type { UnmaskOptions } from "../../../diffusion/samplers/unmask/options.js";
import type { UnmaskTrajectory } from "../../../diffusion/samplers/unmask/trajectory.js";
import { policyHead } from "../../../diffusion/score-head.js";
import { Canvas, type TokenTemplate } from "../../../diffusion/template.js";
import { bufferTerms } from "../../../diffusion/terms.js";
import { type Measurement, type Proof, randomTokens, takePrompts, type VerifyContext } from "../../verify/proof.js";

const LIMIT = 1e-5;
const SLOTS = 3;

/**
 * Verifies ESPO's estimate of the evidence lower bound: its mean over all masks, weighted by probability, equals
 * the bound itself. That is the mean, over all orders of the slots, of the log-probability of revealing one slot a step
 * in this order. The response ends in EOS inside its last slot.
 * @param draw draws a mask.
 */
export async function measureElbo(
  context: VerifyContext,
  draw: (slots: number, rng: DiscreteRng) => MaskDraw = drawMask,
): Promise<Measurement[]> {
  const trajectory = shortResponse(context);
  const orders = await revealOrders(context, trajectory);
  const exact = orders.reduce((sum, { probability, logProb }) => sum + probability * logProb, 0);
  const draws = distinct(draw);
  const measurements: Measurement[] = [];
  for (const coupled of [false, true]) {
    const { mean, uncovered } = await expectedEstimate(context, trajectory, draws, coupled);
    measurements.push({
      name: coupled ? "ELBO with the coupled complement" : "ELBO from one side of the mask",
      measured: Math.abs(mean / exact - 1),
      limit: LIMIT,
      detail: `|mean over ${draws.length} masks / exact - 1|, exact ${exact.toFixed(3)} nats`,
    });
    // each side of a mask is unbiased alone: the mean does not show that both are used
    if (coupled)
      measurements.push({
        name: "coupled views cover each token once",
        measured: uncovered,
        limit: 0,
        detail: `largest |terms of a mask - tokens| over ${draws.length} masks`,
      });
  }
  return measurements;
}

/** Makes a response that ends in EOS one position before the end of its last slot (if slots have two or more). */
export function shortResponse(context: VerifyContext): UnmaskTrajectory {
  const { slotSize, slotFill, model } = context.policy.options as UnmaskOptions;
  const { eos } = model.tokens;
  const length = SLOTS * slotSize - (slotSize > 1 ? 1 : 0);
  const response = [...randomTokens(context, length - 1, "elbo"), eos];
  const [prompt] = takePrompts(context, 1) as [readonly number[]];
  // in a template the first slot is a separate blank
  const isTemplate = context.prompts.some((start) => "parts" in start);
  const given = response.slice(0, 2);
  const template: TokenTemplate = [given, { name: "a", room: slotSize }, given, { name: "b", room: 2 * slotSize }];
  if (isTemplate) response[slotSize - 1] = eos;
  return {
    prompt,
    ...(isTemplate ? { template } : {}),
    slotSize,
    ...(slotFill === "parallel" ? {} : { slotFill }),
    responseLength: SLOTS * slotSize,
    temperature: 1,
    rounds: [],
    response,
    ended: "eos",
  };
}

/** Lists the distinct draws with their probabilities. */
export function distinct(draw: (slots: number, rng: DiscreteRng) => MaskDraw): Outcome<MaskDraw>[] {
  const known = new Map<string, Outcome<MaskDraw>>();
  for (const { value, probability } of allOutcomes((rng) => draw(SLOTS, rng))) {
    const key = JSON.stringify([value.masked, value.order]);
    known.set(key, { value, probability: probability + (known.get(key)?.probability ?? 0) });
  }
  return [...known.values()];
}

/** Computes the expected estimate over all draws with the sampler's layout, and the largest number of missing terms. */
async function expectedEstimate(
  { policy: { engine, options }, rng }: VerifyContext,
  trajectory: UnmaskTrajectory,
  draws: readonly Outcome<MaskDraw>[],
  coupled: boolean,
): Promise<{ readonly mean: number; readonly uncovered: number }> {
  let next = 0;
  const batch = boundTerms(
    draws.map(() => trajectory),
    { ...(options as UnmaskOptions), responseLength: trajectory.responseLength },
    { batch: draws.length, lengthStep: 16, samples: 1, coupled, rngs: draws.map(() => rng("unused")) },
    () => (draws[next++] as Outcome<MaskDraw>).value,
  );
  const { value } = await engine.score(batch, "policy");
  const terms = new Array<number>(draws.length).fill(0);
  batch.coefficient.forEach((coefficient, r) => {
    if (coefficient !== 0) terms[Number(batch.segment[r])] = (terms[Number(batch.segment[r])] as number) + 1;
  });
  return {
    mean: draws.reduce((mean, { probability }, i) => mean + probability * (value[i] as number), 0),
    uncovered: Math.max(...terms.map((count) => Math.abs(count - trajectory.response.length))),
  };
}

/** Lists all orders of revealing one slot a step, with the order's probability and the text's log-probability in it. */
export async function revealOrders(
  { policy }: Pick<VerifyContext, "policy">,
  trajectory: UnmaskTrajectory,
): Promise<{ readonly probability: number; readonly logProb: number }[]> {
  const { response, slotSize } = trajectory;
  const { model } = policy.options;
  const orders = allOutcomes((rng) => rng.shuffle(Array.from({ length: SLOTS }, (_, i) => i)));
  const scored = orders.flatMap(({ value: order }, segment) =>
    order.map((slot, step) => {
      const length = canvasLength(response, trajectory, model);
      const { buffer, rowOf } = layMasked(trajectory, order.slice(0, step), length, model);
      const tokens = Canvas.of(trajectory.template).byCell(response, model.tokens.eos);
      const terms = [...revealSlots(tokens, slotSize, [slot])].map(([position, target]) => ({
        row: rowOf(position),
        target,
        coefficient: 1,
        segment,
        features: { eos_allowed: 1 },
      }));
      return { buffer, terms };
    }),
  );
  const sizes = {
    batch: scored.length,
    length: bucketLength(Math.max(...scored.map(({ buffer }) => buffer.length))),
    segments: orders.length,
  };
  const batch = bufferTerms(scored, sizes, {
    owner: orders.map((_, i) => i),
    tokens: new Float32Array(orders.length).fill(response.length),
    temperature: 1,
    head: policyHead,
    pad: model.tokens.pad,
    filler: model.tokens.eos,
  });
  const { value } = await policy.engine.score(batch, "policy");
  return orders.map(({ probability }, i) => ({ probability, logProb: value[i] as number }));
}

export const proof: Proof = {
  claim: "the ELBO estimator is unbiased",
  sampler: "unmask",
  run: (context) => measureElbo(context),
};
