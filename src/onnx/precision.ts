import type { RawModel } from "./format/raw-model.js";
import { isExternal } from "./types.js";

export type HalfDType = "float16" | "bfloat16";

/** Dtype in which a model's layers are computed on CUDA; elsewhere float32. */
export type Precision = "float32" | HalfDType;

/** Resolves `auto`: bfloat16 where a model's weights are stored in less than 32 bits, and so rounded already. */
export function precisionOf(request: "auto" | Precision, model: RawModel): Precision {
  if (request !== "auto") return request;
  const packed = [...model.initializers.values()].some(
    ({ value, data }) => isExternal(data) && value.dtype !== "float32",
  );
  return packed ? "bfloat16" : "float32";
}
