import { fail } from "../../core/errors.js";
import { listed } from "../../core/problems.js";
import { loraName, rowsName } from "../../nn/lora.js";
import type { PeftAdapter } from "../../nn/peft.js";
import type { Tensor } from "../../onnx/types.js";
import { adapterModules } from "./adapter.js";

/** An adapter's change of a weight W [out, in]: adds to the elements [begin, begin + values.length) in place. */
export type Change = (values: Float32Array, begin: number) => void;

/**
 * Computes an adapter's changes W + (alpha / r) B A, by weight name.
 * @param shapes of the model's weights, [out, in].
 * @param transposed names of the weights that are stored as [in, out].
 * @throws UserError that names every tensor that does not fit the model.
 */
export function mergeChanges(
  adapter: PeftAdapter,
  shapes: ReadonlyMap<string, readonly number[]>,
  where: string,
  transposed: ReadonlySet<string> = new Set(),
): Map<string, Change> {
  const { rank, alpha, tensors, rows } = adapter;
  const problems: string[] = [];
  const changes = new Map<string, Change>();
  const fitting = (name: string, expected: readonly number[]): Float32Array | undefined => {
    const { dtype, shape, data } = tensors.get(name) as Tensor;
    if (dtype === "float32" && shape.join() === expected.join()) return data as Float32Array;
    problems.push(`${name}: expected float32 [${expected.join(", ")}], got ${dtype} [${shape.join(", ")}]`);
    return undefined;
  };
  for (const module of adapterModules(adapter, where)) {
    const weight = `${module}.weight`;
    const shape = shapes.get(weight);
    if (shape === undefined || shape.length !== 2) {
      problems.push(`the model has no matrix ${weight}`);
      continue;
    }
    const [out, columns] = shape as [number, number];
    const a = fitting(loraName(module, "A"), [rank, columns]);
    const b = fitting(loraName(module, "B"), [out, rank]);
    if (a === undefined || b === undefined) continue;
    // (B A)^T = A^T B^T
    const change = transposed.has(weight)
      ? changeOf(turned(b, rank), turned(a, columns), rank, out, alpha / rank)
      : changeOf(a, b, rank, columns, alpha / rank);
    changes.set(weight, change);
  }
  if (rows !== undefined) {
    const weight = `${rows.module}.weight`;
    const [tokens = 0, columns = 0] = shapes.get(weight) ?? [];
    const values = fitting(rowsName(rows.module), [rows.tokens.length, columns]);
    if (rows.tokens.some((id) => id >= tokens)) problems.push(`the model has ${tokens} tokens`);
    else if (values !== undefined) changes.set(weight, rowChange(rows.tokens, values, columns, changes.get(weight)));
  }
  if (problems.length > 0) {
    fail(`The adapter ${where} does not fit the model:${listed(problems)}`, {
      hint: "Use the model that the adapter was trained with.",
    });
  }
  return changes;
}

/** Replaces rows of a table by given rows [tokens, columns], after its other changes. */
function rowChange(tokens: readonly number[], rows: Float32Array, columns: number, before?: Change): Change {
  return (values, begin) => {
    before?.(values, begin);
    tokens.forEach((id, i) => {
      const from = Math.max(0, id * columns - begin);
      const to = Math.min(values.length, (id + 1) * columns - begin);
      const first = i * columns - (id * columns - begin);
      if (from < to) values.set(rows.subarray(first + from, first + to), from);
    });
  };
}

/** Transposes a matrix [rows, columns]. */
function turned(matrix: Float32Array, columns: number): Float32Array {
  const rows = matrix.length / columns;
  return Float32Array.from(matrix, (_, i) => matrix[(i % rows) * columns + Math.floor(i / rows)] as number);
}

/** @param a [rank, columns], @param b [rows, rank] */
function changeOf(a: Float32Array, b: Float32Array, rank: number, columns: number, scale: number): Change {
  return (values, begin) => {
    const sum = new Float64Array(columns);
    for (let done = 0; done < values.length; ) {
      const row = Math.floor((begin + done) / columns);
      const first = (begin + done) % columns;
      const count = Math.min(columns - first, values.length - done);
      sum.fill(0);
      for (let k = 0; k < rank; k++) {
        const factor = scale * (b[row * rank + k] as number);
        const from = k * columns + first;
        for (let j = 0; j < count; j++) sum[j] = (sum[j] as number) + factor * (a[from + j] as number);
      }
      for (let j = 0; j < count; j++) values[done + j] = (values[done + j] as number) + (sum[j] as number);
      done += count;
    }
  };
}
