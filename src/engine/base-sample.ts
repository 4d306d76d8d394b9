import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { fail } from "../core/errors.js";
import { readJson } from "../core/files.js";
import type { Model } from "../nn/model.js";
import { type Initializer, isExternal } from "../onnx/types.js";
import { STATE } from "../runs/checkpoint.js";
import { FLOATS, floatsOf, openStored, type StoredMatrix } from "../weights/model-weights.js";

/** Number of vectors in a sample, and of numbers from each. */
const VECTORS = 32;
const NUMBERS = 4;
/** Largest relative difference of one number in two precisions. */
const ROUNDING = 0.02;

/** Opens the values of a graph's initializer, in the graph or beside it. */
export function valuesOf(dir: string, { value, data }: Initializer): StoredMatrix {
  const [dtype, shape] = [value.dtype, value.shape as number[]];
  return isExternal(data) ? openStored(dir, data, dtype, shape) : floatsOf(dtype, shape, data);
}

/**
 * Returns some numbers of a model's norms and biases, which a checkpoint stores to recognise its base. They differ
 * between models. Where the projections are stored in fewer bits, they change by rounding only.
 */
export function baseSample({ dir, graph }: Pick<Model, "dir" | "graph">): number[] {
  const vectors = [...graph.initializers.values()]
    .filter(({ value: { name, shape, dtype } }) => {
      const isScale = /\.(?:nested_)?(?:absmax|quant_map)$/.test(name);
      return shape.length === 1 && (shape[0] as number) >= NUMBERS && FLOATS.includes(dtype) && !isScale;
    })
    .sort((a, b) => (a.value.name < b.value.name ? -1 : 1));
  const every = Math.max(1, Math.floor(vectors.length / VECTORS));
  return vectors
    .filter((_, i) => i % every === 0)
    .flatMap((vector) => [...valuesOf(dir, vector).read(0, NUMBERS)].map((x) => Number(x.toPrecision(6))));
}

const marked = z.object({ state: z.object({ base: z.array(z.number()) }) });

/** Checks that a checkpoint's adapter was trained on this model, where the checkpoint says. @throws UserError */
export function checkBase(dir: string, model: Pick<Model, "dir" | "graph">): void {
  const path = join(dir, STATE);
  const { data } = marked.safeParse(existsSync(path) ? readJson(path) : undefined);
  if (data === undefined) return;
  const [kept, now] = [data.state.base, baseSample(model)];
  const differs = (x: number, i: number): boolean =>
    !(Math.abs(x - (now[i] as number)) <= ROUNDING * (Math.abs(x) + 0.01));
  if (kept.length === now.length && !kept.some(differs)) return;
  fail(`The adapter ${dir} was trained on another model than ${model.dir}.`, {
    hint: "set model to the one that it was trained on, as the config.yaml of its run names it",
  });
}
