import { optimizerOptions, scheduleOptions } from "../../../../../src/config/optimizer.js";
import { closing } from "../../../../../src/core/closing.js";
import { inner, mapTensors } from "../../../../../src/features/verify/direction.js";
import type { Measurement, ObjectiveOnTrial, Proof, VerifyContext } from "../../../../../src/features/verify/proof.js";
import type { Tensor } from "../../../../../src/onnx/types.js";
import { learningRate, type ScheduleOptions } from "../../../../../src/optim/schedule.js";
import type { OptimizerOptions } from "../../../../../src/optim/update-rule.js";

/** Relative to the largest change of a parameter; float32 keeps its sums to about 1e-6 of the parameter. */
const LIMIT = 1e-3;
const LIMIT_OF_RATES = 1e-9;
const RATE = 1e-2;
const UPDATES = 3;
/** Norms of the updates' gradients, as multiples of the clipping threshold. */
const NORMS = [4, 0.5, 1.5];

type Numbers = Map<string, Float64Array>;
const numbers = (tensors: ReadonlyMap<string, Tensor>): Numbers =>
  new Map([...tensors].map(([name, { data }]) => [name, Float64Array.from(data as Float32Array)]));

/**
 * Compares the optimizer's updates with its formula in float64, with weight decay, on gradients above and below the
 * clipping threshold: for the config's optimizer and for Muon. Also checks the learning rate of every step.
 */
export async function measureOptimizer(context: VerifyContext): Promise<Measurement[]> {
  const trials = context.objectives.filter(({ objective }, i) => i === 0 || objective.parameters !== undefined);
  const own = optimizerOptions(context.config);
  const options = { ...own, weightDecay: own.weightDecay || 0.1, gradClip: own.gradClip || 1 };
  const measurements: Measurement[] = [];
  for (const trial of trials) measurements.push(await measureUpdates(context, trial, options));
  const [first] = trials as [ObjectiveOnTrial];
  measurements.push(await measureUpdates(context, first, { ...options, kind: "muon", muonLrScale: 3 }));
  return [...measurements, measureRates(scheduleOptions(context.config))];
}

async function measureUpdates(
  context: VerifyContext,
  { objective, options: chosen }: ObjectiveOnTrial,
  options: OptimizerOptions,
): Promise<Measurement> {
  const trial = "head_lr_scale" in objective.schema.shape ? { ...(chosen as object), head_lr_scale: 2 } : chosen;
  await using policy = closing(await context.open({ objective, options: trial }, options));
  const { engine } = policy;
  const rng = context.rng("optimizer");
  const begin = await engine.getParameters("policy");
  const expected = numbers(begin);
  const [first, second] = [numbers(begin), numbers(begin)];
  for (const moments of [first, second]) for (const data of moments.values()) data.fill(0);
  for (let t = 1; t <= UPDATES; t++) {
    const drawn = mapTensors(begin, (data) => data.map(() => rng.normal()));
    const scale = ((NORMS[t - 1] as number) * options.gradClip) / Math.sqrt(inner(drawn, drawn));
    const gradients = mapTensors(drawn, (data) => data.map((x) => x * scale));
    await engine.setGradients(gradients);
    await engine.step(t, RATE);
    const clip = Math.min(1, 1 / (NORMS[t - 1] as number));
    for (const { parameters, learningRateScale = 1 } of engine.groups) {
      for (const { name, shape } of parameters) {
        const g = Float64Array.from(gradients.get(name)?.data as Float32Array, (x) => x * clip);
        const state = [expected, first, second].map((of) => of.get(name)) as [Float64Array, Float64Array, Float64Array];
        const rule = options.kind === "muon" && shape.length === 2 && !/embed|lm_head/.test(name) ? muonStep : adamStep;
        rule(state, g, shape, { ...options, rate: RATE * learningRateScale, t });
      }
    }
  }
  const after = await engine.getParameters("policy");
  let [error, change] = [0, 0];
  for (const [name, values] of expected) {
    const [was, is] = [begin.get(name)?.data as Float32Array, after.get(name)?.data as Float32Array];
    values.forEach((x, i) => {
      error = Math.max(error, Math.abs(x - (is[i] as number)));
      change = Math.max(change, Math.abs(x - (was[i] as number)));
    });
  }
  return {
    name: `${options.kind === "muon" ? "Muon" : "AdamW"} on ${engine.groups.map(({ name }) => name).join(" and ")}`,
    measured: error / change,
    limit: LIMIT,
    detail: `largest difference of ${UPDATES} updates relative to the largest change, weight decay ${options.weightDecay}, gradients of ${NORMS.join(", ")} times the clipped norm`,
  };
}

