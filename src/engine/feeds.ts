import type { RoundInput } from "../diffusion/sampler.js";
import type { Features } from "../diffusion/terms.js";
import type { Tensor } from "../onnx/types.js";

/** Tensors that graphs are fed with. */

export const f32 = (shape: readonly number[], data: Float32Array): Tensor => ({ dtype: "float32", shape, data });
export const i64 = (shape: readonly number[], data: BigInt64Array): Tensor => ({ dtype: "int64", shape, data });
export const scalar = (x: number): Tensor => f32([], Float32Array.of(x));

/** What a round's head reads beside the logits. */
export function drawFeeds(
  input: Pick<RoundInput, "rows" | "features" | "uniform" | "temperature">,
): Record<string, Tensor> {
  const rows = [input.rows.length];
  return {
    rows: i64(rows, input.rows),
    ...featureFeeds(input.features),
    uniform: f32(rows, input.uniform),
    inverse_temperature: scalar(1 / input.temperature),
  };
}

export function featureFeeds(features: Features): Record<string, Tensor> {
  return Object.fromEntries(
    Object.entries(features).map(([name, values]) => [
      name,
      values instanceof BigInt64Array ? i64([values.length], values) : f32([values.length], values),
    ]),
  );
}
