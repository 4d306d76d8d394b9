import { attention } from "../../../attention/keys.js";
import { backward } from "../../../autodiff/backward.js";
import { Rng } from "../../../core/rng.js";
import { policyHead } from "../../../diffusion/score-head.js";
import { segmentSums } from "../../../engine/graphs.js";
import { geluTanh, layerNorm, linear, rmsNorm, rotate, rotations, swiglu } from "../../../nn/layers.js";
import { Emitter } from "../../../onnx/emit.js";
import { GraphBuilder } from "../../../onnx/graph.js";
import type { SelfCheck } from "../../../onnx/provider.js";
import { sizeOf } from "../../../onnx/shapes.js";
import type { Tensor, Value } from "../../../onnx/types.js";

const EPSILON = 1e-6;
const [BATCH, LENGTH, WIDTH, VOCABULARY] = [1, 6, 16, 32];
/** The last three of the vocabulary, never used as targets. */
const TOKENS = { mask: 31, pad: 30, eos: 29 };
const ATTENTION = { heads: 2, kvHeads: 1, headDim: 8 };

/**
 * Builds a small graph of the layers of the models and the log-probabilities of segments, each with the gradients of
 * all its inputs. On a provider that computes them wrongly, training would follow wrong gradients without an error.
 */
export function selfCheck(): SelfCheck {
  const g = new GraphBuilder("gradient self-check");
  const e = new Emitter(g);
  const rng = Rng.named(0, "gradient-check");
  const feeds: Record<string, Tensor> = {};
  const floats = (name: string, shape: readonly number[], middle = 0): Value => {
    const data = Float32Array.from({ length: sizeOf(shape) }, () => middle + rng.normal() / 2);
    feeds[name] = { dtype: "float32", shape, data };
    return g.input(name, "float32", shape);
  };
  const integers = (name: string, shape: readonly number[], at: (i: number) => number): Value => {
    feeds[name] = {
      dtype: "int64",
      shape,
      data: BigInt64Array.from({ length: sizeOf(shape) }, (_, i) => BigInt(at(i))),
    };
    return g.input(name, "int64", shape);
  };
  const part = (
    what: string,
    shapes: Readonly<Record<string, readonly number[]>>,
    emit: (inputs: Record<string, Value>) => Value,
    accumulate = false,
  ): void => {
    const inputs = Object.fromEntries(
      // around 0.25, so that a row's deviation and its root mean square differ
      Object.entries(shapes).map(([name, shape]) => [name, floats(`${what}/${name}`, shape, 0.25)]),
    );
    const wrt = Object.values(inputs);
    const y = g.scope(what, () => emit(inputs));
    const loss = e.total(e.mul(y, floats(`${what}/dy`, y.shape as number[])));
    const earlier = accumulate ? wrt.map((v) => [v.name, floats(`${v.name}/acc`, v.shape as number[])] as const) : [];
    const gradients = backward(g, loss, wrt, new Map(earlier));
    g.output(what, y);
    Object.keys(inputs).forEach((name, i) => {
      g.output(`gradient of ${what} by ${name}`, gradients[i] as Value);
    });
  };

  const rows = [LENGTH, WIDTH];
  const ids = integers("ids", [BATCH, LENGTH], (i) => (i * 5) % 4);
  const segment = integers("segment", [LENGTH], (i) => i % 2);
  const targets = integers("targets", [LENGTH], (i) => (i * 7) % 29);
  const allowed = g.constant("float32", [LENGTH], new Array<number>(LENGTH).fill(1));
  part("the embedding", { weight: [VOCABULARY, WIDTH] }, ({ weight }) => e.gather(weight as Value, ids));
  part("RMSNorm", { x: rows, weight: [WIDTH] }, (v) => rmsNorm(e, v.x as Value, v.weight as Value, EPSILON));
  part("LayerNorm", { x: rows, weight: [WIDTH] }, (v) => layerNorm(e, v.x as Value, v.weight as Value, EPSILON));
  part("GELU", { x: rows }, ({ x }) => geluTanh(e, x as Value));
  part("SwiGLU", { x: rows, gate: [24, WIDTH], up: [24, WIDTH], down: [WIDTH, 24] }, ({ x, gate, up, down }) =>
    swiglu(e, x as Value, gate as Value, up as Value, down as Value),
  );
  part(
    "an adapter",
    { x: rows, A: [4, WIDTH], B: [WIDTH, 4] },
    ({ x, A, B }) => linear(e, linear(e, x as Value, A as Value), B as Value),
    true,
  );
  const head = (n: number): number[] => [BATCH, LENGTH, n, ATTENTION.headDim];
  const hidden = Array.from({ length: LENGTH ** 2 }, (_, i) => (i % LENGTH <= Math.floor(i / LENGTH) ? 0 : -1e9));
  const bias = g.constant("float32", [1, 1, LENGTH, LENGTH], hidden);
  const angles = rotations(e, ids, ATTENTION.headDim, 1e4);
  part("attention", { q: head(ATTENTION.heads), k: head(ATTENTION.kvHeads), v: head(ATTENTION.kvHeads) }, (x) => {
    const [q, k] = [rotate(e, x.q as Value, angles.query), rotate(e, x.k as Value, angles.key)];
    return attention(e, q, k, x.v as Value, bias, ATTENTION);
  });
  part("log-probabilities", { logits: [LENGTH, VOCABULARY] }, ({ logits }) => {
    const inputs = { targets, inverse_temperature: g.scalar(1), eos_allowed: allowed };
    const about = { tokens: TOKENS, vocabulary: VOCABULARY, attention: "causal" } as const;
    return segmentSums(e, policyHead.emit(e, { logits: logits as Value }, inputs, about), segment, 2);
  });
  // TF32, in which CUDA multiplies float32, has 10 bits of mantissa
  return { graph: g.build(), feeds, tolerance: 2e-2 };
}
