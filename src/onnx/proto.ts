import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { messageOf, UserError } from "../core/errors.js";
import { writeAtomic } from "../core/files.js";
import {
  type AttributeProto,
  AttributeProto_AttributeType as AttributeType,
  AttributeProtoSchema,
  type GraphProto,
  ModelProtoSchema,
  type NodeProto,
  TensorProto_DataLocation as DataLocation,
  TensorProto_DataType as DataType,
  type TensorProto,
  TensorProtoSchema,
  type ValueInfoProto,
  ValueInfoProtoSchema,
} from "./gen/onnx_pb.js";
import {
  type Attribute,
  BYTES,
  type Dim,
  type DType,
  type ExternalData,
  type Graph,
  type Initializer,
  isExternal,
  type Tensor,
  type TypedArray,
  type Value,
} from "./types.js";

/** The newest IR version that every ONNX Runtime since 1.20 reads. */
const IR_VERSION = 10n;

/** A protobuf message cannot be larger. */
const MAX_MODEL_BYTES = 2 ** 31 - 1;

const INT64_MAX = 2n ** 63n - 1n;

/** A node as it stands in the file: values are names only. */
export interface RawNode {
  readonly name: string;
  readonly op: string;
  readonly domain: string;
  /** An omitted optional input is undefined. */
  readonly inputs: readonly (string | undefined)[];
  /** An omitted optional output is "". */
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, Attribute>>;
}

/** A model as it stands in the file, before any shape inference. */
export interface RawModel {
  readonly name: string;
  readonly opset: number;
  /** Without those that an initializer provides (old files list both). */
  readonly inputs: readonly Value[];
  readonly outputs: readonly Value[];
  readonly nodes: readonly RawNode[];
  readonly initializers: ReadonlyMap<string, Initializer>;
  readonly metadata: Readonly<Record<string, string>>;
}

const TO_PROTO: Readonly<Record<DType, DataType>> = {
  float32: DataType.FLOAT,
  float64: DataType.DOUBLE,
  float16: DataType.FLOAT16,
  bfloat16: DataType.BFLOAT16,
  int64: DataType.INT64,
  int32: DataType.INT32,
  int8: DataType.INT8,
  uint8: DataType.UINT8,
  uint32: DataType.UINT32,
  bool: DataType.BOOL,
};

const FROM_PROTO = new Map(Object.entries(TO_PROTO).map(([dtype, type]) => [type, dtype as DType]));

/** How to view raw bytes, and how to build from the element lists that older files use instead of raw bytes. */
const READERS: Readonly<
  Record<DType, { view: (buffer: ArrayBuffer) => TypedArray; list: (tensor: TensorProto) => TypedArray }>
> = {
  float32: { view: (b) => new Float32Array(b), list: (t) => Float32Array.from(t.floatData) },
  float64: { view: (b) => new Float64Array(b), list: (t) => Float64Array.from(t.doubleData) },
  float16: { view: (b) => new Uint16Array(b), list: (t) => Uint16Array.from(t.int32Data) },
  bfloat16: { view: (b) => new Uint16Array(b), list: (t) => Uint16Array.from(t.int32Data) },
  int64: { view: (b) => new BigInt64Array(b), list: (t) => BigInt64Array.from(t.int64Data) },
  int32: { view: (b) => new Int32Array(b), list: (t) => Int32Array.from(t.int32Data) },
  int8: { view: (b) => new Int8Array(b), list: (t) => Int8Array.from(t.int32Data) },
  uint8: { view: (b) => new Uint8Array(b), list: (t) => Uint8Array.from(t.int32Data) },
  uint32: { view: (b) => new Uint32Array(b), list: (t) => Uint32Array.from(t.uint64Data, Number) },
  bool: { view: (b) => new Uint8Array(b), list: (t) => Uint8Array.from(t.int32Data) },
};

