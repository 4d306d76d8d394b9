import { UserError } from "../core/errors.js";
import { NF4_BLOCK, NF4_CODE } from "../onnx/nf4.js";
import { sizeOf } from "../onnx/shapes.js";
import { NESTED_BLOCK } from "./quantize.js";
import type { TensorSpec } from "./safetensors-write.js";

/**
 * The forms in which a model directory stores its weights, and the names of the parts of a 4-bit one (bitsandbytes'
 * own).
 */

/** `none` is float32; `nf4` keeps weights other than projections in the checkpoint's own 16 or 32 bits. */
export const PRECISIONS = ["none", "bf16", "fp16", "nf4"] as const;
export type Precision = (typeof PRECISIONS)[number];

/** Storage form of one weight. */
export type Form = "float32" | "bfloat16" | "float16" | "nf4" | "nf4-nested";

/** Names of the tensors of a 4-bit weight. */
export const nf4Part = {
  codes: (weight: string): string => weight,
  absmax: (weight: string): string => `${weight}.absmax`,
  map: (weight: string): string => `${weight}.quant_map`,
  nestedAbsmax: (weight: string): string => `${weight}.nested_absmax`,
  nestedMap: (weight: string): string => `${weight}.nested_quant_map`,
  state: (weight: string): string => `${weight}.quant_state.bitsandbytes__nf4`,
} as const;

/** Size of the state's JSON: its length must be known before its numbers are. */
const STATE_BYTES = 256;

/** Returns the tensors of a stored weight. */
export function partsOf(name: string, shape: readonly number[], form: Form): Map<string, TensorSpec> {
  if (form !== "nf4" && form !== "nf4-nested") return new Map([[name, { dtype: form, shape }]]);
  const blocks = sizeOf(shape) / NF4_BLOCK;
  const nested = form === "nf4-nested";
  return new Map<string, TensorSpec>([
    [nf4Part.codes(name), { dtype: "uint8", shape: [sizeOf(shape) / 2, 1] }],
    [nf4Part.absmax(name), { dtype: nested ? "uint8" : "float32", shape: [blocks] }],
    [nf4Part.map(name), { dtype: "float32", shape: [NF4_CODE.length] }],
    [nf4Part.state(name), { dtype: "uint8", shape: [STATE_BYTES] }],
    ...(nested
      ? ([
          [nf4Part.nestedAbsmax(name), { dtype: "float32", shape: [Math.ceil(blocks / NESTED_BLOCK)] }],
          [nf4Part.nestedMap(name), { dtype: "float32", shape: [256] }],
        ] as const)
      : []),
  ]);
}

/** State of a 4-bit weight. */
export interface Nf4State {
  readonly shape: readonly number[];
  /** Mean of the absolute maxima, where these are quantised as well. */
  readonly offset: number | undefined;
}

/** Encodes the state as JSON, padded with blanks. */
export function encodeState({ shape, offset }: Nf4State): Uint8Array {
  const state = {
    quant_type: "nf4",
    blocksize: NF4_BLOCK,
    dtype: "float32",
    shape,
    ...(offset === undefined ? {} : { nested_blocksize: NESTED_BLOCK, nested_dtype: "float32", nested_offset: offset }),
  };
  return new TextEncoder().encode(JSON.stringify(state).padEnd(STATE_BYTES));
}

/**
 * Reads the state of a 4-bit weight.
 * @throws UserError naming the weight where the state is not that of NF4 in blocks of 64.
 */
export function decodeState(bytes: Uint8Array, name: string, where: string): Nf4State {
  const refuse = (why: string): UserError =>
    new UserError(`${where}: the 4-bit weight ${name} cannot be read: ${why}.`, {
      hint: "Only NF4 in blocks of 64, with scales nested in blocks of 256 or not at all, is supported.",
    });
  let state: Record<string, unknown>;
  try {
    state = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
  } catch {
    throw refuse("its quant_state is not JSON");
  }
  const { quant_type, blocksize, shape, nested_blocksize, nested_offset } = state;
  if (quant_type !== "nf4" || blocksize !== NF4_BLOCK)
    throw refuse(`${String(quant_type)} in blocks of ${String(blocksize)}`);
  if (!Array.isArray(shape) || shape.length !== 2 || !shape.every((d) => Number.isSafeInteger(d) && d > 0))
    throw refuse(`its shape is ${JSON.stringify(shape)}`);
  if (nested_blocksize !== undefined && (nested_blocksize !== NESTED_BLOCK || typeof nested_offset !== "number"))
    throw refuse(`its scales are nested in blocks of ${String(nested_blocksize)}`);
  return { shape: shape as number[], offset: nested_offset as number | undefined };
}
