import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import fc from "fast-check";
import { UserError } from "../../src/core/errors.js";
import { BYTES, type DType, type Tensor } from "../../src/onnx/types.js";
import { openSafetensors, readSafetensors, readTensor, writeSafetensors } from "../../src/weights/safetensors.js";
import { temporaryFolder } from "../support/temporary.js";

const ALL: readonly [string, Tensor][] = [
  ["f64", { dtype: "float64", shape: [2], data: Float64Array.of(Math.PI, -0) }],
  ["f32", { dtype: "float32", shape: [2, 3], data: Float32Array.of(1, 2, 3, Number.NaN, -Infinity, 1e-40) }],
  ["f16", { dtype: "float16", shape: [3], data: Uint16Array.of(0x3c00, 0x7c00, 1) }],
  ["bf16", { dtype: "bfloat16", shape: [1, 1], data: Uint16Array.of(0x3f80) }],
  ["i64", { dtype: "int64", shape: [], data: BigInt64Array.of(-(2n ** 63n)) }],
  ["i32", { dtype: "int32", shape: [1], data: Int32Array.of(-7) }],
  ["u32", { dtype: "uint32", shape: [1], data: Uint32Array.of(2 ** 32 - 1) }],
  ["i8", { dtype: "int8", shape: [3], data: Int8Array.of(-128, 0, 127) }],
  ["u8", { dtype: "uint8", shape: [1], data: Uint8Array.of(255) }],
  ["bool", { dtype: "bool", shape: [2], data: Uint8Array.of(0, 1) }],
  ["empty", { dtype: "float32", shape: [0, 4], data: new Float32Array(0) }],
];

