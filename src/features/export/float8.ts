import { fail } from "../../core/errors.js";
import type { StoredMatrix } from "../../weights/model-weights.js";
import { readTensorBytes, type SafetensorsEntry, type SafetensorsHeader } from "../../weights/safetensors.js";
import type { Json } from "./checkpoint-source.js";

/** Names of a weight's scales: those of DeepSeek's and Qwen3's files, a block each; those of llm-compressor's, a row each or one. */
const SCALES = ["_scale_inv", "_scale"];

/** Scales of activations and of the K/V cache: they matter to kernels that compute in FP8, not to the weights' values. */
export const UNUSED_SCALES = /\.(input_scale|[kv]_scale|[kvqo]_proj\.output_scale)$/;

/** Finds the scales of an 8-bit weight; undefined where there are none. */
export const scalesOf = (name: string, tensors: ReadonlyMap<string, SafetensorsHeader>): string | undefined =>
  SCALES.map((ending) => `${name}${ending}`).find((scale) => tensors.has(scale));

/** Returns what config.json says of how the weights are quantised. */
export const quantisationIn = (config: Json): Json => (config.quantization_config ?? {}) as Json;

/** @throws UserError that names the way in which the weights are quantised. @param problems of the tensors. */
export function refuseQuantised(where: string, config: Json, problems: string): never {
  const about = quantisationIn(config);
  const said = ["quant_method", "quant_algo", "format", "bits", "load_in_8bit"].flatMap((key) =>
    about[key] === undefined || about[key] === false ? [] : [`${key} ${about[key]}`],
  );
  fail(`The weights of ${where} are quantised (${said.join(", ") || "config.json does not say how"}):${problems}`, {
    hint: "FP8 (E4M3) and bitsandbytes' NF4 are read. Take the release in BF16 or FP16; --quantize nf4 makes 4 bits of it.",
  });
}

/**
 * Opens a weight [O, I] in FP8 (E4M3): value * scale, with one scale a block of rows and columns, a row, or in all.
 * @param block [rows, columns] of a block, where the scales are one each.
 */
export function openFloat8(
  header: SafetensorsHeader,
  name: string,
  scales: StoredMatrix,
  block: readonly [rows: number, columns: number],
): StoredMatrix {
  const { shape } = header.tensors.get(name) as SafetensorsEntry;
  const [rows = 1, columns = 1] = shape.length === 1 ? [1, ...shape] : shape;
  const count = scales.shape.reduce((product, size) => product * size, 1);
  const across = Math.ceil(columns / block[1]);
  const [high, wide, perRow] =
    count === 1
      ? [rows, columns, 1]
      : count === rows && scales.shape.at(-1) === 1
        ? [1, columns, 1]
        : [...block, across];
  if (count !== Math.ceil(rows / high) * perRow)
    fail(`The scales of ${name} [${shape.join(", ")}] are [${scales.shape.join(", ")}].`, {
      hint: "one in all, one a row, or one a block of weight_block_size in config.json is read",
    });
  const factors = scales.read(0, count);
  return {
    shape,
    // what a reader keeps of it
    dtype: "bfloat16",
    read(begin, end) {
      const codes = new Uint8Array(readTensorBytes(header, name, begin, end));
      return Float32Array.from(codes, (code, i) => {
        const [row, column] = [Math.floor((begin + i) / columns), (begin + i) % columns];
        const factor = factors[Math.floor(row / high) * perRow + Math.floor(column / wide)] as number;
        return (E4M3[code] as number) * factor;
      });
    },
  };
}

/** Values of the 256 codes: a sign, 4 bits of exponent (bias 7), 3 of fraction; no infinities. */
const E4M3 = Float32Array.from({ length: 256 }, (_, code) => {
  const [exponent, fraction] = [(code >> 3) & 15, code & 7];
  const size = exponent === 0 ? fraction * 2 ** -9 : (8 + fraction) * 2 ** (exponent - 10);
  return (code & 127) === 127 ? Number.NaN : code < 128 ? size : -size;
});
