import { sizeOf } from "../../onnx/shapes.js";
import type { StoredMatrix } from "../../weights/model-weights.js";

/** Selects rows of a stored matrix in any order, or elements of a vector; some may be left out. */
export function rowsOf(stored: StoredMatrix, rows: readonly number[]): StoredMatrix {
  const columns = sizeOf(stored.shape.slice(1));
  return {
    dtype: stored.dtype,
    shape: [rows.length, ...stored.shape.slice(1)],
    read(begin, end) {
      const out = new Float32Array(end - begin);
      for (let at = begin; at < end; ) {
        // consecutive rows are read together
        let row = Math.floor(at / columns);
        const shift = ((rows[row] as number) - row) * columns;
        while (row + 1 < rows.length && (row + 1) * columns < end && rows[row + 1] === (rows[row] as number) + 1) row++;
        const next = Math.min(end, (row + 1) * columns);
        out.set(stored.read(at + shift, next + shift), at - begin);
        at = next;
      }
      return out;
    },
  };
}
