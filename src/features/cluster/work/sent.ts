import { z } from "zod";
import type { Tensor } from "../../../onnx/types.js";
import type { Parameter } from "../../../optim/optimizer.js";

/** Schemas of the blobs between coordinator and workers: both validate them before use. */

const tensor = z
  .object({
    dtype: z.string(),
    shape: z.array(z.int().nonnegative()),
    data: z.custom<{ readonly length: number }>((value) => ArrayBuffer.isView(value), "is no typed array"),
  })
  .refine(({ shape, data }) => shape.reduce((all, dim) => all * dim, 1) === data.length, "shape and data differ");
const tensors = z.record(z.string(), tensor);
const floats = z.instanceof(Float32Array);
const counts = z.array(z.int().min(-1)).optional();

const batch = z
  .looseObject({
    inputs: tensors,
    head: z.string(),
    headInputs: tensors,
    coefficient: floats,
    segment: z.instanceof(BigInt64Array),
    segments: z.int().min(1),
    owner: counts,
    step: counts,
    position: counts,
    units: floats,
    share: floats.optional(),
    logProb: floats.optional(),
  })
  .refine((of) => of.segment.length === of.coefficient.length, "a term has no segment")
  .refine((of) => of.segment.every((s) => s >= 0n && s < BigInt(of.segments)), "a segment is not there")
  .refine((of) => of.units.length === of.segments, "a segment has no units");

/** Batches to score. */
export const sentBatches = z.array(batch);

const values = z.object({
  old: floats.optional(),
  reference: floats.optional(),
  advantage: floats,
  weight: floats,
  extra: tensors.optional(),
});

/** Micro-batches to differentiate. */
export const sentMicroBatches = z.array(
  z
    .object({ batch, values })
    .refine(
      ({ batch: { segments }, values: { old, reference, advantage, weight } }) =>
        [old, reference, advantage, weight].every((given) => given === undefined || given.length === segments),
      "a segment has no values",
    ),
);

/** Gradients of a slot, with the metrics of its micro-batches. */
export const sentGradients = z.object({
  gradients: tensors,
  metrics: z.array(z.record(z.string(), z.number())),
  largest: z.array(z.string()),
});

/** Parses tensors of exactly these names and shapes. @throws Error that names the first difference. */
export function tensorsOf(value: unknown, expected: readonly Parameter[]): Map<string, Tensor> {
  const given = new Map(Object.entries(tensors.parse(value)));
  if (given.size !== expected.length) throw new Error(`${given.size} tensors instead of ${expected.length}`);
  for (const { name, shape } of expected) {
    const { shape: got, data } = given.get(name) ?? {};
    if (String(got) !== String(shape) || !(data instanceof Float32Array))
      throw new Error(`${name} is float32 [${shape.join(", ")}], got [${got?.join(", ") ?? "none"}]`);
  }
  return given as unknown as Map<string, Tensor>;
}
