import { Rng } from "./rng.js";

/** A mean with its confidence interval. */
export interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

export interface BootstrapOptions {
  readonly seed?: number;
  readonly resamples?: number;
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
export const std = (values: readonly number[]): number => Math.sqrt(variance(values));

/** Sample standard deviation (divides by n - 1); NaN of fewer than two values. */
export const sampleStd = (values: readonly number[]): number =>
  std(values) * Math.sqrt(values.length / (values.length - 1));

/** The q-quantile (0..1) of ascending values, linear between the two neighbours. */
export function quantile(ascending: ArrayLike<number>, q: number): number {
  const position = q * (ascending.length - 1);
  const below = Math.floor(position);
  const low = ascending[below] ?? Number.NaN;
  const high = ascending[Math.min(below + 1, ascending.length - 1)] ?? Number.NaN;
  return low + (high - low) * (position - below);
}

/** Share of the means beyond each end of a 95 % interval. */
const TAIL = (1 - 0.95) / 2;

/**
 * Percentile bootstrap of the mean (Efron 1979): resamples with replacement and takes the middle 95 % of the means.
 * Like every bootstrap it knows only the sample: equal values give an interval of width 0.
 * @throws RangeError on an empty list or a value that is not finite.
 */
export function bootstrapMean(values: readonly number[], options: BootstrapOptions = {}): Interval {
  const { seed = 0, resamples = 2000 } = options;
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
  return { mean: mean(values), low: quantile(means, TAIL), high: quantile(means, 1 - TAIL) };
}

/**
 * Probability that one of k attempts succeeds, where c of n did: 1 - C(n-c,k)/C(n,k), unbiased for k <= n (Chen et al.
 * 2021, eq. 1), in product form, which does not overflow.
 */
export function passAtK(n: number, c: number, k: number): number {
  let failing = 1;
  for (let i = n - c + 1; i <= n; i++) failing *= 1 - k / i;
  return n - c < k ? 1 : 1 - failing;
}

/**
 * Interval of the mean difference `after - before` of pairs (same tasks, same seeds). Pairs are resampled together, so
 * that the difficulty of a task cancels.
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
