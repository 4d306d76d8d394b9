import { type SupervisedExample, stratified } from "../../../diffusion/examples.js";
import type { Batch } from "../../../diffusion/layout/batch.js";
import { inBatches } from "../../../diffusion/layout/packing.js";
import type { SupervisedLayout } from "../../../diffusion/layout/scorings.js";
import { squaredErrorHead, termInputs } from "./heads.js";
import { type FlowOptions, pathInputs, seenInputs } from "./options.js";
import { between } from "./pairs.js";

/** A point on the straight path from noise to a chunk, both [A]. */
export interface FlowPoint {
  readonly time: number;
  /** Observation: the state, then the depth image if there is one. */
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
  { rng, batch }: SupervisedLayout,
): Batch[] {
  const times = stratified(examples.length, rng);
  const points = examples.map(({ prompt: state, response: actions }, b) => {
    return { time: times[b] as number, state, actions, noise: actions.map(() => rng.normal()) };
  });
  return inBatches(points, batch).map((some) => matchingTerms(some, options, points.length));
}

/** Lays out the loss at given points as one segment. @param of points of the whole loss, whose mean it is a part of. */
export function matchingTerms(points: readonly FlowPoint[], options: FlowOptions, of = points.length): Batch {
  const { responseLength: size, promptLength } = options;
  const terms = points.length * size;
  const wrong = points.find(({ state, actions }) => state.length !== promptLength || actions.length !== size);
  if (wrong !== undefined)
    throw new Error(
      `the model sees ${promptLength} numbers and answers ${size}; an example has ${wrong.state.length} and ${wrong.actions.length}`,
    );
  const across = (value: (a: number, e: number, time: number) => number): Float32Array =>
    Float32Array.from(
      points.flatMap(({ actions, noise, time }) => actions.map((a, i) => value(a, noise[i] as number, time))),
    );
  return {
    inputs: {
      ...pathInputs(
        across(between),
        Float32Array.from(points, ({ time }) => time),
      ),
      ...seenInputs(Float32Array.from(points.flatMap(({ state }) => state)), options),
    },
    head: squaredErrorHead as Batch["head"],
    headInputs: termInputs(across((a, e) => a - e)),
    coefficient: new Float32Array(terms).fill(1 / (of * size)),
    segment: new BigInt64Array(terms),
    segments: 1,
    owner: [0],
    step: [-1],
    units: Float32Array.of(terms),
    logProb: undefined,
  };
}
