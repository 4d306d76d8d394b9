import { fromBinary } from "@bufbuild/protobuf";
import { fail, messageOf, UserError } from "../../core/errors.js";
import {
  ARRAYS,
  type Attribute,
  type Dim,
  DTYPE_OF_CODE,
  type DType,
  type ExternalData,
  type Initializer,
  isExternal,
  type TypedArray,
  type Value,
} from "../types.js";
import {
  type AttributeProto,
  AttributeProto_AttributeType as AttributeType,
  TensorProto_DataLocation as DataLocation,
  TensorProto_DataType as DataType,
  type GraphProto,
  ModelProtoSchema,
  type NodeProto,
  type TensorProto,
  type ValueInfoProto,
} from "./gen/onnx_pb.js";
import { bytesOf, checkLocation, int64 } from "./proto-common.js";
import type { RawModel, RawNode } from "./raw-model.js";

/** Reads a tensor's typed element list, which older files use instead of raw bytes. */
function elementsOf(tensor: TensorProto, dtype: DType): TypedArray {
  if (dtype === "int64") return BigInt64Array.from(tensor.int64Data);
  if (dtype === "uint32") return Uint32Array.from(tensor.uint64Data, Number);
  const { floatData, doubleData, int32Data } = tensor;
  return ARRAYS[dtype].from(dtype === "float32" ? floatData : dtype === "float64" ? doubleData : int32Data);
}

/**
 * Reads an ONNX file's bytes. Weights in external files stay references, so that a model of any size can be read.
 * @param where names the model in errors.
 * @throws UserError for invalid bytes, and for unsupported content: subgraphs, sequence and optional types, sparse
 *   tensors, model-local functions, element types outside DType, external data outside the model's folder.
 */
export function decodeModel(bytes: Uint8Array, where: string): RawModel {
  try {
    return decode(bytes, where);
  } catch (error) {
    if (error instanceof UserError) throw error;
    fail(`${where} is not a valid ONNX model: ${messageOf(error)}`, {
      hint: "Check that the file is complete, or export it again.",
      cause: error,
    });
  }
}

function decode(bytes: Uint8Array, where: string): RawModel {
  // a plain array: slices of a Buffer would be views of it
  const model = fromBinary(ModelProtoSchema, new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const graph = model.graph;
  if (graph === undefined) fail(`${where} is not an ONNX model: it holds no graph`);
  if (model.functions.length > 0) throw unsupported(where, "model-local functions", "Inline them before export.");
  if (graph.sparseInitializer.length > 0) throw unsupported(where, "sparse initializers");
  const opset = model.opsetImport.find(({ domain }) => isStandard(domain))?.version ?? 0n;
  if (opset < 1n || opset > 1000n) fail(`${where} does not say which ONNX operator set it uses (got ${opset})`);

  const initializers = decodeInitializers(graph, where);
  return {
    name: graph.name,
    producer: model.producerName,
    opset: Number(opset),
    inputs: graph.input
      .filter(({ name }) => !initializers.has(name))
      .map((input) => decodeValue(input, "input", where)),
    outputs: graph.output.map((output) => decodeValue(output, "output", where)),
    nodes: graph.node.map((node) => decodeNode(node, where)),
    initializers,
    metadata: Object.fromEntries(model.metadataProps.map(({ key, value }) => [key, value])),
  };
}

function unsupported(where: string, what: string, hint?: string): UserError {
  return new UserError(
    `${where} uses ${what}, which refusion-train does not support`,
    hint === undefined ? {} : { hint },
  );
}

const isStandard = (domain: string): boolean => domain === "" || domain === "ai.onnx";

function decodeInitializers(graph: GraphProto, where: string): Map<string, Initializer> {
  const initializers = new Map<string, Initializer>();
  for (const proto of graph.initializer) {
    const { name } = proto;
    if (name === "") fail(`${where}: an initializer has no name`);
    if (initializers.has(name)) fail(`${where}: two initializers are named "${name}"`);
    const { dtype, shape, data } = decodeTensor(proto, `initializer "${name}"`, where);
    initializers.set(name, { value: { name, dtype, shape }, data });
  }
  return initializers;
}

function decodeValue({ name, type }: ValueInfoProto, kind: "input" | "output", where: string): Value {
  const what = `${kind} "${name}"`;
  if (name === "") fail(`${where}: an ${kind} has no name`);
  if (type?.value.case === undefined) fail(`${where}: ${what} has no type`);
  if (type.value.case !== "tensorType")
    throw unsupported(where, `${what} of ${type.value.case.replace("Type", "")} type`);
  const { elemType, shape } = type.value.value;
  if (shape === undefined)
    fail(`${where}: ${what} has no shape`, {
      hint: "Run ONNX shape inference on the model, or export it with shapes.",
    });
  const dims = shape.dim.map((dim, axis): Dim => {
    if (dim.value.case === "dimValue") return dimension(dim.value.value, what, where);
    // an unnamed dimension gets its own name
    return dim.value.case === "dimParam" && dim.value.value !== "" ? dim.value.value : `${name}_dim_${axis}`;
  });
  return { name, dtype: decodeType(elemType, what, where), shape: dims };
}

function decodeType(type: number, what: string, where: string): DType {
  const dtype = DTYPE_OF_CODE[type];
  if (dtype === undefined) throw unsupported(where, `${what} of element type ${DataType[type] ?? type}`);
  return dtype;
}

function dimension(size: bigint, what: string, where: string): number {
  const dim = Number(size);
  if (dim < 0 || !Number.isSafeInteger(dim)) fail(`${where}: ${what} has a dimension of ${size}`);
  return dim;
}

function decodeNode(node: NodeProto, where: string): RawNode {
  const { name, opType: op } = node;
  const what = `operator ${op}${name === "" ? "" : ` ("${name}")`}`;
  if (op === "") fail(`${where}: a node has no operator`);
  if (!isStandard(node.domain) && node.domain !== "com.microsoft")
    throw unsupported(where, `${what} of the domain ${node.domain}`);
  return {
    name,
    op,
    domain: isStandard(node.domain) ? "" : node.domain,
    inputs: node.input.map((input) => (input === "" ? undefined : input)),
    outputs: [...node.output],
    attributes: Object.fromEntries(
      node.attribute.map((attribute) => [attribute.name, decodeAttribute(attribute, what, where)]),
    ),
    ...(node.metadataProps.length === 0
      ? {}
      : { metadata: Object.fromEntries(node.metadataProps.map(({ key, value }) => [key, value])) }),
  };
}

function decodeAttribute(attribute: AttributeProto, what: string, where: string): Attribute {
  const label = `${what}, attribute "${attribute.name}"`;
  switch (attribute.type) {
    case AttributeType.FLOAT:
      return attribute.f;
    case AttributeType.INT: {
      const number = Number(attribute.i);
      return Number.isSafeInteger(number) ? number : attribute.i;
    }
    case AttributeType.STRING:
      return decodeText(attribute.s);
    case AttributeType.FLOATS:
      return [...attribute.floats];
    case AttributeType.INTS:
      return attribute.ints.map((value) => {
        const number = Number(value);
        if (int64(number) !== value) throw unsupported(where, `${label} with the value ${value}`);
        return number;
      });
    case AttributeType.STRINGS:
      return attribute.strings.map(decodeText);
    case AttributeType.TENSOR: {
      if (attribute.t === undefined) fail(`${where}: ${label} holds no tensor`);
      const { dtype, shape, data } = decodeTensor(attribute.t, label, where);
      if (isExternal(data)) throw unsupported(where, `${label} with external data`);
      return { dtype, shape, data };
    }
    case AttributeType.GRAPH:
    case AttributeType.GRAPHS:
      throw unsupported(where, `${label} with a subgraph`, "Export the model without control flow (If, Loop, Scan).");
    default:
      throw unsupported(where, `${label} of type ${AttributeType[attribute.type] ?? attribute.type}`);
  }
}

const decodeText = (bytes: Uint8Array): string =>
  new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);

