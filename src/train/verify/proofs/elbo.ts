import { allOutcomes, type DiscreteRng } from "../../../core/outcomes.js";
import { BufferBuilder, bucketLength } from "../../../diffusion/buffer.js";
import { drawMask, type MaskDraw } from "../../../diffusion/elbo.js";
import type { Trajectory } from "../../../diffusion/trajectory.js";
import { type EspoOptions, objective as espo, layoutWith } from "../../../rl/objectives/espo.js";
import { bufferTerms } from "../../../rl/terms.js";
import { type Measurement, type Proof, takePrompts, type VerifyContext } from "../proof.js";

const LIMIT = 1e-5;
const SLOTS = 3;

/**
 * ESPO's estimate of the evidence lower bound, averaged over every mask that can be drawn with its probability, is the
 * bound itself: the mean over all orders of the slots of the log-probability of revealing them in that order, one slot a
 * step. The response ends in EOS inside its last slot.
 * @param draw how masks are drawn.
 */
export async function measureElbo(
  context: VerifyContext,
  draw: (slots: number, rng: DiscreteRng) => MaskDraw = drawMask,
): Promise<Measurement[]> {
  const trajectory = shortResponse(context);
  const exact = await anyOrderBound(context, trajectory);
  const draws = distinct(draw);
  const measurements: Measurement[] = [];
  for (const coupled of [false, true]) {
    const mean = await expectedEstimate(context, trajectory, draws, coupled);
    measurements.push({
      name: coupled ? "ELBO with the coupled complement" : "ELBO from one side of the mask",
      measured: Math.abs(mean / exact - 1),
      limit: LIMIT,
      detail: `|mean over ${draws.length} masks / exact - 1|, exact ${exact.toFixed(3)} nats`,
    });
  }
  return measurements;
}

/** A response of ordinary tokens that ends in EOS one position before its last slot does (where a slot has two). */
function shortResponse(context: VerifyContext): Trajectory {
  const { engine, model, options } = context.policy;
  const special = Object.values(engine.tokens);
  const rng = context.rng("elbo");
  const length = SLOTS * options.slotSize - (options.slotSize > 1 ? 1 : 0);
  const response = Array.from({ length }, (_, i) => {
    let token = engine.tokens.eos;
    while (i < length - 1 && special.includes(token)) token = rng.int(model.config.vocab_size);
    return token;
  });
  const [prompt] = takePrompts(context, 1) as [readonly number[]];
  return {
    prompt,
    slotSize: options.slotSize,
    responseLength: SLOTS * options.slotSize,
    temperature: 1,
    rounds: [],
    response,
    ended: "eos",
  };
}

interface WeightedDraw {
  readonly draw: MaskDraw;
  readonly probability: number;
}

/** Every draw with its probability; those that look the same are one. */
function distinct(draw: (slots: number, rng: DiscreteRng) => MaskDraw): WeightedDraw[] {
  const known = new Map<string, WeightedDraw>();
  for (const { value, probability } of allOutcomes((rng) => draw(SLOTS, rng))) {
    const key = JSON.stringify([value.masked, value.order]);
    known.set(key, { draw: value, probability: probability + (known.get(key)?.probability ?? 0) });
  }
  return [...known.values()];
}

/** The estimates of all draws through the objective's own layout, weighted by their probability. */
async function expectedEstimate(
  context: VerifyContext,
  trajectory: Trajectory,
  draws: readonly WeightedDraw[],
  coupled: boolean,
): Promise<number> {
  const { engine } = context.policy;
  let next = 0;
  const layout = layoutWith(() => (draws[next++] as WeightedDraw).draw);
  const options = espo.schema.parse({ mc_samples: 1, coupled }) as EspoOptions;
  const batch = layout(
    draws.map(() => trajectory),
    options,
    {
      tokens: engine.tokens,
      batch: draws.length,
      canvas: trajectory.responseLength,
      rounds: SLOTS,
      lengthStep: 32,
      rng: context.rng("unused"),
      pack: () => {
        throw new Error("ESPO packs no rounds");
      },
    },
  );
  const { value } = await engine.score(batch, "policy");
  return draws.reduce((mean, { probability }, i) => mean + probability * (value[i] as number), 0);
}

async function anyOrderBound({ policy }: VerifyContext, { prompt, response, slotSize }: Trajectory): Promise<number> {
  const { tokens } = policy.engine;
  const positionsOf = (slot: number): number[] =>
    response.flatMap((_, i) => (Math.floor(i / slotSize) === slot ? [i] : []));
  const orders = allOutcomes((rng) => rng.shuffle(Array.from({ length: SLOTS }, (_, i) => i)));
  const scored = orders.flatMap(({ value: order, probability }) =>
    order.map((slot, step) => {
      const buffer = new BufferBuilder(prompt);
      for (const known of order.slice(0, step))
        for (const i of positionsOf(known)) buffer.push(response[i] as number, i);
      const rows = new Map<number, number>();
      for (const open of order.slice(step).sort((a, b) => a - b))
        for (const i of positionsOf(open)) rows.set(i, buffer.push(tokens.mask, i));
      const terms = positionsOf(slot).map((i) => ({
        row: rows.get(i) as number,
        target: response[i] as number,
        coefficient: probability,
        segment: 0,
      }));
      return { buffer, terms };
    }),
  );
  const sizes = {
    batch: scored.length,
    length: bucketLength(prompt.length + response.length),
    terms: scored.length * slotSize,
    segments: 1,
  };
  const batch = bufferTerms(scored, sizes, [0], new Float32Array(1), tokens.pad);
  const { logProbs } = await policy.engine.score(batch, "policy");
  return logProbs.reduce((sum, logProb, r) => sum + logProb * (batch.coefficient[r] as number), 0);
}

export const proof: Proof = {
  claim: "the ELBO estimator is unbiased",
  run: (context) => measureElbo(context),
};
