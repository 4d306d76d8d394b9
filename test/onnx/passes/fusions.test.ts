import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { backward } from "../../../src/autodiff/backward.js";
import { Rng } from "../../../src/core/rng.js";
import { rotate, rotations } from "../../../src/nn/layers.js";
import { Emitter } from "../../../src/onnx/emit.js";
import { GraphBuilder } from "../../../src/onnx/graph.js";
import { FusingBuilder } from "../../../src/onnx/passes/fusions.js";
import { sizeOf } from "../../../src/onnx/shapes.js";
import type { Tensor, Value } from "../../../src/onnx/types.js";
import { relativeError } from "../../support/golden.js";
import { runGraph } from "../../support/run-graph.js";
import { cpuRuntime } from "../../support/temporary.js";
import { floatsOf } from "../../support/tensors.js";

const runtime = await cpuRuntime();

const POSITIONS = [3, 0, 7, 2, 9, 4];

/** cos and sin [batch, 3, hd] of both halves, as transformers has them. */
function doubled(e: Emitter, batch: number, width: number): [Value, Value] {
  const half = width / 2;
  const positions = e.g.constant("int64", [batch, 3, 1], POSITIONS.slice(0, 3 * batch));
  const frequencies = Array.from({ length: half }, (_, i) => 0.3 ** i);
  const angles = e.mul(e.cast(positions, "float32"), e.g.constant("float32", [half], frequencies));
  const both = e.concat([angles, angles], -1);
  return [e.mul(e.cos(both), 1), e.mul(e.sin(both), 1)];
}

/** x cos + rotate_half(x) sin. */
function transformersRotary(e: Emitter, x: Value, cos: Value, sin: Value): Value {
  const [last, width] = [x.shape.length - 1, x.shape.at(-1) as number];
  const [a, b] = [e.slice(x, last, 0, width / 2), e.slice(x, last, width / 2, 2 ** 40)];
  return e.add(e.mul(x, cos), e.mul(e.concat([e.neg(b), a], -1), sin));
}

/** Rotary embedding with the angles of so many sequences. */
const ofBatch = (batch: number) => (e: Emitter, x: Value) => {
  const [cos, sin] = doubled(e, batch, 4).map((v) => e.unsqueeze(v, [1])) as [Value, Value];
  return transformersRotary(e, x, cos, sin);
};

/** 1 / sqrt(mean(x^2) + eps) */
function inverseRoot(e: Emitter, x: Value): Value {
  const square = e.g.op("Pow", [x, e.g.scalar(2)]);
  return e.g.op("Reciprocal", [e.sqrt(e.add(e.mean(square, [-1]), 1e-3))]);
}

interface Pattern {
  readonly shape: readonly number[];
  readonly build: (e: Emitter, x: Value) => Value;
  /** What it becomes; undefined: nothing, as it only looks like the pattern. */
  readonly op: string | undefined;
}

const weight = (e: Emitter): Value => e.g.constant("float32", [4], [0.5, -1, 2, 1.5]);

