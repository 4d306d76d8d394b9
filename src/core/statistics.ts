import { Rng } from "./rng.js";

/** A mean with a percentile-bootstrap interval. */
export interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

export interface BootstrapOptions {
  readonly seed?: number;
  readonly resamples?: number;
  /** Two-sided confidence level. */
  readonly level?: number;
}

/** Arithmetic mean; NaN of an empty list. */
export function mean(values: readonly number[]): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

/** Population variance (divides by n); NaN of an empty list. */
export function variance(values: readonly number[]): number {
  const centre = mean(values);
  return mean(values.map((value) => (value - centre) ** 2));
}

/** Population standard deviation (divides by n, as group advantages do); NaN of an empty list. */
export function std(values: readonly number[]): number {
  return Math.sqrt(variance(values));
}

/** The q-quantile (0..1) of ascending values, linear between the two neighbours. */
export function quantile(ascending: ArrayLike<number>, q: number): number {
  const position = q * (ascending.length - 1);
  const below = Math.floor(position);
  const low = ascending[below] ?? Number.NaN;
  const high = ascending[Math.min(below + 1, ascending.length - 1)] ?? Number.NaN;
  return low + (high - low) * (position - below);
}

/**
 * Percentile bootstrap of the mean (Efron 1979): resample with replacement, take the middle `level` of the means.
 * Like every bootstrap it cannot see what the sample does not hold: all-equal values give an interval of width 0.
 * @throws RangeError on an empty list or a value that is not finite.
 */
export function bootstrapMean(values: readonly number[], options: BootstrapOptions = {}): Interval {
  const { seed = 0, resamples = 2000, level = 0.95 } = options;
  const n = values.length;
  if (n === 0) throw new RangeError("bootstrap of no values");
  const data = Float64Array.from(values);
  if (!data.every(Number.isFinite)) throw new RangeError("bootstrap of a value that is not finite");
  const rng = Rng.named(seed, "bootstrap");
  const means = new Float64Array(resamples);
  for (let r = 0; r < resamples; r++) {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += data[rng.int(n)] as number;
    means[r] = sum / n;
  }
  means.sort();
  const tail = (1 - level) / 2;
  return { mean: mean(values), low: quantile(means, tail), high: quantile(means, 1 - tail) };
}

/**
 * Interval of the mean difference `after - before` of pairs (same tasks, same seeds): pairs are resampled together,
 * so that what makes a task hard for both cancels.
 * @throws RangeError where the lists differ in length or are empty.
 */
export function bootstrapPairedDifference(
  before: readonly number[],
  after: readonly number[],
  options: BootstrapOptions = {},
): Interval {
  if (before.length !== after.length) throw new RangeError(`pairs of ${before.length} and ${after.length} values`);
  return bootstrapMean(
    before.map((value, i) => (after[i] as number) - value),
    options,
  );
}

/**
 * Mean over training runs that were evaluated on the same episodes, with a percentile bootstrap over all that varies
 * (Owen 2007, the pigeonhole bootstrap): runs are drawn again, and, crossed with them, forms and the episodes inside each.
 * @param runs one list a run, of one value an episode. @param formOf the form of each episode.
 * @param minus runs whose mean is subtracted: drawn independently, on the same drawn episodes.
 * @throws RangeError where there is no run, or lists differ in length.
 */
export function bootstrapCrossed(
  runs: readonly (readonly number[])[],
  formOf: readonly string[],
  { minus, ...options }: BootstrapOptions & { readonly minus?: readonly (readonly number[])[] } = {},
): Interval {
  const { seed = 0, resamples = 2000, level = 0.95 } = options;
  const all = [...runs, ...(minus ?? [])];
  if (runs.length === 0 || minus?.length === 0 || formOf.length === 0) throw new RangeError("bootstrap of no runs");
  if (all.some((run) => run.length !== formOf.length)) throw new RangeError("runs of different episodes");
  const forms = [...new Set(formOf)].map((form) => [...formOf.keys()].filter((i) => formOf[i] === form));
  const rng = Rng.named(seed, "bootstrap-crossed");
  const meanOf = (some: readonly (readonly number[])[], episodes: readonly number[], redraw: boolean): number => {
    let sum = 0;
    for (let r = 0; r < some.length; r++) {
      const run = some[redraw ? rng.int(some.length) : r] as readonly number[];
      for (const i of episodes) sum += run[i] as number;
    }
    return sum / (some.length * episodes.length);
  };
  const value = (episodes: readonly number[], redraw: boolean): number =>
    meanOf(runs, episodes, redraw) - (minus === undefined ? 0 : meanOf(minus, episodes, redraw));
  const values = Float64Array.from({ length: resamples }, () =>
    value(
      forms.flatMap(() => {
        const members = forms[rng.int(forms.length)] as number[];
        return members.map(() => members[rng.int(members.length)] as number);
      }),
      true,
    ),
  ).sort();
  const tail = (1 - level) / 2;
  return { mean: value([...formOf.keys()], false), low: quantile(values, tail), high: quantile(values, 1 - tail) };
}