function decodeTensor(
  tensor: TensorProto,
  what: string,
  where: string,
): { dtype: DType; shape: number[]; data: TypedArray | ExternalData } {
  const dtype = decodeType(tensor.dataType, what, where);
  const shape = tensor.dims.map((dim) => dimension(dim, what, where));
  const expected = bytesOf(dtype, shape);
  const described = `${dtype} [${shape.join(", ")}]`;
  if (!Number.isSafeInteger(expected)) fail(`${where}: ${what} is too large: ${described}`);
  if (tensor.segment !== undefined) throw unsupported(where, `${what} in segments`);
  const refuseSize = (got: number): never => {
    fail(`${where}: ${what} is ${described}, that is ${expected} bytes, but its data has ${got}`);
  };
  if (tensor.dataLocation === DataLocation.EXTERNAL) {
    const data = decodeExternal(tensor, expected, what, where);
    return data.length === expected ? { dtype, shape, data } : refuseSize(data.length);
  }
  const raw = tensor.rawData;
  // before the copy: typed arrays refuse odd lengths with errors of their own
  if (raw.byteLength > 0 && raw.byteLength !== expected) refuseSize(raw.byteLength);
  // a copy: raw bytes are unaligned in the file, and would keep all of it in memory
  const data = raw.byteLength > 0 ? new ARRAYS[dtype](raw.slice().buffer) : elementsOf(tensor, dtype);
  return data.byteLength === expected ? { dtype, shape, data } : refuseSize(data.byteLength);
}

function decodeExternal(tensor: TensorProto, expected: number, what: string, where: string): ExternalData {
  const entries = new Map(tensor.externalData.map(({ key, value }) => [key, value]));
  const file = entries.get("location") ?? "";
  checkLocation(file, what, where);
  const integer = (key: string, fallback: number): number => {
    const text = entries.get(key);
    if (text === undefined) return fallback;
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!Number.isSafeInteger(value)) fail(`${where}: ${what} has the external ${key} "${text}"`);
    return value;
  };
  return { file, offset: integer("offset", 0), length: integer("length", expected) };
}
