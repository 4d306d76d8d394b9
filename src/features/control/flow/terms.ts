import { misuse } from "../../../core/errors.js";
import type { Batch } from "../../../diffusion/layout/batch.js";
import type { StepLayout } from "../../../diffusion/layout/scorings.js";
import type { ScoreHead } from "../../../diffusion/score-head.js";
import { vector } from "../../../onnx/tensors.js";
import { gaussianHead, squaredErrorHead, termInputs } from "./heads.js";
import { type FlowOptions, pathInputs, seenInputs } from "./options.js";
import { between } from "./pairs.js";
import { logNormaliser, stepLaw } from "./step.js";
import type { FlowTrajectory } from "./trajectory.js";

/** Terms of one ratio at the level `step`: one row of the network with A terms. */
interface Row {
  readonly time: number;
  /** The network's input [A]. */
  readonly actions: readonly number[];
  /** Target of the velocity [A]. */
  readonly target: (i: number) => number;
  /** Other inputs of the head, equal for all numbers of the row. */
  readonly constants: Readonly<Record<string, number>>;
  /** The sum of the row's terms times `scale`, as recorded by the rollout. */
  readonly logProb: number;
}

/** A way to split a trajectory into rows. */
interface Scored {
  readonly head: ScoreHead<unknown>;
  /** Names of {@link Row.constants}. */
  readonly constants: readonly string[];
  /** Weight of a term in its row's value. */
  readonly scale: (size: number) => number;
  readonly count: (trajectory: FlowTrajectory) => number;
  readonly row: (trajectory: FlowTrajectory, k: number) => Row;
}

/** Rows of the stochastic equation's steps, as computed by the rollout (step.ts). */
const STEPS: Scored = {
  head: gaussianHead,
  constants: ["of_v", "inverse_std", "log_normaliser"],
  scale: () => 1,
  count: ({ logProbs }) => logProbs.length,
  row({ path, logProbs, temperature }, k) {
    const law = stepLaw(k, logProbs.length, temperature);
    const [x, next] = [path[k], path[k + 1]] as [number[], number[]];
    return {
      time: law.time,
      actions: x,
      target: (i) => (next[i] as number) - law.ofX * (x[i] as number),
      constants: { of_v: law.ofV, inverse_std: 1 / law.std, log_normaliser: logNormaliser(law.std) },
      logProb: logProbs[k] as number,
    };
  },
};

/** Rows of the recorded draws of the flow-matching loss (pairs.ts): minus its mean over the numbers of a chunk. */
const PAIRS: Scored = {
  head: squaredErrorHead,
  constants: [],
  scale: (size) => 1 / size,
  count: ({ pairs = [] }) => pairs.length,
  row({ path, pairs = [] }, k) {
    const { time, noise, loss } = pairs[k] as NonNullable<FlowTrajectory["pairs"]>[number];
    const chunk = path.at(-1) as readonly number[];
    return {
      time,
      actions: chunk.map((a, i) => between(a, noise[i] as number, time)),
      target: (i) => (chunk[i] as number) - (noise[i] as number),
      constants: {},
      logProb: -loss,
    };
  },
};

/** Counts the scored steps or pairs of a trajectory. */
export const scoredSteps = (trajectory: FlowTrajectory): number =>
  (trajectory.pairs === undefined ? STEPS : PAIRS).count(trajectory);

/** @throws UserError if the trajectories were recorded for the other ratio. */
function scoredBy(trajectories: readonly FlowTrajectory[], { ratio }: Pick<FlowOptions, "ratio">): Scored {
  const wanted = ratio === "cfm";
  if (trajectories.some(({ pairs }) => (pairs !== undefined) !== wanted))
    misuse(`These chunks of actions were not recorded for sampler.ratio=${ratio}.`, {
      hint: `set sampler.ratio=${wanted ? "sde" : "cfm"}, or play episodes anew`,
    });
  return wanted ? PAIRS : STEPS;
}

/** Lays out the steps or pairs of all trajectories as rows of the network with A terms each. */
export function stepTerms(
  trajectories: readonly FlowTrajectory[],
  options: FlowOptions,
  { batch, level, reduction = "sum", subset }: StepLayout,
): Batch {
  const { responseLength: size, promptLength } = options;
  const { head, constants, scale, count, row: rowOf } = scoredBy(trajectories, options);
  const chosen = trajectories.map((t, b) => subset?.[b] ?? Array.from({ length: count(t) }, (_, k) => k));
  const most = Math.max(...chosen.map((steps) => steps.length));
  const rows = batch * most;
  const terms = rows * size;
  const segments = level === "sequence" ? batch : level === "step" ? rows : terms;
  const floats = (n: number): Float32Array<ArrayBuffer> => new Float32Array(n);
  const [actions, time, seen, target] = [floats(terms), floats(rows), floats(rows * promptLength), floats(terms)];
  const constantValues = new Map(constants.map((name) => [name, floats(terms)]));
  const [coefficient, units, logProb, share] = [floats(terms), floats(segments), floats(segments), floats(segments)];
  const [owner, stepOf] = [Array<number>(segments).fill(-1), Array<number>(segments).fill(-1)];
  const segment = new BigInt64Array(terms);
  trajectories.forEach((trajectory, b) => {
    const steps = chosen[b] as readonly number[];
    steps.forEach((k, j) => {
      const place = b * most + j;
      const row = rowOf(trajectory, k);
      time[place] = row.time;
      seen.set(trajectory.state, place * promptLength);
      actions.set(row.actions, place * size);
      for (let i = 0; i < size; i++) {
        const r = place * size + i;
        const s = level === "sequence" ? b : level === "step" ? place : r;
        target[r] = row.target(i);
        for (const [name, values] of constantValues) values[r] = row.constants[name] as number;
        const together = level === "token" ? 1 : level === "step" ? size : size * steps.length;
        coefficient[r] = reduction === "mean" ? 1 / together : level === "token" ? 1 : scale(size);
        segment[r] = BigInt(s);
        owner[s] = b;
        stepOf[s] = level === "sequence" ? -1 : k;
        units[s] = together;
        share[s] = count(trajectory) / steps.length;
        const weight = (coefficient[r] as number) / scale(size);
        if (i === 0) logProb[s] = (logProb[s] as number) + row.logProb * weight;
      }
    });
  });
  const of = (level === "token" ? size : 1) * trajectories.reduce((n, t) => n + count(t), 0);
  return {
    inputs: { ...pathInputs(actions, time), ...seenInputs(seen, options) },
    head: head as Batch["head"],
    headInputs: {
      ...termInputs(target),
      ...Object.fromEntries([...constantValues].map(([name, values]) => [name, vector(values)])),
    },
    coefficient,
    segment,
    segments,
    owner,
    step: stepOf,
    units,
    // log-probabilities of single numbers are not recorded
    logProb: level === "token" ? undefined : logProb,
    ...(subset && { sampled: { share, of } }),
  };
}
