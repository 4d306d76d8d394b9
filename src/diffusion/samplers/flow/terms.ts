import { f32, vector } from "../../../onnx/tensors.js";
import type { Batch } from "../../batch.js";
import type { StepLayout } from "../../layouts.js";
import { gaussianHead } from "./heads.js";
import type { FlowOptions } from "./options.js";
import { logNormaliser, stepLaw } from "./step.js";
import type { FlowTrajectory } from "./trajectory.js";

/** The steps of every trajectory as rows of the network, A terms each: exactly what the rollout computed. */
export function stepTerms(
  trajectories: readonly FlowTrajectory[],
  { responseLength: size, stateSize }: FlowOptions,
  { batch, level, reduction = "sum", subset }: StepLayout,
): Batch {
  const chosen = trajectories.map(({ logProbs }, b) => subset?.[b] ?? logProbs.map((_, k) => k));
  const most = Math.max(...chosen.map((steps) => steps.length));
  const rows = batch * most;
  const terms = rows * size;
  const perStep = level === "sequence" ? 0 : 1;
  const segments = level === "sequence" ? batch : level === "step" ? rows : terms;
  const floats = (n: number): Float32Array<ArrayBuffer> => new Float32Array(n);
  const [actions, time, state] = [floats(terms), floats(rows), floats(rows * stateSize)];
  const [target, ofV, inverseStd, normaliser] = [floats(terms), floats(terms), floats(terms), floats(terms)];
  const [coefficient, units, recorded] = [floats(terms), floats(segments), floats(segments)];
  const owner = Array<number>(segments).fill(-1);
  const stepOf = Array<number>(segments).fill(-1);
  const segment = new BigInt64Array(terms);
  const share = floats(segments);
  trajectories.forEach(({ path, logProbs, state: seen, temperature }, b) => {
    const steps = chosen[b] as readonly number[];
    steps.forEach((k, j) => {
      const row = b * most + j;
      const law = stepLaw(k, logProbs.length, temperature);
      time[row] = law.time;
      state.set(seen, row * stateSize);
      const [x, next] = [path[k], path[k + 1]] as [number[], number[]];
      actions.set(x, row * size);
      for (let i = 0; i < size; i++) {
        const r = row * size + i;
        const s = level === "sequence" ? b : level === "step" ? row : r;
        target[r] = (next[i] as number) - law.ofX * (x[i] as number);
        ofV[r] = law.ofV;
        inverseStd[r] = 1 / law.std;
        normaliser[r] = logNormaliser(law.std);
        const together = level === "token" ? 1 : level === "step" ? size : size * steps.length;
        coefficient[r] = reduction === "mean" ? 1 / together : 1;
        segment[r] = BigInt(s);
        owner[s] = b;
        stepOf[s] = perStep === 1 ? k : -1;
        units[s] = together;
        share[s] = logProbs.length / steps.length;
        if (i === 0) recorded[s] = (recorded[s] as number) + (logProbs[k] as number) * (coefficient[r] as number);
      }
    });
  });
  const counted = level === "token" ? size : 1;
  return {
    inputs: { actions: f32([rows, size], actions), time: vector(time), state: f32([rows, stateSize], state) },
    head: gaussianHead as Batch["head"],
    headInputs: {
      place: vector(BigInt64Array.from({ length: terms }, (_, r) => BigInt(r))),
      target: vector(target),
      of_v: vector(ofV),
      inverse_std: vector(inverseStd),
      log_normaliser: vector(normaliser),
    },
    coefficient,
    segment,
    segments,
    owner,
    step: stepOf,
    units,
    // a single number's log-probability is not recorded
    recorded: level === "token" ? undefined : recorded,
    ...(subset === undefined
      ? {}
      : { sampled: { share, of: counted * trajectories.reduce((n, { logProbs }) => n + logProbs.length, 0) } }),
  };
}
