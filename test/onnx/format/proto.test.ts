import assert from "node:assert/strict";
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { UserError } from "../../../src/core/errors.js";
import {
  AttributeProto_AttributeType as AttributeType,
  TensorProto_DataLocation as DataLocation,
  TensorProto_DataType as DataType,
  type GraphProtoSchema,
  ModelProtoSchema,
  type TensorProtoSchema,
} from "../../../src/onnx/format/gen/onnx_pb.js";
import { decodeModel, encodeModel, readModelFile, writeModelFile } from "../../../src/onnx/format/proto.js";
import type { RawModel } from "../../../src/onnx/format/raw-model.js";
import type { Attribute, DType, Initializer, TypedArray, Value } from "../../../src/onnx/types.js";
import { mutatedBytes } from "../../support/mutations.js";
import { temporaryFolder } from "../../support/temporary.js";
import { userError } from "../../support/user-error.js";

const ALL_DTYPES: Readonly<Record<DType, TypedArray>> = {
  float32: Float32Array.of(1.5, -0, Number.NaN),
  float64: Float64Array.of(Math.PI, Number.NEGATIVE_INFINITY, 5e-324),
  float16: Uint16Array.of(0x3c00, 0x7c00, 1),
  bfloat16: Uint16Array.of(0x3f80, 0xff80, 0xffff),
  int64: BigInt64Array.of(-(2n ** 63n), 2n ** 63n - 1n, 7n),
  int32: Int32Array.of(-(2 ** 31), 2 ** 31 - 1, 0),
  int8: Int8Array.of(-128, 127, 0),
  uint8: Uint8Array.of(0, 255, 3),
  uint32: Uint32Array.of(0, 2 ** 32 - 1, 3),
  bool: Uint8Array.of(0, 1, 1),
};

type Named = [string, Initializer];
const initializer = (name: string, dtype: DType, shape: readonly number[], data: Initializer["data"]): Named => {
  return [name, { value: { name, dtype, shape }, data }];
};

/** A model with everything that a file can hold. */
function fullModel(): RawModel {
  const x: Value = { name: "x", dtype: "float32", shape: ["B", "B*N", 3] };
  return {
    name: "full",
    producer: "pytorch",
    opset: 21,
    inputs: [x, { name: "flag", dtype: "bool", shape: [] }],
    outputs: [{ name: "y", dtype: "int64", shape: ["B", 0] }],
    nodes: [
      {
        name: "/clip",
        op: "Clip",
        domain: "",
        inputs: ["x", undefined, "w_float32"],
        outputs: ["a", ""],
        attributes: {},
        metadata: { "pkg.torch.onnx.name_scopes": "['', 'encoder', 'clip']" },
      },
      {
        name: "/custom",
        op: "FusedMatMul",
        domain: "com.microsoft",
        inputs: ["a", "external"],
        outputs: ["y"],
        attributes: {
          alpha: 1,
          transA: 1,
          big: 2n ** 62n + 1n,
          axes: [0, -1, 3],
          ends: [Number(2n ** 63n - 1n), -(2 ** 63)],
          text: "é|\u0000",
          texts: ["a", "", "ß"],
          scales: [1, 2],
          fraction: 0.5,
          value: { dtype: "int64", shape: [2], data: BigInt64Array.of(1n, -1n) },
        },
      },
    ],
    initializers: new Map([
      ...Object.entries(ALL_DTYPES).map(([dtype, data]) => initializer(`w_${dtype}`, dtype as DType, [3], data)),
      initializer("scalar", "float32", [], Float32Array.of(2)),
      initializer("empty", "float32", [0, 4], new Float32Array(0)),
      initializer("external", "float32", [2, 3], { file: "sub/model.safetensors", offset: 2 ** 33, length: 24 }),
    ]),
    metadata: { rank: "8", note: "ü" },
  };
}

function refuses(action: () => unknown, pattern: RegExp): void {
  assert.throws(action, userError(/file\.onnx/));
  assert.throws(action, userError(pattern));
}

