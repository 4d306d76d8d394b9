import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, test } from "node:test";
import { packageRoot } from "../../../src/core/files.js";
import { openFloat8, scalesOf } from "../../../src/features/export/float8.js";
import { formOf, isProjection } from "../../../src/features/export/forms.js";
import { encodeNf4, encodeScales } from "../../../src/features/export/quantize.js";
import { floatsOf } from "../../../src/weights/model-weights.js";
import { decodeNf4, decodeScales, dynamicMap } from "../../../src/weights/quantize.js";
import { openSafetensors, readSafetensors } from "../../../src/weights/safetensors.js";
import { close } from "../../support/close.js";
import { temporaryFolder } from "../../support/temporary.js";

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

describe("forms of weights", () => {
  it("are 4 bits for projections, under each family's names", () => {
    const projections = [
      "model.layers.0.self_attn.q_proj.weight",
      "model.layers.0.mlp.down_proj.weight",
      "blocks.3.attn_out.weight",
      ...["q_proj", "attn_out", "ff_proj", "up_proj", "ff_out"].map((n) => `model.transformer.blocks.11.${n}.weight`),
    ];
    for (const name of projections) {
      assert.ok(isProjection(name), name);
      assert.equal(formOf(name, [64, 64], "bfloat16", "nf4", false), "nf4");
    }
    // LLaDA's head is called as its down projections are
    for (const name of ["model.transformer.ff_out.weight", "lm_head.weight", "model.transformer.wte.weight"]) {
      assert.ok(!isProjection(name), name);
      assert.equal(formOf(name, [64, 64], "bfloat16", "nf4", false), "bfloat16");
    }
    // what was quantised, and is no projection, is kept in full
    assert.equal(formOf("lm_head.weight", [64, 64], "uint8", "nf4", false), "float32");
    assert.equal(formOf("model.layers.0.self_attn.q_proj.bias", [64], "bfloat16", "nf4", false), "float32");
  });
});