/**
 * Attributes that are FLOAT or FLOATS in the operator schemas (ai.onnx up to opset 27, and com.microsoft). A `number`
 * does not say which it is: by this table 1 is written as 1.0. No name is FLOAT in one operator and INT in another,
 * but for INT_EXCEPTIONS (and LpPool's ancient `p`, left out).
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

// ---- encode ----------------------------------------------------------------------------------------------------

/**
 * Serialises a graph, or a decoded model, as an ONNX file: the same input gives the same bytes. External initializers
 * stay references. Operator set 1 of com.microsoft is declared where a node uses that domain.
 */
export function encodeModel(model: Graph | RawModel): Uint8Array {
  const where = `graph "${model.name}"`;
  const domains = new Set(model.nodes.map((node) => node.domain));
  const opsets = [{ domain: "", version: BigInt(model.opset) }];
  if (domains.has("com.microsoft")) opsets.push({ domain: "com.microsoft", version: 1n });
  return toBinary(
    ModelProtoSchema,
    create(ModelProtoSchema, {
      irVersion: IR_VERSION,
      producerName: "refusion-train",
      opsetImport: opsets,
      metadataProps: Object.entries(model.metadata ?? {}).map(([key, value]) => ({ key, value })),
      graph: {
        name: model.name,
        node: model.nodes.map((node) => ({
          name: node.name,
          opType: node.op,
          // an empty domain is left out, as the official exporters do
          ...(node.domain === "" ? {} : { domain: node.domain }),
          input: node.inputs.map(nameOf),
          output: node.outputs.map(nameOf),
          attribute: Object.entries(node.attributes).map(([name, value]) => encodeAttribute(node.op, name, value)),
        })),
        initializer: [...model.initializers].map(([name, { value, data }]) =>
          encodeTensor(name, value.dtype, concrete(value, where), data, where),
        ),
        input: model.inputs.map(encodeValue),
        output: model.outputs.map(encodeValue),
      },
    }),
  );
}

function nameOf(value: Value | string | undefined): string {
  return typeof value === "string" ? value : (value?.name ?? "");
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
    type: { value: { case: "tensorType", value: { elemType: TO_PROTO[value.dtype], shape: { dim } } } },
  });
}

function encodeTensor(
  name: string,
  dtype: DType,
  shape: readonly number[],
  data: TypedArray | ExternalData,
  where: string,
): TensorProto {
  const head = { name, dataType: TO_PROTO[dtype], dims: shape.map(BigInt) };
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
  if (typeof value === "string") {
    return create(AttributeProtoSchema, { name, type: AttributeType.STRING, s: new TextEncoder().encode(value) });
  }
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

/** INT64_MAX, which exporters write for "to the end", is 2^63 as a double. */
function int64(value: number): bigint {
  const exact = BigInt(value);
  return exact > INT64_MAX ? INT64_MAX : exact;
}

function isTensor(value: Tensor | readonly number[] | readonly string[]): value is Tensor {
  return !Array.isArray(value);
}

function isStrings(value: readonly number[] | readonly string[]): value is readonly string[] {
  return typeof value[0] === "string";
}

// ---- decode ----------------------------------------------------------------------------------------------------

/**
 * Reads an ONNX file's bytes. Weights in external files stay references, so that a model of any size can be read.
 * @param where names the model in errors.
 * @throws UserError for broken bytes, and for what this program has no form for: subgraphs, sequence and optional
 *   types, sparse tensors, model-local functions, element types outside DType, external data outside the model's folder.
 */
export function decodeModel(bytes: Uint8Array, where: string): RawModel {
  try {
    return decode(bytes, where);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`${where} is not a valid ONNX model: ${messageOf(error)}`, {
      hint: "Check that the file is complete, or export it again.",
      cause: error,
    });
  }
}

