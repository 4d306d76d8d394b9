import { z } from "zod";
import type { Rng } from "../../core/rng.js";
import type { Tensor } from "../../onnx/types.js";
import type { Group, Sample } from "../rollouts/groups.js";

/** Measured steps that a running estimate covers: the policy changes, and the noise with it. */
const MEMORY = 50;

type Gradients = ReadonlyMap<string, Pick<Tensor, "data">>;

/** State for checkpoints: weighted sums over the measured steps. */
export const gradientNoiseState = z.object({
  /** Of |g|^2. */
  square: z.number(),
  /** Of the estimates of |G|^2. */
  signal: z.number(),
  /** Of the rollouts times the estimates of tr(Sigma) / n. */
  noise: z.number(),
});
export type GradientNoiseState = Readonly<z.infer<typeof gradientNoiseState>>;

/** Measures of one step's gradient. */
export interface GradientSample {
  /** a.b / (|a| |b|) of the halves' gradients, -1 to 1. */
  readonly agreement: number;
  /** |g|^2 of the step. */
  readonly square: number;
  /** Unbiased estimate of |G|^2, with G the expected gradient; may be negative by chance. */
  readonly signal: number;
  /** Rollouts that were trained on. */
  readonly rollouts: number;
}

/**
 * Draws two halves of a step's groups with signal. Rollouts of a group share a baseline and a task: only whole groups
 * are independent.
 * @returns undefined where there are not two groups.
 */
export function drawHalves(groups: readonly Group[], rng: Pick<Rng, "shuffle">): Halves | undefined {
  const learned = rng.shuffle(groups.filter((group) => group.signal));
  if (learned.length < 2) return undefined;
  const first = new Set(learned.slice(0, Math.ceil(learned.length / 2)));
  return [groups.filter((group) => first.has(group)), groups.filter((group) => group.signal && !first.has(group))];
}

export type Halves = readonly [readonly Group[], readonly Group[]];

/** Splits samples into halves. A sample's draws depend on its place in the step, so the samples are not renumbered. */
export function partsOf(samples: readonly Sample[], halves: Halves): readonly (readonly Sample[])[] {
  const first = new Set(halves[0].flatMap(({ rollouts }) => rollouts.flatMap(({ trajectories }) => trajectories)));
  const inFirst = ({ trajectory }: Sample): boolean => first.has(trajectory);
  return [samples.filter(inFirst), samples.filter((sample) => !inFirst(sample))];
}

/**
 * Estimates the signal from the gradient a of the first half and g = a + b of both (McCandlish et al. 2018, arXiv
 * 1812.06162, appendix A, with halves of one batch instead of two batch sizes). Each of n groups adds a vector of
 * expectation G / n, so that over n1 groups and n2 others
 *
 *   E a.b = n1 n2 / n^2 |G|^2,      E |g|^2 = |G|^2 + tr(Sigma) / n
 *
 * @param groups n1 and n2.
 * @returns null where a gradient is 0 or not finite.
 */
export function gradientSample(
  first: Gradients,
  both: Gradients,
  groups: readonly [number, number],
  rollouts: number,
): GradientSample | null {
  let [aa, bb, ab, gg] = [0, 0, 0, 0];
  for (const [name, { data }] of both) {
    const g = data as Float32Array;
    const a = first.get(name)?.data as Float32Array;
    for (let i = 0; i < g.length; i++) {
      const [x, sum] = [a[i] as number, g[i] as number];
      const y = sum - x;
      aa += x * x;
      bb += y * y;
      ab += x * y;
      gg += sum * sum;
    }
  }
  const agreement = ab / Math.sqrt(aa * bb);
  if (!Number.isFinite(agreement) || !Number.isFinite(gg)) return null;
  const [n1, n2] = groups;
  return { agreement, square: gg, signal: (ab * (n1 + n2) ** 2) / (n1 * n2), rollouts };
}

/** Copies the gradients of the halves of one update while they are accumulated. */
export class HalfGradients {
  private first: Gradients | undefined;
  private both: Gradients | undefined;

  /**
   * @param boundary micro-batches of the first half, which come first.
   * @param all micro-batches of the update.
   */
  constructor(
    readonly boundary: number,
    private readonly all: number,
  ) {}

  /** Called after each micro-batch of the update. @param gradients those accumulated so far. */
  async accumulated(index: number, gradients: () => Promise<Gradients>): Promise<void> {
    if (index === this.boundary - 1) this.first = await gradients();
    if (index === this.all - 1) this.both = await gradients();
  }

  /** Called after the update. @param groups of each half. */
  sample(groups: readonly [number, number], rollouts: number): GradientSample | null {
    if (this.first === undefined || this.both === undefined) return null;
    return gradientSample(this.first, this.both, groups, rollouts);
  }
}

/**
 * The share of noise in the gradients over the run, as a ratio of sums, since a single step's is too noisy. A step of
 * age k measurements has the weight (1 - 1 / MEMORY)^k.
 */
export class GradientNoise {
  constructor(public state: GradientNoiseState = { square: 0, signal: 0, noise: 0 }) {}

  add({ square, signal, rollouts }: GradientSample): void {
    const keep = 1 - 1 / MEMORY;
    const { state } = this;
    this.state = {
      square: keep * state.square + square,
      signal: keep * state.signal + signal,
      noise: keep * state.noise + rollouts * (square - signal),
    };
  }

  /** Noise in |g|^2: 0 where all groups agree, 1 where they have nothing in common (more only by chance). */
  get fraction(): number | null {
    const { square, signal } = this.state;
    return square > 0 ? 1 - signal / square : null;
  }

  /**
   * The simple noise scale B = tr(Sigma) / |G|^2 in rollouts: in a step of that size, half of |g|^2 is signal. Null
   * while the signal is not positive.
   */
  get scale(): number | null {
    const { signal, noise } = this.state;
    return signal > 0 ? Math.max(0, noise / signal) : null;
  }
}
