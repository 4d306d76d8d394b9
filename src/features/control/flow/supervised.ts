import type { Rng } from "../../../core/rng.js";
import type { Batch } from "../../../diffusion/batch.js";
import type { SupervisedLayout } from "../../../diffusion/layouts.js";
import { type SupervisedExample, stratified } from "../../../diffusion/supervised.js";
import { f32, vector } from "../../../onnx/tensors.js";
import { squaredErrorHead } from "./heads.js";
import { type FlowOptions, seenInputs } from "./options.js";
import { between } from "./pairs.js";

/** A point of the straight path from noise to a chunk, [A] each. */
export interface FlowPoint {
  readonly time: number;
  /** Observation: the state, then the depth image where there is one. */
  readonly state: readonly number[];
  readonly actions: readonly number[];
  readonly noise: readonly number[];
}

/**
 * Conditional flow matching (Lipman et al., arXiv 2210.02747, eq. 9, with straight paths): with t ~ U(0, 1), stratified
 * over the batch, and noise e ~ N(0, I)
 *
 *   loss = mean over examples and numbers of (v(t a + (1 - t) e, t | s) - (a - e))^2
 */
export function supervisedTerms(
  examples: readonly SupervisedExample[],
  options: FlowOptions,
  { rng }: SupervisedLayout,
): Batch[] {
  const times = stratified(examples.length, rng);
  return [
    matchingTerms(
      examples.map(({ prompt, response }, b) => ({
        time: times[b] as number,
        state: prompt,
        actions: response,
        noise: noiseFor(response, rng),
      })),
      options,
    ),
  ];
}

const noiseFor = (actions: readonly number[], rng: Rng): number[] => actions.map(() => rng.normal());

/** The loss at given points, as one segment. */
export function matchingTerms(points: readonly FlowPoint[], options: FlowOptions): Batch {
  const { responseLength: size, promptLength } = options;
  const rows = points.length;
  const terms = rows * size;
  const wrong = points.find(({ state, actions }) => state.length !== promptLength || actions.length !== size);
  if (wrong !== undefined)
    throw new Error(
      `the model sees ${promptLength} numbers and answers ${size}; an example has ${wrong.state.length} and ${wrong.actions.length}`,
    );
  const across = (value: (point: FlowPoint, i: number) => number): Float32Array<ArrayBuffer> =>
    Float32Array.from(points.flatMap((point) => point.actions.map((_, i) => value(point, i))));
  return {
    inputs: {
      actions: f32(
        [rows, size],
        across(({ time, actions, noise }, i) => between(actions[i] as number, noise[i] as number, time)),
      ),
      time: vector(Float32Array.from(points, ({ time }) => time)),
      ...seenInputs(Float32Array.from(points.flatMap(({ state }) => state)), rows, options),
    },
    head: squaredErrorHead as Batch["head"],
    headInputs: {
      place: vector(BigInt64Array.from({ length: terms }, (_, r) => BigInt(r))),
      target: vector(across(({ actions, noise }, i) => (actions[i] as number) - (noise[i] as number))),
    },
    coefficient: new Float32Array(terms).fill(1 / terms),
    segment: new BigInt64Array(terms),
    segments: 1,
    owner: [0],
    step: [-1],
    units: Float32Array.of(terms),
    recorded: undefined,
  };
}
