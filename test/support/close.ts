import assert from "node:assert/strict";

/** Asserts that numbers are as many as expected, and each within a tolerance of its own. */
export function close(actual: ArrayLike<number> | undefined, expected: readonly number[], tolerance = 1e-6): void {
  assert.equal(actual?.length, expected.length);
  for (const [i, x] of expected.entries()) {
    const y = (actual as ArrayLike<number>)[i] as number;
    // a graph gives a blocked token a very negative number in place of -Infinity
    const same = x === Number.NEGATIVE_INFINITY ? y < -1e6 : Math.abs(y - x) < tolerance;
    assert.ok(same, `${i}: ${y} for ${x}`);
  }
}
