import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  axisOf,
  broadcast,
  formatShape,
  isStatic,
  product,
  quotient,
  sameShape,
  sizeOf,
} from "../../src/onnx/shapes.js";
import type { Dim } from "../../src/onnx/types.js";

describe("shapes", () => {
  it("knows static shapes and their size", () => {
    assert.ok(isStatic([2, 3]));
    assert.ok(isStatic([]));
    assert.ok(!isStatic(["B", 3]));
    assert.equal(sizeOf([2, 3, 4]), 24);
    assert.equal(sizeOf([]), 1);
    assert.equal(sizeOf([0, 5]), 0);
    assert.throws(() => sizeOf([2, "N"]), /shape \[2, N\] is not static/);
    assert.equal(formatShape(["B", 1]), "[B, 1]");
  });

  it("compares shapes with symbols", () => {
    assert.ok(sameShape(["B", 2], ["B", 2]));
    assert.ok(!sameShape(["B", 2], ["N", 2]));
    assert.ok(!sameShape([2], [2, 1]));
  });

  const products: [Dim[], Dim][] = [
    [[], 1],
    [[2, 3], 6],
    [["B", "N"], "B*N"],
    [["N", 2, "B", 3], "6*B*N"],
    [["2*B", 3], "6*B"],
    [["B", 1], "B"],
    [["B", 0], 0],
  ];
  for (const [dims, expected] of products)
    it(`multiplies ${formatShape(dims)} to ${expected}`, () => assert.equal(product(dims), expected));

  const quotients: [Dim, Dim, Dim | undefined][] = [
    [12, 4, 3],
    [12, 5, undefined],
    [12, 0, undefined],
    ["B*N", "N", "B"],
    ["B*N", "B*N", 1],
    ["6*B", 3, "2*B"],
    ["6*B", "4*B", undefined],
    ["B", "N", undefined],
    ["B*B", "B", "B"],
  ];
  for (const [total, part, expected] of quotients)
    it(`divides ${total} by ${part} to ${expected ?? "nothing"}`, () => assert.equal(quotient(total, part), expected));

  /** Shapes between semicolons. */
  const shapesOf = (text: string): Dim[][] =>
    text.split("; ").map((one) => (one.match(/\w+/g) ?? []).map((dim) => (/\d/.test(dim) ? Number(dim) : dim)));
  for (const [shapes, expected] of [
    ["2,3; 3", "2,3"],
    ["2,1; 1,3", "2,3"],
    ["; 2", "2"],
    ["B,1,4; N,1", "B,N,4"],
    ["B,3; B,3; 1", "B,3"],
    ["2; 3", undefined],
    ["B; N", undefined],
    ["0; 1", "0"],
  ] as const)
    it(`broadcasts ${shapes}`, () => assert.deepEqual(broadcast(...shapesOf(shapes))?.join(), expected));

  it("counts negative axes from the end", () => {
    assert.equal(axisOf(-1, 3), 2);
    assert.equal(axisOf(0, 3), 0);
    assert.throws(() => axisOf(3, 3), /axis 3 is out of range for rank 3/);
    assert.throws(() => axisOf(-4, 3), /axis -4 is out of range for rank 3/);
  });
});
