import { misuse } from "../../core/errors.js";
import { NF4_BLOCK } from "../../onnx/nf4.js";
import type { DType } from "../../onnx/types.js";
import type { Form, Precision } from "../../weights/precision.js";

/** Ends of the module names of the matrices that LoRA targets, and that 4 bits are good enough for. */
const PROJECTIONS: ReadonlySet<string> = new Set([
  ...["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
  // FS-DFM
  ...["qw", "kw", "vw", "attn_out"],
  // LLaDA
  "ff_proj",
]);
/** LLaDA's down projection; its head has the same name outside the blocks. */
const LLADA_DOWN = /\.blocks\.\d+\.ff_out\.weight$/;

export function isProjection(weight: string): boolean {
  const [last, module] = weight.split(".").reverse();
  return last === "weight" && (PROJECTIONS.has(module ?? "") || LLADA_DOWN.test(weight));
}

/**
 * The form of a weight: vectors (norms, biases) stay float32, as they weigh nothing and have no 16-bit kernels; only
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
  if (shape.length < 2 || precision === "none") return "float32";
  if (precision === "bf16") return "bfloat16";
  if (precision === "fp16") return "float16";
  if (!isProjection(name)) return source === "bfloat16" || source === "float16" ? source : "float32";
  if ((shape.at(-1) as number) % NF4_BLOCK !== 0)
    misuse(`${name} [${shape.join(", ")}] cannot be kept in 4 bits: its rows are not made of blocks of ${NF4_BLOCK}.`, {
      hint: "Use --quantize bf16 or fp16.",
    });
  return nested ? "nf4-nested" : "nf4";
}
