import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { packageRoot } from "../../../src/core/files.js";
import { encodeNf4, encodeScales } from "../../../src/features/export/quantize.js";
import { decodeNf4, decodeScales, dynamicMap } from "../../../src/weights/quantize.js";
import { readSafetensors } from "../../../src/weights/safetensors.js";
import { close } from "../../support/close.js";

/** What bitsandbytes makes of the same weights (scripts/golden/checkpoints.py). */
const golden = readSafetensors(join(packageRoot(), "test", "golden", "checkpoint", "expected.safetensors"));
const floats = (name: string): Float32Array => golden.get(`nf4.${name}`)?.data as Float32Array;
const bytes = (name: string): Uint8Array => golden.get(`nf4.${name}`)?.data as Uint8Array;

const encoded = (weights: Float32Array): { codes: Uint8Array; absmax: Float32Array } => {
  const codes = new Uint8Array(weights.length / 2);
  const absmax = new Float32Array(weights.length / 64);
  encodeNf4(weights, codes, absmax);
  return { codes, absmax };
};

describe("NF4", () => {
  it("has bitsandbytes' scales, and its codes wherever a block is not zero", () => {
    const { codes, absmax } = encoded(floats("weight"));
    assert.deepEqual(absmax, floats("plain.absmax"));
    const expected = bytes("plain.codes");
    const differing = Array.from(codes).filter((code, i) => code !== expected[i] && absmax[Math.floor(i / 32)] !== 0);
    assert.deepEqual(differing, []);
  });

  it("decodes to what bitsandbytes decodes to", () => {
    const { codes, absmax } = encoded(floats("weight"));
    assert.deepEqual(
      decodeNf4(codes, absmax).map((x) => x + 0),
      floats("plain.decoded").map((x) => x + 0),
    );
  });

  it("quantises the scales as bitsandbytes does", () => {
    const { absmax } = encoded(floats("weight"));
    const scales = encodeScales(absmax);
    assert.ok(Math.abs(scales.offset - (floats("nested.offset")[0] as number)) < 1e-6);
    assert.equal(scales.nested.length, 2);
    close(scales.nested, [...floats("nested.nested_absmax")]);
    close(dynamicMap(), [...floats("nested.nested_map")]);
    // where a code differs, ours is the nearer one
    const theirs = decodeScales({ ...scales, codes: bytes("nested.absmax") });
    const differing = scales.codes.filter((code, i) => code !== bytes("nested.absmax")[i]);
    assert.ok(differing.length <= 0.02 * absmax.length, `${differing.length} of ${absmax.length}`);
    decodeScales(scales).forEach((x, i) => {
      const scale = absmax[i] as number;
      assert.ok(Math.abs(x - scale) <= Math.abs((theirs[i] as number) - scale) + 1e-6, `${i}`);
    });
  });

  it("reads what bitsandbytes quantised, scales and all", () => {
    const scales = {
      codes: bytes("nested.absmax"),
      nested: floats("nested.nested_absmax"),
      offset: floats("nested.offset")[0] as number,
    };
    const decoded = decodeNf4(bytes("nested.codes"), decodeScales(scales, floats("nested.nested_map")));
    close(decoded, [...floats("nested.decoded")]);
  });
});
