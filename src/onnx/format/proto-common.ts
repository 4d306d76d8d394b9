import { fail } from "../../core/errors.js";
import { BYTES, type DType } from "../types.js";

/** Constants and helpers for reading and writing ONNX files. */

/** Producer name in files of this program. */
export const PRODUCER = "refusion-train";

const INT64_MAX = 2n ** 63n - 1n;

/** Converts to int64. INT64_MAX, which exporters write for "to the end", is 2^63 as a double. */
export function int64(value: number): bigint {
  const exact = BigInt(value);
  return exact > INT64_MAX ? INT64_MAX : exact;
}

/** Returns the bytes of a dense tensor. */
export const bytesOf = (dtype: DType, shape: readonly number[]): number =>
  shape.reduce((product, dim) => product * dim, BYTES[dtype]);

/** Refuses external data outside the model's own folder. @throws UserError */
export function checkLocation(file: string, what: string, where: string): void {
  const steps = file.split(/[/\\]/);
  if (file !== "" && steps[0] !== "" && !steps.includes("..") && !/^[a-z]:/i.test(file) && !file.includes("\0")) return;
  fail(`${where}: ${what} keeps its data in "${file}", which is not inside the model's folder`, {
    hint: "External data must lie beside the model, under a relative path without `..`.",
  });
}