/** Decodes a model whose graph is written by hand. */
function decodeHandmade(graph: MessageInitShape<typeof GraphProtoSchema>): RawModel {
  const model = create(ModelProtoSchema, { irVersion: 10n, opsetImport: [{ version: 21n }], graph });
  return decodeModel(toBinary(ModelProtoSchema, model), "file.onnx");
}

describe("encodeModel and decodeModel", () => {
  it("give back every dtype, attribute, dimension and reference", () => {
    const model = fullModel();
    assert.deepEqual(decodeModel(encodeModel(model), "full"), model);
  });

  it("give the same bytes again", () => {
    const bytes = encodeModel(fullModel());
    assert.deepEqual(encodeModel(decodeModel(bytes, "full")), bytes);
    assert.deepEqual(encodeModel(fullModel()), bytes);
  });

  it("write a Graph's nodes by the names of their values", () => {
    const x: Value = { name: "x", dtype: "float32", shape: ["N"] };
    const y: Value = { name: "y", dtype: "float32", shape: ["N"] };
    const node = { name: "/Clip", op: "Clip", domain: "", inputs: [x, undefined, x], outputs: [y], attributes: {} };
    const graph = { name: "g", opset: 21, inputs: [x], outputs: [y], nodes: [node] };
    const decoded = decodeModel(encodeModel({ ...graph, initializers: new Map() }), "g");
    assert.deepEqual(decoded.nodes, [{ ...node, inputs: ["x", undefined, "x"], outputs: ["y"] }]);
  });

  it("tell floats from integers by the operator's schema", () => {
    const typed = (op: string, attributes: Record<string, Attribute>): Record<string, string> => {
      const node = { name: "n", op, domain: "", inputs: [], outputs: ["y"], attributes };
      const bytes = encodeModel({ ...fullModel(), nodes: [node] });
      const [proto] = fromBinary(ModelProtoSchema, bytes).graph?.node ?? [];
      return Object.fromEntries((proto?.attribute ?? []).map(({ name, type }) => [name, AttributeType[type]]));
    };
    assert.deepEqual(typed("Gemm", { alpha: 1, beta: 0, transA: 1 }), { alpha: "FLOAT", beta: "FLOAT", transA: "INT" });
    assert.deepEqual(typed("LayerNormalization", { epsilon: 1, axis: -1 }), { epsilon: "FLOAT", axis: "INT" });
    assert.deepEqual(typed("Dropout", { seed: 1, ratio: 0 }), { seed: "INT", ratio: "FLOAT" });
    assert.deepEqual(typed("RandomNormal", { seed: 1, shape: [2] }), { seed: "FLOAT", shape: "INTS" });
    assert.deepEqual(typed("Upsample", { scales: [1, 2] }), { scales: "FLOATS" });
    assert.deepEqual(typed("Custom", { share: 0.5, shares: [1, 0.5] }), { share: "FLOAT", shares: "FLOATS" });
  });

  it("declare com.microsoft only where a node uses it", () => {
    const domains = (model: RawModel): string[] =>
      fromBinary(ModelProtoSchema, encodeModel(model)).opsetImport.map(({ domain, version }) => `${domain}:${version}`);
    assert.deepEqual(domains(fullModel()), [":21", "com.microsoft:1"]);
    assert.deepEqual(domains({ ...fullModel(), nodes: [] }), [":21"]);
  });

  it("refuse to write data that does not fit its shape", () => {
    const initializers = new Map([initializer("w", "float32", [2], Float32Array.of(1))]);
    const refusal = /"w" is float32 \[2\] of 8 bytes, but its data has 4/;
    assert.throws(() => encodeModel({ ...fullModel(), initializers }), refusal);
  });
});

