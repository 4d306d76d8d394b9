import type { Rng } from "../../core/rng.js";
import type { Tensor } from "../../onnx/types.js";

type Tensors = ReadonlyMap<string, Tensor>;

/** Moves parameters along a direction: p + epsilon * u. */
export function moved(parameters: Tensors, direction: Tensors, epsilon: number): Map<string, Tensor> {
  return mapTensors(parameters, (data, name) => {
    const u = direction.get(name)?.data as Float32Array;
    return data.map((x, i) => x + epsilon * (u[i] as number));
  });
}

/** Draws a normal direction with the root mean square of each tensor. */
export function randomDirection(parameters: Tensors, rng: Rng): Map<string, Tensor> {
  return mapTensors(parameters, (data) => {
    const scale = Math.sqrt(dot(data, data) / data.length);
    return data.map(() => scale * rng.normal());
  });
}

/** Squares all elements. */
export function squared(tensors: Tensors): Map<string, Tensor> {
  return mapTensors(tensors, (data) => data.map((x) => x * x));
}

/** Returns the inner product over all tensors, in float64. */
export function inner(a: Tensors, b: Tensors): number {
  let sum = 0;
  for (const [name, tensor] of a) sum += dot(tensor.data as Float32Array, b.get(name)?.data as Float32Array);
  return sum;
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

/** Applies a function to the data of each tensor; names and shapes stay. */
export function mapTensors(
  tensors: Tensors,
  change: (data: Float32Array, name: string) => Float32Array,
): Map<string, Tensor> {
  return new Map(
    [...tensors].map(([name, tensor]) => [name, { ...tensor, data: change(tensor.data as Float32Array, name) }]),
  );
}

/** Sets the tensors outside a set to 0. */
export function only(these: Tensors, tensors: Tensors): Map<string, Tensor> {
  return mapTensors(tensors, (data, name) => (these.has(name) ? data : data.map(() => 0)));
}
