import { createHash } from "node:crypto";
import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { uniformInt } from "pure-rand/distribution/uniformInt";
import { type xoroshiro128plus, xoroshiro128plusFromState } from "pure-rand/generator/xoroshiro128plus";

/** A stream's whole state, small enough for JSON; restoring it continues the stream exactly. */
export type RngState = readonly number[];

/**
 * A named, seeded, serialisable stream of random numbers (xoroshiro128+).
 * Streams of different names are independent, so that adding a consumer never shifts the numbers of another.
 */
export class Rng {
  private constructor(private readonly generator: ReturnType<typeof xoroshiro128plus>) {}

  /** Opens the stream `name` of `seed`. */
  static named(seed: number, name: string): Rng {
    const digest = createHash("sha256").update(`${seed}/${name}`).digest();
    // four 32-bit words, never all zero (the generator's one fixed point)
    const words = [digest.readInt32LE(0), digest.readInt32LE(4), digest.readInt32LE(8), digest.readInt32LE(12) | 1];
    return new Rng(xoroshiro128plusFromState(words));
  }

  static restore(state: RngState): Rng {
    return new Rng(xoroshiro128plusFromState(state));
  }

  state(): RngState {
    return [...this.generator.getState()];
  }

  /** Draws a uniform number in [0, 1). */
  uniform(): number {
    return uniformFloat64(this.generator);
  }

  /** Draws a uniform integer in [0, n). */
  int(n: number): number {
    return uniformInt(this.generator, 0, n - 1);
  }

  /** Draws a standard normal number (Box-Muller; two uniforms per number, nothing cached, to keep the state small). */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.uniform())) * Math.cos(2 * Math.PI * this.uniform());
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError("pick from an empty list");
    return items[this.int(items.length)] as T;
  }

  /** Returns a shuffled copy (Fisher-Yates). */
  shuffle<T>(items: readonly T[]): T[] {
    return shuffled(items, (n) => this.int(n));
  }
}

/** A source of discrete draws: random numbers, or an enumeration of all outcomes. */
export type DiscreteRng = Pick<Rng, "int" | "shuffle">;

/** Returns a shuffled copy (Fisher-Yates). @param int draws an integer in [0, n). */
export function shuffled<T>(items: readonly T[], int: (n: number) => number): T[] {
  const out = [...items];
  for (let i = out.length - 1; i > 0; i--) {
    const j = int(i + 1);
    [out[i], out[j]] = [out[j] as T, out[i] as T];
  }
  return out;
}