describe("decodeModel", () => {
  const external = (dims: bigint[], location: string, more: Record<string, string> = {}) => {
    const externalData = Object.entries({ location, ...more }).map(([key, value]) => ({ key, value }));
    const dataLocation = DataLocation.EXTERNAL;
    return { name: "w", dataType: DataType.FLOAT, dims, dataLocation, externalData };
  };

  it("reads element lists as well as raw bytes", () => {
    const lists: Record<DType, MessageInitShape<typeof TensorProtoSchema>> = {
      float32: { dataType: DataType.FLOAT, floatData: [1.5, -0, Number.NaN] },
      float64: { dataType: DataType.DOUBLE, doubleData: [Math.PI, Number.NEGATIVE_INFINITY, 5e-324] },
      float16: { dataType: DataType.FLOAT16, int32Data: [0x3c00, 0x7c00, 1] },
      bfloat16: { dataType: DataType.BFLOAT16, int32Data: [0x3f80, 0xff80, 0xffff] },
      int64: { dataType: DataType.INT64, int64Data: [-(2n ** 63n), 2n ** 63n - 1n, 7n] },
      int32: { dataType: DataType.INT32, int32Data: [-(2 ** 31), 2 ** 31 - 1, 0] },
      int8: { dataType: DataType.INT8, int32Data: [-128, 127, 0] },
      uint8: { dataType: DataType.UINT8, int32Data: [0, 255, 3] },
      uint32: { dataType: DataType.UINT32, uint64Data: [0n, 2n ** 32n - 1n, 3n] },
      bool: { dataType: DataType.BOOL, int32Data: [0, 1, 1] },
    };
    const initializer = Object.entries(lists).map(([name, list]) => ({ ...list, name, dims: [3n] }));
    const { initializers } = decodeHandmade({ initializer });
    for (const [dtype, data] of Object.entries(ALL_DTYPES))
      assert.deepEqual(initializers.get(dtype)?.data, data, dtype);
  });

  it("leaves out inputs that an initializer provides, and names anonymous dimensions", () => {
    const type = { value: { case: "tensorType" as const, value: { elemType: DataType.FLOAT, shape: { dim: [{}] } } } };
    const initializer = [{ name: "w", dataType: DataType.FLOAT, dims: [1n], floatData: [1] }];
    const model = decodeHandmade({ input: ["w", "x"].map((name) => ({ name, type })), initializer });
    assert.deepEqual(model.inputs, [{ name: "x", dtype: "float32", shape: ["x_dim_0"] }]);
  });

  it("takes the size of external data from the shape where the file does not say it", () => {
    const model = decodeHandmade({ initializer: [external([4n, 2n], "w.bin")] });
    assert.deepEqual(model.initializers.get("w")?.data, { file: "w.bin", offset: 0, length: 32 });
  });

  it("refuses subgraphs, naming the operator", () => {
    const attribute = [{ name: "body", type: AttributeType.GRAPH, g: { name: "b" } }];
    const node = [{ name: "/loop", opType: "Loop", attribute }];
    refuses(() => decodeHandmade({ node }), /operator Loop \("\/loop"\), attribute "body" with a subgraph/);
  });

  it("refuses sequence and optional types, unknown element types, domains and operator sets", () => {
    const sequence = { value: { case: "sequenceType" as const, value: {} } };
    refuses(() => decodeHandmade({ input: [{ name: "s", type: sequence }] }), /input "s" of sequence type/);
    const optional = { value: { case: "optionalType" as const, value: {} } };
    refuses(() => decodeHandmade({ output: [{ name: "o", type: optional }] }), /output "o" of optional type/);
    const text = { name: "t", dataType: DataType.STRING, dims: [0n] };
    refuses(() => decodeHandmade({ initializer: [text] }), /initializer "t" of element type STRING/);
    const node = [{ opType: "Tree", domain: "ai.onnx.ml" }];
    refuses(() => decodeHandmade({ node }), /operator Tree of the domain ai\.onnx\.ml/);
    const noOpset = toBinary(ModelProtoSchema, create(ModelProtoSchema, { graph: {} }));
    refuses(() => decodeModel(noOpset, "file.onnx"), /operator set/);
    refuses(() => decodeModel(new Uint8Array(0), "file.onnx"), /no graph/);
  });

  it("refuses external data outside the model's folder", () => {
    const outside = ["/etc/passwd", "../w.bin", "a/../../w.bin", "a\\..\\w.bin", "\\\\host\\w", "C:\\w.bin"];
    for (const location of ["", "w\0.bin", ...outside]) {
      const refusal = /initializer "w" keeps its data in .*not inside the model's folder/s;
      refuses(() => decodeHandmade({ initializer: [external([1n], location)] }), refusal);
    }
  });

  it("refuses data whose size is not its shape's", () => {
    const tensor = (init: MessageInitShape<typeof TensorProtoSchema>): (() => unknown) => {
      return () => decodeHandmade({ initializer: [{ name: "w", dataType: DataType.FLOAT, ...init }] });
    };
    refuses(tensor({ dims: [2n], rawData: new Uint8Array(7) }), /float32 \[2\], that is 8 bytes, but its data has 7/);
    refuses(tensor({ dims: [2n], floatData: [1] }), /8 bytes, but its data has 4/);
    refuses(tensor({ dims: [2n ** 40n, 2n ** 40n] }), /too large/);
    refuses(tensor({ dims: [-1n] }), /dimension of -1/);
    refuses(tensor(external([2n], "w.bin", { length: "9" })), /8 bytes, but its data has 9/);
    refuses(tensor(external([2n], "w.bin", { offset: "-4" })), /external offset "-4"/);
  });

  it("ends in a model or a UserError whatever the bytes are", () => {
    const some = fc.oneof(mutatedBytes(encodeModel(fullModel())), fc.uint8Array({ maxLength: 64 }));
    const property = fc.property(some, (bytes) => {
      try {
        decodeModel(bytes, "file.onnx");
      } catch (error) {
        assert.ok(error instanceof UserError && error.message.includes("file.onnx"), (error as Error).stack);
      }
    });
    fc.assert(property, { seed: 1, numRuns: 3000 });
  });

  it("refuses nesting made to exhaust the stack", () => {
    let bytes = new Uint8Array(0);
    const wrap = (tag: number, body: Uint8Array): Uint8Array<ArrayBuffer> => {
      const length: number[] = [];
      for (let rest = body.length; ; rest >>>= 7) {
        length.push(rest > 127 ? (rest & 127) | 128 : rest);
        if (rest <= 127) break;
      }
      return Uint8Array.from([tag, ...length, ...body]);
    };
    // graph.node.attribute.graph, 200 deep
    for (let i = 0; i < 200; i++) bytes = wrap(0x0a, wrap(0x2a, wrap(0x32, bytes)));
    refuses(() => decodeModel(wrap(0x3a, bytes), "file.onnx"), /recursion|depth|stack/i);
  });
});