function decode(bytes: Uint8Array, where: string): RawModel {
  // a plain array: slices of a Buffer, which files are read into, would be views of it
  const model = fromBinary(ModelProtoSchema, new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const graph = model.graph;
  if (graph === undefined) throw new UserError(`${where} is not an ONNX model: it holds no graph`);
  if (model.functions.length > 0) throw unsupported(where, "model-local functions", "Inline them before export.");
  if (graph.sparseInitializer.length > 0) throw unsupported(where, "sparse initializers");
  const opset = model.opsetImport.find(({ domain }) => isStandard(domain))?.version ?? 0n;
  if (opset < 1n || opset > 1000n)
    throw new UserError(`${where} does not say which ONNX operator set it uses (got ${opset})`);

  const initializers = decodeInitializers(graph, where);
  return {
    name: graph.name,
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

function isStandard(domain: string): boolean {
  return domain === "" || domain === "ai.onnx";
}

function decodeInitializers(graph: GraphProto, where: string): Map<string, Initializer> {
  const initializers = new Map<string, Initializer>();
  for (const proto of graph.initializer) {
    const { name } = proto;
    if (name === "") throw new UserError(`${where}: an initializer has no name`);
    if (initializers.has(name)) throw new UserError(`${where}: two initializers are named "${name}"`);
    const { dtype, shape, data } = decodeTensor(proto, `initializer "${name}"`, where);
    initializers.set(name, { value: { name, dtype, shape }, data });
  }
  return initializers;
}

function decodeValue({ name, type }: ValueInfoProto, kind: "input" | "output", where: string): Value {
  const what = `${kind} "${name}"`;
  if (name === "") throw new UserError(`${where}: an ${kind} has no name`);
  if (type?.value.case === undefined) throw new UserError(`${where}: ${what} has no type`);
  if (type.value.case !== "tensorType")
    throw unsupported(where, `${what} of ${type.value.case.replace("Type", "")} type`);
  const { elemType, shape } = type.value.value;
  if (shape === undefined) {
    throw new UserError(`${where}: ${what} has no shape`, {
      hint: "Run ONNX shape inference on the model, or export it with shapes.",
    });
  }
  const dims = shape.dim.map((dim, axis): Dim => {
    if (dim.value.case === "dimValue") return dimension(dim.value.value, what, where);
    // a dimension nobody named gets a name of its own
    return dim.value.case === "dimParam" && dim.value.value !== "" ? dim.value.value : `${name}_dim_${axis}`;
  });
  return { name, dtype: decodeType(elemType, what, where), shape: dims };
}

function decodeType(type: number, what: string, where: string): DType {
  const dtype = FROM_PROTO.get(type);
  if (dtype === undefined) throw unsupported(where, `${what} of element type ${DataType[type] ?? type}`);
  return dtype;
}

function dimension(size: bigint, what: string, where: string): number {
  const dim = Number(size);
  if (dim < 0 || !Number.isSafeInteger(dim)) throw new UserError(`${where}: ${what} has a dimension of ${size}`);
  return dim;
}

function decodeNode(node: NodeProto, where: string): RawNode {
  const { name, opType: op } = node;
  const what = `operator ${op}${name === "" ? "" : ` ("${name}")`}`;
  if (op === "") throw new UserError(`${where}: a node has no operator`);
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
      if (attribute.t === undefined) throw new UserError(`${where}: ${label} holds no tensor`);
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

function decodeText(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}

function decodeTensor(
  tensor: TensorProto,
  what: string,
  where: string,
): { dtype: DType; shape: number[]; data: TypedArray | ExternalData } {
  const dtype = decodeType(tensor.dataType, what, where);
  const shape = tensor.dims.map((dim) => dimension(dim, what, where));
  const expected = bytesOf(dtype, shape);
  const described = `${dtype} [${shape.join(", ")}]`;
  if (!Number.isSafeInteger(expected)) throw new UserError(`${where}: ${what} is too large: ${described}`);
  if (tensor.segment !== undefined) throw unsupported(where, `${what} in segments`);
  const refuseSize = (got: number): never => {
    throw new UserError(`${where}: ${what} is ${described}, that is ${expected} bytes, but its data has ${got}`);
  };
  if (tensor.dataLocation === DataLocation.EXTERNAL) {
    const data = decodeExternal(tensor, expected, what, where);
    return data.length === expected ? { dtype, shape, data } : refuseSize(data.length);
  }
  const { view, list } = READERS[dtype];
  const raw = tensor.rawData;
  // before the copy: views refuse odd lengths with errors of their own
  if (raw.byteLength > 0 && raw.byteLength !== expected) refuseSize(raw.byteLength);
  // a copy: raw bytes lie unaligned in the file, and would keep all of it in memory
  const data = raw.byteLength > 0 ? view(raw.slice().buffer) : list(tensor);
  return data.byteLength === expected ? { dtype, shape, data } : refuseSize(data.byteLength);
}

function bytesOf(dtype: DType, shape: readonly number[]): number {
  return shape.reduce((product, dim) => product * dim, BYTES[dtype]);
}

function decodeExternal(tensor: TensorProto, expected: number, what: string, where: string): ExternalData {
  const entries = new Map(tensor.externalData.map(({ key, value }) => [key, value]));
  const file = entries.get("location") ?? "";
  checkLocation(file, what, where);
  const integer = (key: string, fallback: number): number => {
    const text = entries.get(key);
    if (text === undefined) return fallback;
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!Number.isSafeInteger(value)) throw new UserError(`${where}: ${what} has the external ${key} "${text}"`);
    return value;
  };
  return { file, offset: integer("offset", 0), length: integer("length", expected) };
}

/** A model must not make us read files outside its own folder. */
function checkLocation(file: string, what: string, where: string): void {
  const steps = file.split(/[/\\]/);
  if (file !== "" && steps[0] !== "" && !steps.includes("..") && !/^[a-z]:/i.test(file) && !file.includes("\0")) return;
  throw new UserError(`${where}: ${what} keeps its data in "${file}", which is not inside the model's folder`, {
    hint: "External data must lie beside the model, under a relative path without `..`.",
  });
}

// ---- files -----------------------------------------------------------------------------------------------------

/**
 * Reads a model file and checks that its external data is there.
 * @throws UserError as decodeModel, and for a missing, oversized or truncated file.
 */
export async function readModelFile(path: string): Promise<RawModel> {
  let bytes: Uint8Array;
  try {
    const { size } = statSync(path);
    if (size > MAX_MODEL_BYTES) {
      throw new UserError(`${path} has ${size} bytes, more than an ONNX file can hold`, {
        hint: "Save its weights as external data.",
      });
    }
    bytes = await readFile(path);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`Cannot read the model ${path}: ${messageOf(error)}`, { cause: error });
  }
  const model = decodeModel(bytes, path);
  const ends = new Map<string, number>();
  for (const { data } of model.initializers.values()) {
    if (isExternal(data)) ends.set(data.file, Math.max(ends.get(data.file) ?? 0, data.offset + data.length));
  }
  for (const [file, end] of ends) {
    const weights = join(dirname(path), file);
    if (!existsSync(weights)) throw new UserError(`${path}: its weights ${weights} are missing`);
    const { size } = statSync(weights);
    if (size < end)
      throw new UserError(
        `${path}: its weights ${weights} have ${size} bytes, expected at least ${end}: the file is truncated`,
      );
  }
  return model;
}

/** Writes a model file, whole or not at all. External data is not written: it must lie beside it already. */
export async function writeModelFile(path: string, model: Graph | RawModel): Promise<void> {
  const bytes = encodeModel(model);
  if (bytes.byteLength > MAX_MODEL_BYTES) {
    throw new UserError(`The model for ${path} has ${bytes.byteLength} bytes, more than an ONNX file can hold`, {
      hint: "Keep its weights in external data.",
    });
  }
  await writeAtomic(path, bytes);
}