describe("safetensors", () => {
  const dir = temporaryFolder("safetensors");
  let path = "";
  path = join(dir, "a.safetensors");

  /** A file with this header (an object, or its text) and this many bytes of data. */
  const write = (header: unknown, bytes: number, length?: number): void => {
    const json = Buffer.from(typeof header === "string" ? header : JSON.stringify(header));
    const head = Buffer.alloc(8);
    head.writeBigUInt64LE(BigInt(length ?? json.length));
    writeFileSync(path, Buffer.concat([head, json, Buffer.alloc(bytes)]));
  };
  const refused = (why: RegExp): void => {
    assert.throws(
      () => openSafetensors(path),
      (error) => error instanceof UserError && error.message.includes(path) && why.test(error.message),
      String(why),
    );
    assert.throws(() => readSafetensors(path), UserError);
  };
  const f32 = (begin: number, end: number): object => ({
    dtype: "F32",
    shape: [(end - begin) / 4],
    data_offsets: [begin, end],
  });

  it("gives every dtype back, bit by bit", () => {
    writeSafetensors(path, new Map(ALL), { format: "pt" });
    const read = readSafetensors(path);
    assert.equal(read.size, ALL.length);
    for (const [name, tensor] of ALL) assert.deepEqual(read.get(name), tensor, name);
    const header = openSafetensors(path);
    assert.deepEqual(header.metadata, { format: "pt" });
    assert.deepEqual(readTensor(header, "f32"), ALL[1]?.[1]);
    assert.throws(() => readTensor(header, "f33"), /has no tensor "f33"/);
  });

  it("sorts by name, aligns the data and gives absolute offsets", () => {
    const one = (value: number): Tensor => ({ dtype: "float32", shape: [1], data: Float32Array.of(value) });
    writeSafetensors(
      path,
      new Map([
        ["b", one(2)],
        ["a.10", one(1)],
        ["a.9", one(3)],
        ["B", one(4)],
      ]),
    );
    const { tensors } = openSafetensors(path);
    assert.deepEqual([...tensors.keys()], ["B", "a.10", "a.9", "b"]);
    const bytes = readFileSync(path);
    const actual = [...tensors.values()].map(({ offset }) => bytes.readFloatLE(offset));
    assert.deepEqual(actual, [4, 1, 3, 2]);
    assert.equal(tensors.get("B")?.offset, 64 * Math.ceil((tensors.get("B")?.offset ?? 1) / 64));
    assert.deepEqual(readdirSync(dir), ["a.safetensors"], "no temporary file is left");
  });

  it("aligns every tensor to its element size, whatever the mix", () => {
    const tensors = fc.dictionary(
      fc.string({ unit: "grapheme" }).filter((name) => name !== "__metadata__"),
      fc.record({ dtype: fc.constantFrom<DType>("float64", "float32", "bfloat16", "uint8"), n: fc.nat(9) }),
    );
    fc.assert(
      fc.property(tensors, (specs) => {
        const map = new Map<string, Tensor>();
        for (const [name, { dtype, n }] of Object.entries(specs)) {
          const data = {
            float64: new Float64Array(n),
            float32: new Float32Array(n),
            bfloat16: new Uint16Array(n),
            uint8: new Uint8Array(n),
          };
          map.set(name, { dtype, shape: [n], data: data[dtype as keyof typeof data].fill(n) });
        }
        writeSafetensors(path, map);
        const header = openSafetensors(path);
        for (const [name, { dtype, offset }] of header.tensors) assert.equal(offset % BYTES[dtype], 0, name);
        assert.deepEqual(new Map([...readSafetensors(path)].sort()), new Map([...map].sort()));
      }),
      { seed: 3, numRuns: 100 },
    );
  });

  it("writes a view of a larger buffer", () => {
    const data = new Float32Array(10).map((_, i) => i).subarray(3, 5);
    writeSafetensors(path, new Map([["view", { dtype: "float32", shape: [2], data }]]));
    assert.deepEqual(readSafetensors(path).get("view")?.data, Float32Array.of(3, 4));
  });

  it("refuses to write what it could not read, and leaves the old file alone", () => {
    writeSafetensors(path, new Map([["x", ALL[1]?.[1] as Tensor]]));
    const { mtimeMs } = statSync(path);
    assert.throws(
      () => writeSafetensors(path, new Map([["x", { dtype: "float32", shape: [3], data: new Float32Array(2) }]])),
      /12 bytes, got 8/,
    );
    assert.throws(() => writeSafetensors(path, new Map([["__metadata__", ALL[1]?.[1] as Tensor]])), RangeError);
    assert.equal(statSync(path).mtimeMs, mtimeMs);
    assert.throws(() => writeSafetensors(join(path, "below", "x"), new Map()), UserError);
  });

  it("refuses files that are cut off at any byte", () => {
    writeSafetensors(path, new Map(ALL));
    const bytes = readFileSync(path);
    for (let length = 0; length < bytes.length; length += length < 100 ? 1 : 37) {
      writeFileSync(path, bytes.subarray(0, length));
      refused(/expected at least 8|truncated/);
    }
  });

  it("refuses broken headers and names the file", () => {
    assert.throws(
      () => openSafetensors(join(dir, "none")),
      (error) => error instanceof UserError && error.message.includes(join(dir, "none")),
    );
    assert.throws(() => openSafetensors(dir), UserError);
    write("{", 0);
    refused(/not JSON/);
    write("[]", 0);
    refused(/not an object/);
    write("{}", 0, 2 ** 40);
    refused(/header of/);
    write("{}", 4);
    refused(/4 bytes behind the header/);
    write({ a: f32(0, 8), b: f32(4, 12) }, 12);
    refused(/tensor "b" overlaps tensor "a"/);
    write({ a: f32(0, 4), b: f32(8, 12) }, 12);
    refused(/4 bytes between tensor "a" and tensor "b"/);
    write({ a: f32(0, 16) }, 12);
    refused(/out of range/);
    write({ a: { dtype: "F32", shape: [2], data_offsets: [0, 4] } }, 4);
    refused(/needs 8 bytes, data_offsets span 4/);
    write({ a: { dtype: "F32", shape: [-1], data_offsets: [4, 0] } }, 4);
    refused(/shape/);
    write({ a: { dtype: "F3", shape: [1], data_offsets: [0, 1] } }, 1);
    refused(/not a valid safetensors file: .*dtype "F3"/);
    // valid files of types that are not read
    for (const dtype of ["F8_E4M3FNUZ", "F8_E5M2", "F8_E8M0", "F4", "F6_E2M3", "I16", "U64"]) {
      write({ a: { dtype, shape: [8], data_offsets: [0, 8] } }, 8);
      refused(new RegExp(`safetensors: the tensor "a" is ${dtype}, and only F64, .* are read here`));
    }
    write({ a: { dtype: "F32", shape: [1], data_offsets: [0] } }, 4);
    refused(/data_offsets/);
    write({ a: null }, 0);
    refused(/not an object/);
    write({ __metadata__: { a: 1 } }, 0);
    refused(/__metadata__/);
    const twice = '{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}';
    write(`${twice},"\\u0061" : {"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4);
    refused(/names "a" twice/);
    // the same word as a value is no repetition
    write('{"__metadata__":{"a":"a","b":"a"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', 4);
    assert.equal(openSafetensors(path).tensors.size, 1);
  });
});
