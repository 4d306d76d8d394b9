import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { decode, encode } from "../../../src/features/cluster/queue/codec.js";

describe("plain data as bytes", () => {
  it("comes back exactly, typed arrays and odd numbers too", () => {
    const value = {
      text: "é\u0000",
      list: [1, -0, Number.NaN, Number.POSITIVE_INFINITY, null, true],
      nested: { f32: Float32Array.of(1e-45, -0, Number.NaN), empty: new Float32Array(0) },
      i64: BigInt64Array.of(-(2n ** 63n), 5n),
      bytes: Uint8Array.of(1, 2, 3),
      bits: Uint16Array.of(0xffff),
    };
    assert.deepEqual(decode(encode(value)), value);
    // wherever the bytes lie
    const shifted = Buffer.concat([Buffer.from([9]), encode(value)]).subarray(1);
    assert.deepEqual(decode(shifted), value);
  });

  it("gives equal bytes for equal data", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.float32Array(), (json, array) => {
        const value = [json, array].map((x) => structuredClone(x));
        fc.pre(!JSON.stringify(json)?.includes('"$"') && !JSON.stringify(json)?.includes("__proto__"));
        assert.ok(encode([json, array]).equals(encode(value)));
        assert.deepEqual(decode(encode(value)), value);
      }),
      { seed: 1, numRuns: 50 },
    );
  });

  it("leaves out what is undefined, and refuses what is no data, by its place", () => {
    assert.deepEqual(decode(encode({ a: undefined, b: 1 })), { b: 1 });
    assert.throws(() => encode({ a: { b: () => 1 } }), /b: function/);
    assert.throws(() => encode([new Map()]), /0: object/);
    assert.throws(() => encode({ $: 1 }), /may not be called/);
  });

  it("does not read past the end of a message that was cut off", () => {
    const bytes = encode({ a: new Float32Array(100) });
    assert.throws(() => decode(bytes.subarray(0, bytes.length - 8)), /cut off/);
  });
});
