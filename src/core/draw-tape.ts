import type { DiscreteRng } from "./outcomes.js";
import { shuffled } from "./rng.js";

/** A draw of an integer in [0, n). */
interface Draw {
  readonly n: number;
  readonly value: number;
}

/** Draws in their order, to be given again. */
export type DrawTape = readonly Draw[];

/** What a procedure draws from `rng`. */
export function recordDraws(rng: DiscreteRng, procedure: (rng: DiscreteRng) => unknown): DrawTape {
  const tape: Draw[] = [];
  const int = (n: number): number => {
    const value = rng.int(n);
    tape.push({ n, value });
    return value;
  };
  procedure({ int, shuffle: (items) => shuffled(items, int) });
  return tape;
}

/**
 * Runs a procedure on the draws of a tape.
 * @throws Error where it draws something else than was recorded, or less.
 */
export function replayDraws<T>(tape: DrawTape, procedure: (rng: DiscreteRng) => T): T {
  let next = 0;
  const int = (n: number): number => {
    const draw = tape[next++];
    if (draw?.n !== n)
      throw new Error(`draw ${next} is one of ${n} outcomes; the tape has one of ${draw?.n ?? "none"}`);
    return draw.value;
  };
  const value = procedure({ int, shuffle: (items) => shuffled(items, int) });
  if (next < tape.length) throw new Error(`${next} draws were made, ${tape.length} are on the tape`);
  return value;
}
