import type { Rng } from "../../src/core/rng.js";
import type { SampledModel, TokenIds } from "../../src/diffusion/tokens.js";
import { Emitter } from "../../src/onnx/emit.js";
import { encodeModel } from "../../src/onnx/format/proto.js";
import { GraphBuilder } from "../../src/onnx/graph.js";
import type { Runtime } from "../../src/onnx/session.js";
import type { Tensor, Value } from "../../src/onnx/types.js";
import { close as near } from "./close.js";
import { floatsOf, intsOf } from "./tensors.js";

/** Helpers that run a sampler's head in a graph of its own and compute the expected result in float64. */

export const f32 = (shape: readonly number[], data: readonly number[]): Tensor => floatsOf(shape, (i) => data[i]);
/** A tensor of one dimension. */
export const floats = (data: readonly number[]): Tensor => f32([data.length], data);
export const about = (tokens: TokenIds, vocabulary: number): SampledModel => {
  return { tokens, vocabulary, attention: "causal" };
};
export const i64 = (data: readonly number[]): Tensor => intsOf([data.length], (i) => data[i]);
export const numbers = (tensor: Tensor | undefined): number[] => Array.from(tensor?.data as Float32Array, Number);

/** Computes the log softmax in float64 over the tokens that are not blocked. */
export function logSoftmax(logits: readonly number[], temperature: number, blocked: readonly number[]): number[] {
  const scaled = logits.map((x, v) => (blocked.includes(v) ? Number.NEGATIVE_INFINITY : x / temperature));
  const top = Math.max(...scaled);
  const total = top + Math.log(scaled.reduce((sum, x) => sum + Math.exp(x - top), 0));
  return scaled.map((x) => x - total);
}

/** Asserts what a graph in float32 gives. */
export const close = (actual: readonly number[], expected: readonly number[], tolerance = 2e-5): void =>
  near(actual, expected, tolerance);

export const argmax = (xs: readonly number[]): number => xs.indexOf(Math.max(...xs));

export const normal = (rng: Rng, count: number): number[] =>
  Array.from({ length: count }, () => Math.fround(3 * rng.normal()));

export type Evaluate = (
  feeds: Readonly<Record<string, Tensor>>,
  build: (e: Emitter, inputs: Readonly<Record<string, Value>>) => void,
) => Promise<Record<string, Tensor>>;

/** Builds a graph over the feeds and runs it. */
export async function evaluateOn(runtime: Runtime, session: string, ...[feeds, build]: Parameters<Evaluate>) {
  const g = new GraphBuilder("head");
  const inputs = Object.fromEntries(
    Object.entries(feeds).map(([name, { dtype, shape }]) => [name, g.input(name, dtype, shape)]),
  );
  build(new Emitter(g), inputs);
  await runtime.load(session, { bytes: encodeModel(g.build()) });
  return runtime.run(session, { feeds });
}