type State = readonly [parameter: Float64Array, first: Float64Array, second: Float64Array];
type Step = OptimizerOptions & { readonly rate: number; readonly t: number };

/** AdamW (Loshchilov & Hutter 2019, algorithm 2): weight decay is decoupled, and does not apply to vectors. */
function adamStep([p, m, v]: State, g: Float64Array, shape: readonly number[], o: Step): void {
  for (const [i, x] of g.entries()) {
    m[i] = o.beta1 * (m[i] as number) + (1 - o.beta1) * x;
    v[i] = o.beta2 * (v[i] as number) + (1 - o.beta2) * x * x;
    const [mean, square] = [(m[i] as number) / (1 - o.beta1 ** o.t), (v[i] as number) / (1 - o.beta2 ** o.t)];
    const decay = shape.length > 1 ? o.rate * o.weightDecay * (p[i] as number) : 0;
    p[i] = (p[i] as number) - decay - (o.rate * mean) / (Math.sqrt(square) + o.epsilon);
  }
}

type Matrix = readonly (readonly number[])[];
const transposed = (a: Matrix): Matrix => (a[0] ?? []).map((_, j) => a.map((row) => row[j] as number));
const product = (a: Matrix, b: Matrix): Matrix => {
  const columns = transposed(b);
  return a.map((row) => columns.map((column) => row.reduce((sum, x, i) => sum + x * (column[i] as number), 0)));
};
/** x a + y b. */
const combined = (x: number, a: Matrix, y: number, b: Matrix): Matrix =>
  a.map((row, i) => row.map((value, j) => x * value + y * (b[i]?.[j] as number)));

/** Muon (Jordan 2024): Nesterov momentum of 0.95, five Newton-Schulz steps, times sqrt(max(1, rows / columns)). */
function muonStep([p, m]: State, g: Float64Array, shape: readonly number[], o: Step): void {
  const [rows, columns] = shape as [number, number];
  const u = [...g].map((x, i) => {
    m[i] = 0.95 * (m[i] as number) + x;
    return x + 0.95 * (m[i] as number);
  });
  const norm = Math.sqrt(u.reduce((a, x) => a + x * x, 0)) + 1e-7;
  const unit = Array.from({ length: rows }, (_, i) => u.slice(i * columns, (i + 1) * columns).map((x) => x / norm));
  const tall = rows > columns;
  let x: Matrix = tall ? transposed(unit) : unit;
  for (let i = 0; i < 5; i++) {
    const gram = product(x, transposed(x));
    const polynomial = combined(-4.775, gram, 2.0315, product(gram, gram));
    x = combined(3.4445, x, 1, product(polynomial, x));
  }
  const rate = o.rate * o.muonLrScale;
  (tall ? transposed(x) : x).flat().forEach((direction, i) => {
    p[i] = (p[i] as number) * (1 - rate * o.weightDecay) - rate * Math.sqrt(Math.max(1, rows / columns)) * direction;
  });
}

/** Checks every step's learning rate: linear warmup, a constant part, then linear or cosine decay to the last value. */
function measureRates(own: ScheduleOptions): Measurement {
  const cases = (["constant", "linear", "cosine"] as const).flatMap((schedule) => [
    { ...own, schedule },
    { ...own, schedule, steps: 20, warmupSteps: 4, decayFrom: 0.5, minLrRatio: 0.1 },
    { ...own, schedule, steps: 10, warmupSteps: 0, decayFrom: 0, minLrRatio: 0 },
  ]);
  let largest = 0;
  for (const o of cases) {
    const { learningRate: top, warmupSteps: up, steps, minLrRatio: last } = o;
    const from = Math.max(up, Math.round(o.decayFrom * steps));
    for (let t = 1; t <= steps; t++) {
      const done = from >= steps ? 0 : (t - from) / (steps - from);
      const left = o.schedule === "cosine" ? Math.cos((Math.PI * done) / 2) ** 2 : 1 - done;
      const falls = o.schedule !== "constant" && t > from;
      const expected = t < up ? (top * t) / up : falls ? top * (last + (1 - last) * left) : top;
      largest = Math.max(largest, Math.abs(learningRate(t, o) / top - expected / top));
    }
  }
  return {
    name: "learning rates of a run",
    measured: largest,
    limit: LIMIT_OF_RATES,
    detail: `largest difference in ${cases.length} schedules, relative to the highest rate`,
  };
}

export const proof: Proof = {
  claim: "an update is what the optimizer's formula says",
  run: (context) => measureOptimizer(context),
};