const PATTERNS: Readonly<Record<string, Pattern>> = {
  "x sigmoid(x)": { shape: [2, 3], build: (e, x) => e.mul(x, e.sigmoid(x)), op: "QuickGelu" },
  "sigmoid(x) x": { shape: [2, 3], build: (e, x) => e.mul(e.sigmoid(x), x), op: "QuickGelu" },
  "x sigmoid(2 x)": { shape: [2, 3], build: (e, x) => e.mul(x, e.sigmoid(e.mul(x, 2))), op: undefined },
  "rotary embedding in halves": {
    shape: [2, 3, 2, 4],
    build: (e, x) => rotate(e, x, rotations(e, e.g.constant("int64", [2, 3], POSITIONS), 4, 50).query),
    op: "RotaryEmbedding",
  },
  "halves that are swapped": {
    shape: [2, 3, 2, 4],
    build: (e, x) => {
      const { cos, sin } = rotations(e, e.g.constant("int64", [2, 3], POSITIONS), 4, 50).key;
      const [b, a] = e.split(x, [2, 2], 3) as [Value, Value];
      return e.concat([e.sub(e.mul(a, cos), e.mul(b, sin)), e.add(e.mul(b, cos), e.mul(a, sin))], 3);
    },
    op: undefined,
  },
  "rotary embedding as transformers has it": { shape: [2, 2, 3, 4], build: ofBatch(2), op: "RotaryEmbedding" },
  "the same angles for all sequences": { shape: [3, 2, 3, 4], build: ofBatch(1), op: "RotaryEmbedding" },
  "angles that differ between the halves": {
    shape: [2, 2, 3, 4],
    build: (e, x) => {
      const values = Array.from({ length: 24 }, (_, i) => i / 5);
      const angles = e.g.constant("float32", [2, 1, 3, 4], values);
      return transformersRotary(e, x, e.cos(angles), e.sin(angles));
    },
    op: undefined,
  },
  "RMSNorm in parts": {
    shape: [2, 3, 4],
    build: (e, x) => e.mul(weight(e), e.mul(x, inverseRoot(e, x))),
    op: "SimplifiedLayerNormalization",
  },
  "RMSNorm by 1 / root": {
    shape: [3, 4],
    build: (e, x) => {
      const root = e.sqrt(e.add(e.mean(e.mul(x, x), [1]), 1e-3));
      return e.mul(e.mul(e.div(1, root), x), weight(e));
    },
    op: "SimplifiedLayerNormalization",
  },
  "a norm of something else": {
    shape: [2, 4],
    build: (e, x) => e.mul(weight(e), e.mul(x, inverseRoot(e, e.add(x, 1)))),
    op: undefined,
  },
  "a cast to the same type": { shape: [2], build: (e, x) => e.g.op("Cast", [e.exp(x)], { to: 1 }), op: "Exp" },
};

describe("fusions", () => {
  /** y and the gradient of a weighted sum of it. */
  async function run(g: GraphBuilder, { shape, build }: Pattern) {
    const e = new Emitter(g);
    const x = g.input("x", "float32", shape);
    const y = build(e, x);
    g.output("y", y);
    const ops = g.build().nodes.map((n) => n.op);
    const weights = Array.from({ length: sizeOf(shape) }, (_, i) => Math.sin(i + 1));
    const weighted = e.total(e.mul(y, g.constant("float32", shape, weights)));
    g.output("gradient", backward(g, weighted, [x])[0] as Value);
    const rng = Rng.named(1, "fusions");
    const out = await runGraph(runtime, g.build(), { x: floatsOf(shape, () => 4 * rng.uniform() - 2) });
    const of = (name: string): number[] => [...((out[name] as Tensor).data as Float32Array)];
    return { ops, y: of("y"), gradient: of("gradient") };
  }

  for (const [title, pattern] of Object.entries(PATTERNS)) {
    it(`${title}: ${pattern.op ?? "as it is"}`, async () => {
      const plain = await run(new GraphBuilder("plain"), pattern);
      const fused = await run(new FusingBuilder("fused"), pattern);
      if (pattern.op === undefined) assert.deepEqual(fused.ops, plain.ops);
      else {
        assert.ok(fused.ops.includes(pattern.op), `not taken: ${fused.ops}`);
        assert.ok(fused.ops.length < plain.ops.length);
      }
      for (const part of ["y", "gradient"] as const) {
        const error = relativeError(fused[part], plain[part]);
        assert.ok(error < 2e-6, `${part}: error ${error}\n  ${fused[part]}\n  ${plain[part]}`);
      }
    });
  }

  it("names what it emits after the node that completes the pattern", () => {
    const g = new FusingBuilder("paths");
    const x = g.input("x", "float32", [2]);
    const s = g.op("Sigmoid", [x]);
    const y = g.node("Mul", [x, s], {}, { name: "/layers.1/mlp/act/Mul" })[0] as Value;
    assert.match(g.producer(y)?.name ?? "", /^\/layers\.1\/mlp\/act\/Mul\//);
  });
});
