import { create, toBinary } from "@bufbuild/protobuf";
import { isStatic } from "../shapes.js";
import {
  type Attribute,
  DTYPE_CODE,
  type DType,
  type ExternalData,
  type Graph,
  isExternal,
  type Tensor,
  type TypedArray,
  type Value,
} from "../types.js";
import {
  type AttributeProto,
  AttributeProtoSchema,
  AttributeProto_AttributeType as AttributeType,
  TensorProto_DataLocation as DataLocation,
  ModelProtoSchema,
  type TensorProto,
  TensorProtoSchema,
  type ValueInfoProto,
  ValueInfoProtoSchema,
} from "./gen/onnx_pb.js";
import { bytesOf, checkLocation, int64, PRODUCER } from "./proto-common.js";
import type { RawModel } from "./raw-model.js";

/** The newest IR version that every ONNX Runtime since 1.20 reads. */
const IR_VERSION = 10n;

/**
 * Attributes that are FLOAT or FLOATS in the operator schemas (ai.onnx up to opset 27, and com.microsoft). A `number`
 * may be either type: by this table 1 is written as 1.0. No name is FLOAT in one operator and INT in another, except
 * for INT_EXCEPTIONS (and LpPool's old `p`, left out).
 */
const FLOAT_ATTRIBUTES: ReadonlySet<string> = new Set([
  ...["activation_alpha", "activation_beta", "alpha", "beta", "bias", "clip", "cubic_coeff_a", "epsilon"],
  ...["extrapolation_value", "gamma", "height_scale", "high", "lambd", "low", "max", "mean", "min", "momentum"],
  ...["norm_coefficient", "ratio", "scale", "scales", "seed", "softcap", "spatial_scale", "value", "value_float"],
  ...["value_floats", "weights", "width_scale"],
  // com.microsoft
  ...["filter_value", "mask_filter_value", "norm_epsilon", "presence_penalty", "qk_norm_epsilon", "repetition_penalty"],
  ...["swiglu_limit", "temperature", "top_p"],
]);

const INT_EXCEPTIONS: ReadonlySet<string> = new Set(["Dropout.seed"]);

/**
 * Serialises a graph, or a decoded model, as an ONNX file: equal input gives equal bytes. External initializers stay
 * references. Operator set 1 of com.microsoft is declared where a node uses that domain.
 * @param open writes the shapes of values with open dimensions. ONNX Runtime would lose some of them, and it reuses a
 *   value's memory where it knows that two shapes are equal.
 */
export function encodeModel(model: Graph | RawModel, open = false): Uint8Array {
  const where = `graph "${model.name}"`;
  const domains = new Set(model.nodes.map((node) => node.domain));
  const opsets = [{ domain: "", version: BigInt(model.opset) }];
  if (domains.has("com.microsoft")) opsets.push({ domain: "com.microsoft", version: 1n });
  return toBinary(
    ModelProtoSchema,
    create(ModelProtoSchema, {
      irVersion: IR_VERSION,
      producerName: "producer" in model ? (model.producer ?? PRODUCER) : PRODUCER,
      opsetImport: opsets,
      metadataProps: Object.entries(model.metadata ?? {}).map(([key, value]) => ({ key, value })),
      graph: {
        name: model.name,
        node: model.nodes.map((node) => ({
          name: node.name,
          opType: node.op,
          // an empty domain is omitted, as in official exporters
          ...(node.domain === "" ? {} : { domain: node.domain }),
          input: node.inputs.map(nameOf),
          output: node.outputs.map(nameOf),
          attribute: Object.entries(node.attributes).map(([name, value]) => encodeAttribute(node.op, name, value)),
          metadataProps: Object.entries("metadata" in node ? (node.metadata ?? {}) : {}).map(([key, value]) => ({
            key,
            value,
          })),
        })),
        initializer: [...model.initializers].map(([name, { value, data }]) =>
          encodeTensor(name, value.dtype, concrete(value, where), data, where),
        ),
        input: model.inputs.map(encodeValue),
        output: model.outputs.map(encodeValue),
        valueInfo: open ? model.nodes.flatMap(({ outputs }) => outputs.filter(isOpen).map(encodeValue)) : [],
      },
    }),
  );
}

