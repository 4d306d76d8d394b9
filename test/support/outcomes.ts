import { type DiscreteRng, shuffled } from "../../src/core/rng.js";

/** Result of a procedure with the probability of its draws. */
interface Outcome<T> {
  readonly value: T;
  readonly probability: number;
}

/** Replays a list of choices, takes the first alternative after its end, and records the number of alternatives. */
class Script implements DiscreteRng {
  readonly alternatives: number[] = [];

  constructor(readonly choices: number[]) {}

  int(n: number): number {
    const turn = this.alternatives.push(n) - 1;
    if (turn === this.choices.length) this.choices.push(0);
    return this.choices[turn] as number;
  }

  shuffle<T>(items: readonly T[]): T[] {
    return shuffled(items, (n) => this.int(n));
  }
}

/**
 * Runs a procedure once for every outcome of its draws, which gives the exact distribution of its result. The procedure
 * must depend on nothing but its draws. The runs multiply with the draws, so keep their number small.
 */
export function allOutcomes<T>(procedure: (rng: DiscreteRng) => T): Outcome<T>[] {
  const outcomes: Outcome<T>[] = [];
  const choices: number[] = [];
  for (;;) {
    const script = new Script(choices);
    const value = procedure(script);
    outcomes.push({ value, probability: script.alternatives.reduce((p, n) => p / n, 1) });
    // counts up, the last draw fastest
    let turn = choices.length - 1;
    while (turn >= 0 && (choices[turn] as number) === (script.alternatives[turn] as number) - 1) turn--;
    if (turn < 0) return outcomes;
    choices[turn] = (choices[turn] as number) + 1;
    choices.length = turn + 1;
  }
}
