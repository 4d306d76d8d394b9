import type { Rng } from "../../../core/rng.js";
import { checkStreams } from "../../../diffusion/batches.js";
import type { RoundModel } from "../../../diffusion/sampler.js";
import { type FlowOptions, pathInputs, seenInputs } from "./options.js";
import { drawPairs, type Pair } from "./pairs.js";
import { logNormaliser, stepLaw } from "./step.js";
import type { FlowTrajectory } from "./trajectory.js";

/** Draws a chunk of actions for every observation; each rollout has its own random stream, independent of batching. */
export async function rollout(
  model: RoundModel<Float32Array>,
  starts: readonly Float32Array[],
  options: FlowOptions,
  rngs: readonly Rng[],
  batchSize = starts.length,
): Promise<FlowTrajectory[]> {
  checkStreams(starts, rngs);
  const { promptLength } = options;
  const wrong = starts.find((seen) => seen.length !== promptLength);
  if (wrong !== undefined) throw new Error(`the model sees ${promptLength} numbers, and was shown ${wrong.length}`);
  const done: FlowTrajectory[] = [];
  for (let from = 0; from < starts.length; from += batchSize)
    done.push(...(await together(model, starts.slice(from, from + batchSize), options, rngs.slice(from), batchSize)));
  return done;
}

/** Draws one batch of rollouts; an incomplete batch is padded. */
async function together(
  model: RoundModel<Float32Array>,
  states: readonly Float32Array[],
  options: FlowOptions,
  rngs: readonly Rng[],
  batch: number,
): Promise<FlowTrajectory[]> {
  const { steps, temperature, promptLength, responseLength: size, ratio } = options;
  const all = new Float32Array(batch * promptLength);
  for (const [b, s] of states.entries()) all.set(s, b * promptLength);
  const seen = seenInputs(all, options);
  const each = (draw: (rng: Rng, i: number) => number): Float32Array<ArrayBuffer> =>
    Float32Array.from({ length: batch * size }, (_, i) => {
      const b = Math.floor(i / size);
      return b < states.length ? draw(rngs[b] as Rng, i) : 0;
    });
  let x = each((rng) => rng.normal());
  const row = (of: Float32Array, b: number): number[] => [...of.subarray(b * size, (b + 1) * size)];
  const paths = states.map((_, b) => [row(x, b)]);
  const logProbs: number[][] = states.map(() => []);
  for (let k = 0; k < steps; k++) {
    const law = stepLaw(k, steps, temperature);
    const time = new Float32Array(batch).fill(law.time);
    const velocity = await model.forwardRound({ inputs: { ...pathInputs(x, time), ...seen }, headInputs: {} });
    const mean = x.map((value, i) => law.ofX * value + law.ofV * (velocity[i] as number));
    const next = law.std === 0 ? mean : each((rng, i) => (mean[i] as number) + law.std * rng.normal());
    for (const [b, path] of paths.entries()) {
      path.push(row(next, b));
      if (law.std === 0) continue;
      let logProb = size * logNormaliser(law.std);
      // computed from the recorded numbers, which are float32
      for (let i = b * size; i < (b + 1) * size; i++)
        logProb -= (((next[i] as number) - (mean[i] as number)) / law.std) ** 2 / 2;
      logProbs[b]?.push(logProb);
    }
    x = next;
  }
  const mine = rngs.slice(0, states.length);
  const pairs = ratio === "cfm" ? await drawPairs(model, { seen, chunks: x, rngs: mine }, options) : undefined;
  return states.map((s, b) => ({
    state: [...s],
    path: paths[b] as number[][],
    logProbs: logProbs[b] as number[],
    temperature,
    ...(pairs === undefined ? {} : { pairs: pairs[b] as Pair[] }),
  }));
}