describe("readModelFile and writeModelFile", () => {
  const dir = temporaryFolder("proto-test");

  const withWeights = (file: string, offset: number): RawModel => ({
    ...fullModel(),
    initializers: new Map([initializer("w", "float32", [2, 3], { file, offset, length: 24 })]),
  });

  it("read what was written, and leave weights of any size in their file", async () => {
    const size = 3 * 2 ** 30;
    writeFileSync(join(dir, "big.safetensors"), "");
    // sparse: 3 GiB that occupy no disk
    truncateSync(join(dir, "big.safetensors"), size);
    const model = withWeights("big.safetensors", size - 24);
    await writeModelFile(join(dir, "model.onnx"), model);
    assert.deepEqual(await readModelFile(join(dir, "model.onnx")), model);
  });

  it("name a missing or truncated file", async () => {
    await assert.rejects(readModelFile(join(dir, "none.onnx")), userError(/none\.onnx/));
    await writeModelFile(join(dir, "orphan.onnx"), withWeights("gone.bin", 0));
    await assert.rejects(readModelFile(join(dir, "orphan.onnx")), userError(/gone\.bin are missing/));
    writeFileSync(join(dir, "short.bin"), new Uint8Array(30));
    await writeModelFile(join(dir, "cut.onnx"), withWeights("short.bin", 8));
    await assert.rejects(readModelFile(join(dir, "cut.onnx")), userError(/have 30 bytes, expected at least 32/));
    writeFileSync(join(dir, "junk.onnx"), "not a model");
    await assert.rejects(readModelFile(join(dir, "junk.onnx")), userError(/junk\.onnx/));
  });
});
