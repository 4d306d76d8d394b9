import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import fc from "fast-check";
import { UserError } from "../../src/core/errors.js";
import { typedArray } from "../../src/onnx/graph.js";
import { BYTES, type DType, type Tensor } from "../../src/onnx/types.js";
import { openSafetensors, readSafetensors, readTensor, writeSafetensors } from "../../src/weights/safetensors.js";
import { temporaryFolder } from "../support/temporary.js";
import { f32 } from "../support/tensors.js";

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
  const path = join(dir, "a.safetensors");

  /** A file with this header (an object, or its text) and this many bytes of data. */
  const write = (header: unknown, bytes: number, length?: number): void => {
    const json = Buffer.from(typeof header === "string" ? header : JSON.stringify(header));
    const head = Buffer.alloc(8);
    head.writeBigUInt64LE(BigInt(length ?? json.length));
    writeFileSync(path, Buffer.concat([head, json, Buffer.alloc(bytes)]));
  };
  const refused = (why: RegExp): void => {
    const named = (error: unknown) => error instanceof UserError && error.message.includes(path);
    assert.throws(() => openSafetensors(path), named);
    assert.throws(() => openSafetensors(path), why);
    assert.throws(() => readSafetensors(path), UserError);
  };
  const tensor = (dtype: string, shape: number[], ...data_offsets: number[]) => ({ dtype, shape, data_offsets });
  const floats = (begin: number, end: number): object => tensor("F32", [(end - begin) / 4], begin, end);

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
    const values = Object.entries({ b: 2, "a.10": 1, "a.9": 3, B: 4 });
    writeSafetensors(path, new Map(values.map(([name, value]) => [name, f32([1], value)])));
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
          map.set(name, { dtype, shape: [n], data: typedArray(dtype, Array(n).fill(n)) });
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
    const short: Tensor = { dtype: "float32", shape: [3], data: new Float32Array(2) };
    assert.throws(() => writeSafetensors(path, new Map([["x", short]])), /12 bytes, got 8/);
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
    const none = join(dir, "none");
    assert.throws(
      () => openSafetensors(none),
      (error) => error instanceof UserError && error.message.includes(none),
    );
    assert.throws(() => openSafetensors(dir), UserError);
    write("{}", 0, 2 ** 40);
    refused(/header of/);
    const twice = '{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}';
    for (const [header, bytes, why] of [
      ["{", 0, /not JSON/],
      ["[]", 0, /not an object/],
      ["{}", 4, /4 bytes behind the header/],
      [{ a: floats(0, 8), b: floats(4, 12) }, 12, /tensor "b" overlaps tensor "a"/],
      [{ a: floats(0, 4), b: floats(8, 12) }, 12, /4 bytes between tensor "a" and tensor "b"/],
      [{ a: floats(0, 16) }, 12, /out of range/],
      [{ a: tensor("F32", [2], 0, 4) }, 4, /needs 8 bytes, data_offsets span 4/],
      [{ a: tensor("F32", [-1], 4, 0) }, 4, /shape/],
      [{ a: tensor("F3", [1], 0, 1) }, 1, /not a valid safetensors file: .*dtype "F3"/],
      [{ a: tensor("F32", [1], 0) }, 4, /data_offsets/],
      [{ a: null }, 0, /not an object/],
      [{ __metadata__: { a: 1 } }, 0, /__metadata__/],
      [`${twice},"\\u0061" : {"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4, /names "a" twice/],
    ] as const) {
      write(header, bytes);
      refused(why);
    }
    // valid files of types that are not read
    for (const dtype of ["F8_E4M3FNUZ", "F8_E5M2", "F8_E8M0", "F4", "F6_E2M3", "I16", "U64"]) {
      write({ a: tensor(dtype, [8], 0, 8) }, 8);
      refused(new RegExp(`safetensors: the tensor "a" is ${dtype}, and only F64, .* are read here`));
    }
    // the same word as a value is no repetition
    write('{"__metadata__":{"a":"a","b":"a"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', 4);
    assert.equal(openSafetensors(path).tensors.size, 1);
  });
});
