import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Emitter } from "../../src/onnx/emit.js";
import { GraphBuilder } from "../../src/onnx/graph.js";
import { peakActivationBytes } from "../../src/onnx/liveness.js";
import type { Value } from "../../src/onnx/types.js";

const K = 4000;

/** The peak of a graph on x [1000], in thousands of bytes. */
function peakOf(build: (e: Emitter, x: Value) => Value): number {
  const g = new GraphBuilder("test");
  const x = g.input("x", "float32", [1000]);
  g.output("y", build(new Emitter(g), x));
  return peakActivationBytes(g.build()) / K;
}

describe("peakActivationBytes", () => {
  it("writes a chain of elementwise ops over itself", () => {
    const actual = peakOf((e, x) => e.exp(e.neg(e.exp(x))));
    assert.equal(actual, 1);
  });

  it("keeps what is needed later", () => {
    // a is read again at the end: a, and b over itself
    const actual = peakOf((e, x) => {
      const a = e.exp(x);
      const b = e.sin(e.cos(a));
      return e.add(a, b);
    });
    assert.equal(actual, 2);
  });

  it("counts a view once, and its memory for as long as the view is read", () => {
    assert.equal(
      peakOf((e, x) => {
        const a = e.reshape(e.exp(x), [10, 100]);
        const b = e.matmul(a, e.swap(a));
        return e.add(e.total(b), e.total(a));
      }),
      // a, its transpose, and [10, 10]
      2.1,
    );
  });

  it("leaves out what follows from constants, which a session computes once", () => {
    const actual = peakOf((e, x) => e.add(e.exp(x), e.total(e.exp(e.zeros([5000], "float32")))));
    assert.equal(actual, 1);
  });
});
