import { misuse } from "../../core/errors.js";
import { floatToBfloat16, floatToFloat16 } from "../../onnx/half.js";
import { NF4_BLOCK } from "../../onnx/nf4.js";
import type { DType } from "../../onnx/types.js";
import type { Form, Precision } from "../../weights/precision.js";

/** Last parts of the module names of matrices that LoRA targets, and that may be quantised to 4 bits. */
const PROJECTIONS: ReadonlySet<string> = new Set([
  ...["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
  // FS-DFM
  ...["qw", "kw", "vw", "attn_out"],
  // LLaDA
  "ff_proj",
]);
/** LLaDA's down projection; the head has the same name outside the blocks. */
const LLADA_DOWN = /\.blocks\.\d+\.ff_out\.weight$/;

export function isProjection(weight: string): boolean {
  const [last, module] = weight.split(".").reverse();
  return last === "weight" && (PROJECTIONS.has(module ?? "") || LLADA_DOWN.test(weight));
}

/** Element types of weights that are not quantised. */
export const FLOATS = { none: "float32", bf16: "bfloat16", fp16: "float16" } as const;
type Float = (typeof FLOATS)[keyof typeof FLOATS];

/** Rounds numbers to a form of 16 or 32 bits. */
export function rounded(values: Float32Array, form: Float): Float32Array | Uint16Array {
  if (form === "float32") return values;
  return form === "bfloat16" ? floatToBfloat16(values) : floatToFloat16(values);
}

/**
 * Chooses the form of a weight. Vectors (norms, biases) stay float32: they are small and lack 16-bit kernels. Only
 * projections are quantised to 4 bits.
 * @param source the element type in the checkpoint.
 */
export function formOf(
  name: string,
  shape: readonly number[],
  source: DType,
  precision: Precision,
  nested: boolean,
): Form {
  if (shape.length < 2) return "float32";
  if (precision !== "nf4") return FLOATS[precision];
  if (!isProjection(name)) return source === "bfloat16" || source === "float16" ? source : "float32";
  if ((shape.at(-1) as number) % NF4_BLOCK !== 0)
    misuse(`${name} [${shape.join(", ")}] cannot be kept in 4 bits: its rows are not made of blocks of ${NF4_BLOCK}.`, {
      hint: "Use --quantize bf16 or fp16.",
    });
  return nested ? "nf4-nested" : "nf4";
}
