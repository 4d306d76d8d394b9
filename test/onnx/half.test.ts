import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bfloat16ToFloat, float16ToFloat, floatToBfloat16, floatToFloat16 } from "../../src/onnx/half.js";

const all = Uint16Array.from({ length: 65536 }, (_, i) => i);

describe("16-bit floats", () => {
  it("come back as they were, every one of them", () => {
    const [bf, hf] = [bfloat16ToFloat(all), float16ToFloat(all)];
    const back = [floatToBfloat16(bf), floatToFloat16(hf)];
    for (let i = 0; i < 65536; i++) {
      if (!Number.isNaN(bf[i])) assert.equal(back[0]?.[i], i, `bf16 ${i}`);
      if (!Number.isNaN(hf[i])) assert.equal(back[1]?.[i], i, `fp16 ${i}`);
    }
  });

  it("keep NaN, and never make one", () => {
    for (const convert of [
      (x: number) => bfloat16ToFloat(floatToBfloat16(Float32Array.of(x)))[0],
      (x: number) => float16ToFloat(floatToFloat16(Float32Array.of(x)))[0],
    ]) {
      assert.ok(Number.isNaN(convert(Number.NaN)));
      assert.equal(convert(Number.POSITIVE_INFINITY), Number.POSITIVE_INFINITY);
      assert.equal(convert(-3.4e38), Number.NEGATIVE_INFINITY);
    }
  });

  it("round to the nearest, ties to even", () => {
    // bf16 has 8 bits of precision, fp16 has 11
    const bf = (x: number): number => bfloat16ToFloat(floatToBfloat16(Float32Array.of(x)))[0] as number;
    assert.deepEqual([1 + 2 ** -8, 1 + 3 * 2 ** -8, 1 + 2 ** -8 + 2 ** -20].map(bf), [1, 1 + 2 ** -6, 1 + 2 ** -7]);
    const hf = (x: number): number => float16ToFloat(floatToFloat16(Float32Array.of(x)))[0] as number;
    assert.deepEqual([1 + 2 ** -11, 1 + 3 * 2 ** -11, 1 + 2 ** -11 + 2 ** -20].map(hf), [1, 1 + 2 ** -9, 1 + 2 ** -10]);
    assert.deepEqual([65504, 65519, 65520].map(hf), [65504, 65504, Number.POSITIVE_INFINITY]);
    // subnormals, down to half of the smallest
    assert.deepEqual([2 ** -24, 2 ** -25, 3 * 2 ** -25, 1.1 * 2 ** -25].map(hf), [2 ** -24, 0, 2 ** -23, 2 ** -24]);
    assert.equal(hf(2 ** -14 - 2 ** -26), 2 ** -14);
  });
});
