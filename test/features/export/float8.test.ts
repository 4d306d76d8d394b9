import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openFloat8, scalesOf } from "../../../src/features/export/float8.js";
import { floatsOf } from "../../../src/weights/model-weights.js";
import { openSafetensors } from "../../../src/weights/safetensors.js";
import { temporaryFolder } from "../../support/temporary.js";

test("FP8: codes by the format, one scale in all, a row or a block; others are refused", () => {
  const path = join(temporaryFolder("float8"), "w.safetensors");
  // 1, -2, 448, the smallest subnormal 2^-9, 0, 1.125
  const codes = [0x38, 0xc0, 0x7e, 0x01, 0x00, 0x39];
  const head = JSON.stringify({ w: { dtype: "F8_E4M3", shape: [2, 3], data_offsets: [0, 6] } });
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(head.length));
  writeFileSync(path, Buffer.concat([size, Buffer.from(head), Buffer.from(codes)]));
  const header = openSafetensors(path);
  const values = (shape: number[], scales: number[], block: [number, number] = [128, 128]): number[] => {
    const weight = openFloat8(header, "w", floatsOf("float32", shape, Float32Array.from(scales)), block);
    return [...weight.read(0, 6)];
  };
  assert.deepEqual(values([], [1]), [1, -2, 448, 2 ** -9, 0, 1.125]);
  assert.deepEqual(values([2, 1], [2, 4]), [2, -4, 896, 2 ** -7, 0, 4.5]);
  assert.deepEqual(values([2, 2], [1, 2, 4, 8], [1, 2]), [1, -2, 896, 2 ** -7, 0, 9]);
  assert.throws(() => values([3], [1, 2, 3]), /The scales of w \[2, 3\] are \[3\]/);
  assert.equal(scalesOf("w", new Map()), undefined);
});
