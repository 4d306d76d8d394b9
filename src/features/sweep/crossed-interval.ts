import { type Interval, mean } from "../../core/statistics.js";

/**
 * Computes the mean over training runs evaluated on the same episodes, with a 95 % interval over runs and, crossed with
 * them, forms, with the episodes inside each (if there is one form: over episodes). It uses Student's t with Welch and
 * Satterthwaite's degrees of freedom, since a bootstrap of few runs is too narrow: with five runs it covers .83.
 *
 *   mean +- t(nu) sqrt(V),   V = V_runs + V_runs of `minus` + V_forms,   nu = V^2 / sum V_i^2 / nu_i
 *
 * The interaction of run and form is counted in two of the V, so that the interval errs wide. With a single run, the
 * differences between runs are unknown: the interval is then over forms alone.
 * @param runs one list per run, with one value per episode. @param formOf the form of each episode.
 * @param minus runs whose mean is subtracted. @param range possible means: the interval is clipped to it.
 * @throws RangeError if there is no run, or if lists differ in length.
 */
export function crossedInterval(
  runs: readonly (readonly number[])[],
  formOf: readonly string[],
  {
    minus,
    range = [-Infinity, Infinity],
  }: {
    readonly minus?: readonly (readonly number[])[];
    readonly range?: readonly [least: number, most: number];
  } = {},
): Interval {
  const sides = minus === undefined ? [runs] : [runs, minus];
  if (runs.length === 0 || minus?.length === 0 || formOf.length === 0) throw new RangeError("an interval of no runs");
  if (sides.flat().some((run) => run.length !== formOf.length)) throw new RangeError("runs of different episodes");
  const at = (some: readonly (readonly number[])[], i: number): number => mean(some.map((run) => run[i] as number));
  const values = formOf.map((_, i) => at(runs, i) - (minus === undefined ? 0 : at(minus, i)));
  const oneForm = new Set(formOf).size === 1;
  const parts = [
    ...sides.map((some) => clustered(some.map(mean), (run) => run)),
    clustered(values, (i) => (oneForm ? i : formOf[i])),
  ].filter(({ variance: part }) => part > 0);
  const total = parts.reduce((sum, part) => sum + part.variance, 0);
  const freedom = total ** 2 / parts.reduce((sum, part) => sum + part.variance ** 2 / part.freedom, 0);
  const half = total === 0 ? 0 : studentT(freedom) * Math.sqrt(total);
  const centre = mean(values);
  const [least, most] = range;
  return {
    mean: centre,
    low: Math.min(centre, Math.max(least, centre - half)),
    high: Math.max(centre, Math.min(most, centre + half)),
  };
}

/** Cluster-robust variance of a mean, and its degrees of freedom; 0 for a single cluster. */
function clustered(values: readonly number[], clusterOf: (i: number) => unknown) {
  const centre = mean(values);
  const sums = new Map<unknown, number>();
  values.forEach((value, i) => void sums.set(clusterOf(i), (sums.get(clusterOf(i)) ?? 0) + value - centre));
  const freedom = sums.size - 1;
  const squares = [...sums.values()].reduce((total, sum) => total + sum ** 2, 0);
  return { freedom, variance: freedom === 0 ? 0 : (squares * sums.size) / freedom / values.length ** 2 };
}

const ANGLES = 2000;

/**
 * Computes t with P(|T| <= t) = .95 for Student's T of `freedom` >= 1 degrees: T = sqrt(freedom) tan(a), where the
 * density of the angle a is proportional to cos(a)^(freedom - 1). Error 1e-4 relative; above 1000 degrees 1.9623.
 */
export function studentT(freedom: number): number {
  const degrees = Math.min(freedom, 1000);
  const step = Math.PI / 2 / ANGLES;
  const density = Array.from({ length: ANGLES }, (_, i) => Math.cos((i + 0.5) * step) ** (degrees - 1));
  let left = 0.95 * density.reduce((sum, x) => sum + x, 0);
  const last = density.findIndex((x) => {
    left -= x;
    return left <= 0;
  });
  return Math.sqrt(degrees) * Math.tan((last + 1 + left / (density[last] as number)) * step);
}