const nameOf = (value: Value | string | undefined): string => (typeof value === "string" ? value : (value?.name ?? ""));

function isOpen(value: Value | string): value is Value {
  return typeof value !== "string" && !isStatic(value.shape);
}

function concrete(value: Value, where: string): number[] {
  return value.shape.map((dim) => {
    if (typeof dim === "number") return dim;
    throw new Error(`${where}: initializer "${value.name}" has a symbolic dimension ${dim}`);
  });
}

function encodeValue(value: Value): ValueInfoProto {
  const dim = value.shape.map((d) => ({
    value:
      typeof d === "number"
        ? ({ case: "dimValue", value: BigInt(d) } as const)
        : ({ case: "dimParam", value: d } as const),
  }));
  return create(ValueInfoProtoSchema, {
    name: value.name,
    type: { value: { case: "tensorType", value: { elemType: DTYPE_CODE[value.dtype], shape: { dim } } } },
  });
}

function encodeTensor(
  name: string,
  dtype: DType,
  shape: readonly number[],
  data: TypedArray | ExternalData,
  where: string,
): TensorProto {
  const head = { name, dataType: DTYPE_CODE[dtype], dims: shape.map(BigInt) };
  const expected = bytesOf(dtype, shape);
  const got = isExternal(data) ? data.length : data.byteLength;
  if (got !== expected) {
    throw new Error(
      `${where}: "${name}" is ${dtype} [${shape.join(", ")}] of ${expected} bytes, but its data has ${got}`,
    );
  }
  if (isExternal(data)) {
    checkLocation(data.file, name, where);
    const { file, offset, length } = data;
    const entries = Object.entries({ location: file, offset: `${offset}`, length: `${length}` });
    return create(TensorProtoSchema, {
      ...head,
      dataLocation: DataLocation.EXTERNAL,
      externalData: entries.map(([key, value]) => ({ key, value })),
    });
  }
  return create(TensorProtoSchema, {
    ...head,
    rawData: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) as Uint8Array<ArrayBuffer>,
  });
}

function encodeAttribute(op: string, name: string, value: Attribute): AttributeProto {
  const isFloat = FLOAT_ATTRIBUTES.has(name) && !INT_EXCEPTIONS.has(`${op}.${name}`);
  if (typeof value === "bigint") return create(AttributeProtoSchema, { name, type: AttributeType.INT, i: value });
  if (typeof value === "string")
    return create(AttributeProtoSchema, { name, type: AttributeType.STRING, s: new TextEncoder().encode(value) });
  if (typeof value === "number") {
    return isFloat || !Number.isInteger(value)
      ? create(AttributeProtoSchema, { name, type: AttributeType.FLOAT, f: value })
      : create(AttributeProtoSchema, { name, type: AttributeType.INT, i: int64(value) });
  }
  if (isTensor(value)) {
    const t = encodeTensor("", value.dtype, value.shape, value.data, `attribute ${op}.${name}`);
    return create(AttributeProtoSchema, { name, type: AttributeType.TENSOR, t });
  }
  if (isStrings(value)) {
    const strings = value.map((text) => new TextEncoder().encode(text));
    return create(AttributeProtoSchema, { name, type: AttributeType.STRINGS, strings });
  }
  return isFloat || !value.every(Number.isInteger)
    ? create(AttributeProtoSchema, { name, type: AttributeType.FLOATS, floats: [...value] })
    : create(AttributeProtoSchema, { name, type: AttributeType.INTS, ints: value.map(int64) });
}

function isTensor(value: Tensor | readonly number[] | readonly string[]): value is Tensor {
  return !Array.isArray(value);
}

function isStrings(value: readonly number[] | readonly string[]): value is readonly string[] {
  return typeof value[0] === "string";
}
