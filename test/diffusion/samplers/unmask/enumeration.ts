import assert from "node:assert/strict";

const STEP = 1e-4;

/** Lists every sequence of `length` choices. */
export function sequences(choices: readonly number[], length: number): number[][] {
  if (length === 0) return [[]];
  return sequences(choices, length - 1).flatMap((rest) => choices.map((choice) => [...rest, choice]));
}

/**
 * Asserts that sum_o p(o) d log p(o) / d parameter = 0 for some parameters, by differences.
 * @param values computes log p of every outcome, by the score under test and by a wrong one.
 * @returns the largest such sum of the wrong score.
 */
export function assertZeroMean(
  name: string,
  parameters: Float64Array,
  indices: readonly number[],
  values: () => [number[], number[]],
): number {
  const p = values()[0].map(Math.exp);
  return Math.max(
    ...indices.map((index) => {
      const origin = parameters[index] as number;
      const [up, down] = [origin + STEP, origin - STEP].map((value) => {
        parameters[index] = value;
        return values();
      }) as [[number[], number[]], [number[], number[]]];
      parameters[index] = origin;
      const [right, wrong] = [0, 1].map((k) =>
        p.reduce(
          (sum, weight, i) => sum + (weight * ((up[k]?.[i] as number) - (down[k]?.[i] as number))) / (2 * STEP),
          0,
        ),
      ) as [number, number];
      assert.ok(Math.abs(right) < 1e-6, `${name}, parameter ${index}: ${right}`);
      return Math.abs(wrong);
    }),
  );
}

/** Asserts by chi-square that `count` draws fell as expected; outcomes expected fewer than 5 times are one cell. */
export function assertFrequencies(
  outcomes: readonly (readonly [seen: number, expected: number])[],
  count: number,
): void {
  const cells = outcomes.filter(([, expected]) => expected >= 5);
  const rest = cells.reduce(([seen, expected], cell) => [seen - cell[0], expected - cell[1]], [count, count]);
  const all = [...cells, [rest[0] as number, Math.max(rest[1] as number, 1)] as const];
  const chi2 = all.reduce((sum, [seen, expected]) => sum + (seen - expected) ** 2 / expected, 0);
  assert.ok(cells.length > 8, `only ${cells.length} cells`);
  assert.ok(chi2 < cells.length + 4 * Math.sqrt(2 * cells.length), `chi2 ${chi2} over ${cells.length} cells`);
}
