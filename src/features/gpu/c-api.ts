import { decodeModel, encodeModel } from "../../onnx/format/proto.js";
import type { Binding, Held, InputOf, Loaded, OpenBinding, Results } from "../../onnx/runtimes/binding.js";
import { libraryPath, NOT_ON_CUDA } from "../../onnx/runtimes/library.js";
import type { LoadCall, ProviderName, WireTensor } from "../../onnx/runtimes/messages.js";
import { BYTES, DTYPE_CODE, DTYPE_OF_CODE, type DType, isExternal } from "../../onnx/types.js";
import { type Constants, MadeConstants, withHalfKeys, withoutConstants, writtenInPlace } from "./constants.js";
import { withJoinedProducts } from "./joined-products.js";
import { type Handle, OrtApi } from "./ort-api.js";
import { type ReadBytes, SharedWeights } from "./shared-weights.js";

/**
 * Uses ONNX Runtime through its C API: tensors stay on the device that computed them, sessions share one copy of the
 * weights, and only requested outputs are copied back.
 */

interface ApiTensor extends Held {
  /** An OrtValue. It moves to a device when a session on this device first binds it. */
  value: Handle;
  /** Host memory of the OrtValue if we own it; undefined: ONNX Runtime owns it. */
  memory: ArrayBuffer | undefined;
  provider: ProviderName;
  /** The OrtValue that owns the memory this one points to. */
  owner?: Handle;
}

interface ApiSession extends Loaded {
  readonly handle: Handle;
  readonly provider: ProviderName;
  /** Types and shapes of the outputs; static ones need no call to ONNX Runtime. */
  readonly types: ReadonlyMap<string, InputOf>;
  /** Releases its references to the shared weights. */
  readonly forget: () => void;
  /** Inputs that follow from bound inputs or from weights. */
  readonly constants: readonly Constants[];
  /** Inputs that only these read. */
  readonly unread: ReadonlySet<string>;
  readonly weights: ReadonlyMap<string, ApiTensor>;
  /** Outputs that are written over an input, by name. */
  readonly inPlace: ReadonlyMap<string, string>;
}

const NOTHING_SHARED = {
  forget: () => undefined,
  constants: [],
  unread: new Set<string>(),
  weights: new Map<string, ApiTensor>(),
  inPlace: new Map<string, string>(),
};
const LEVELS = { disabled: 0, basic: 1, extended: 2, all: 99 } as const;
const ERRORS_ONLY = 3;
const DEFAULT_MEMORY = 0;
const DEVICE_ALLOCATOR = 0;
const SAME_AS_REQUESTED = 1;
/** Bytes that are copied to a device at a time. */
const PIECE = 2 ** 26;

class ApiBinding implements Binding<ApiTensor, ApiSession> {
  private readonly env: Handle;
  private readonly host: Handle;
  private readonly device: Handle;
  /** ONNX Runtime's default allocator, which frees the arrays that it returns. */
  private readonly allocator: bigint;
  private readonly weights: SharedWeights<ApiTensor>;
  /** Sessions with one node, which copy a tensor to a device or back, or cast it. */
  private readonly carriers = new Map<string, ApiSession>();
  private readonly constants = new MadeConstants<ApiTensor>((tensor) => this.free(tensor));
  /** Sessions that compute constants. */
  private readonly makers = new Map<Constants, ApiSession>();
  /** Allocator of weights on the device; it must be freed before the device. */
  private deviceAllocator: Handle | undefined;
  private arena = false;

  constructor(
    private readonly api: OrtApi,
    private readonly deviceMemory: number | undefined,
  ) {
    this.env = api.make("CreateEnv", "ReleaseEnv", ERRORS_ONLY, "refusion-train");
    this.host = api.make("CreateCpuMemoryInfo", "ReleaseMemoryInfo", DEVICE_ALLOCATOR, DEFAULT_MEMORY);
    this.device = api.make("CreateMemoryInfo", "ReleaseMemoryInfo", "Cuda", DEVICE_ALLOCATOR, 0, DEFAULT_MEMORY);
    this.allocator = api.pointer("GetAllocatorWithDefaultOptions");
    this.weights = new SharedWeights(
      (tensor) => this.free(tensor),
      (whole, weight, from) => this.part(whole, weight, from),
    );
  }

  async load(call: LoadCall): Promise<ApiSession> {
    const { provider, weightsDir } = call;
    if (provider !== "cuda" && provider !== "cpu")
      throw new Error(`the C API binding does not serve the provider ${provider}`);
    const decoded = decodeModel(call.bytes, "the model");
    const given = withJoinedProducts(withHalfKeys(decoded));
    const { model, ...hoisted } = withoutConstants(given);
    const bytes = given === decoded && hoisted.constants.length === 0 ? call.bytes : encodeModel(model, true);
    const inputs: InputOf[] = given.inputs.map(({ name, dtype, shape }) => ({ name, dtype, shape }));
    const types = new Map(model.outputs.map(({ name, dtype, shape }) => [name, { name, dtype, shape }]));
    const external = [...model.initializers.values()].flatMap(({ value, data }) =>
      isExternal(data) ? [{ name: value.name, dtype: value.dtype, shape: value.shape as number[], data }] : [],
    );
    const place: Parameters<typeof this.weights.take>[3] = (...weight) => this.place(...weight, provider);
    const shared =
      weightsDir === undefined ? undefined : await this.weights.take(weightsDir, provider, external, place);
    const forget = shared?.forget ?? (() => undefined);
    const { api } = this;
    try {
      const handle = this.session(bytes, provider, (options) => {
        const config = (key: string, value: string): void => api.check("AddSessionConfigEntry", options, key, value);
        api.check("SetSessionGraphOptimizationLevel", options, LEVELS[call.optimization]);
        api.check("SetIntraOpNumThreads", options, call.threads);
        api.check("SetInterOpNumThreads", options, 1);
        if (call.profile !== undefined) api.check("EnableProfiling", options, call.profile);
        // a memory pattern reserves a block per session; without it, memory goes back to the shared arena
        if (!call.memPattern || provider === "cuda") api.check("DisableMemPattern", options);
        config("session.intra_op.allow_spinning", "0");
        config("session.set_denormal_as_zero", "1");
        config("session.disable_prepacking", call.prepack ? "0" : "1");
        if (weightsDir !== undefined) config("session.model_external_initializers_file_folder_path", weightsDir);
        for (const [name, tensor] of shared?.tensors ?? []) api.check("AddInitializer", options, name, tensor.value);
      });
      const weights = shared?.tensors ?? new Map();
      const inPlace = writtenInPlace(model);
      return { handle, provider, inputs, outputs: [...types.keys()], types, forget, weights, inPlace, ...hoisted };
    } catch (error) {
      forget();
      throw error;
    }
  }

  async release({ handle, forget, constants }: ApiSession): Promise<void> {
    handle.free();
    for (const group of constants) {
      this.makers.get(group)?.handle.free();
      this.makers.delete(group);
    }
    forget();
  }

  hold({ dtype, shape, buffer }: WireTensor): ApiTensor {
    // a valid address even without elements
    const memory = buffer.byteLength === 0 ? new ArrayBuffer(8) : buffer;
    const value = this.over(this.host, this.api.address(memory), buffer.byteLength, { dtype, shape });
    return { dtype, shape, value, memory, provider: "cpu" };
  }

  read(tensor: ApiTensor): WireTensor {
    const { dtype, shape } = tensor;
    if (tensor.provider !== "cpu") {
      const fetched = this.carry(tensor, tensor.provider, "cpu");
      try {
        return this.read(fetched);
      } finally {
        this.free(fetched);
      }
    }
    const bytes = shape.reduce((product, dim) => product * dim, BYTES[dtype]);
    if (tensor.memory !== undefined) return { dtype, shape, buffer: tensor.memory.slice(0, bytes) };
    // a tensor without elements has no address
    const buffer =
      bytes === 0 ? new ArrayBuffer(0) : this.api.copy(this.api.pointer("GetTensorMutableData", tensor.value), bytes);
    return { dtype, shape, buffer };
  }

  free(tensor: ApiTensor): void {
    this.constants.forget(tensor);
    tensor.value.free();
    tensor.owner?.free();
    tensor.memory = undefined;
  }

  async run(
    session: ApiSession,
    fed: ReadonlyMap<string, ApiTensor>,
    bound: ReadonlyMap<string, ApiTensor>,
    kept: readonly string[],
    fetched: readonly string[],
  ): Promise<Results<ApiTensor>> {
    for (const tensor of bound.values()) this.settle(tensor, session.provider);
    const home = session.provider;
    const wanted = [
      ...kept.map((name) => [name, home] as const),
      ...fetched.filter((name) => !kept.includes(name)).map((name) => [name, "cpu"] as const),
    ];
    for (const { name, dtype } of session.inputs) {
      const tensor = fed.get(name);
      if (tensor !== undefined && tensor.dtype !== dtype) this.move(tensor, home, dtype as DType);
    }
    const given = [...fed, ...bound].filter(([name]) => !session.unread.has(name));
    const find = (name: string) => (bound.get(name) ?? fed.get(name) ?? session.weights.get(name)) as ApiTensor;
    const constants = session.constants.flatMap((group) =>
      this.constants.of(group, find, () => this.made(group, find, home)),
    );
    const over = kept.flatMap((name) => {
      const tensor = bound.get(session.inPlace.get(name) ?? "");
      return tensor === undefined ? [] : [[name, tensor] as const];
    });
    const outputs = this.execute(session, [...given, ...constants], wanted, new Map(over));
    try {
      const back = Object.fromEntries(fetched.map((name) => [name, this.read(outputs.get(name) as ApiTensor)]));
      const staying = new Map(kept.map((name) => [name, outputs.get(name) as ApiTensor]));
      for (const name of kept) outputs.delete(name);
      return { kept: staying, fetched: back };
    } finally {
      for (const tensor of outputs.values()) this.free(tensor);
    }
  }

  close(): void {
    this.deviceAllocator?.free();
    for (const sessions of [this.carriers, this.makers]) for (const { handle } of sessions.values()) handle.free();
    this.carriers.clear();
    for (const handle of [this.host, this.device, this.env]) handle.free();
  }

  /** Runs a session; each output is placed on its wanted provider, or written over a tensor. */
  private execute(
    session: ApiSession,
    inputs: Iterable<readonly [string, ApiTensor]>,
    wanted: readonly (readonly [string, ProviderName])[],
    over: ReadonlyMap<string, ApiTensor> = new Map(),
  ): Map<string, ApiTensor> {
    using binding = this.runBound(session, inputs, (to) => {
      for (const [name, provider] of wanted) {
        const tensor = over.get(name);
        if (tensor !== undefined) this.api.check("BindOutput", to, name, tensor.value);
        else this.api.check("BindOutputToDevice", to, name, provider === "cpu" ? this.host : this.device);
      }
    });
    const values = this.boundOutputs(binding);
    return new Map(
      wanted.map(([name, provider], i) => {
        const value = values[i] as Handle;
        const tensor = over.get(name);
        if (tensor !== undefined) {
          value.free();
          return [name, tensor];
        }
        return [name, { ...this.typeOf(session.types.get(name), value), value, memory: undefined, provider }];
      }),
    );
  }

  /** Runs a session. @param bind binds its outputs. @returns the binding, which holds them. */
  private runBound(
    session: ApiSession,
    inputs: Iterable<readonly [string, ApiTensor]>,
    bind: (binding: Handle) => void,
  ): Handle {
    const { api } = this;
    const binding = api.make("CreateIoBinding", "ReleaseIoBinding", session.handle);
    try {
      for (const [name, tensor] of inputs) api.check("BindInput", binding, name, tensor.value);
      bind(binding);
      api.check("RunWithBinding", session.handle, null, binding);
      return binding;
    } catch (error) {
      binding.free();
      throw error;
    }
  }

  /** Returns the outputs of a run, in the order of their binding. */
  private boundOutputs(binding: Handle): Handle[] {
    const { api } = this;
    const [array, count]: [[bigint | null], [number]] = [[null], [0]];
    api.check("GetBoundOutputValues", binding, this.allocator, array, count);
    if (array[0] === null) return [];
    const values = api.pointers(array[0], Number(count[0])).map((pointer) => api.own("ReleaseValue", pointer));
    api.check("AllocatorFree", this.allocator, array[0]);
    return values;
  }

  private typeOf(known: InputOf | undefined, value: Handle): Held {
    if (known?.shape.every((dim) => typeof dim === "number") && known.shape.length > 0)
      return { dtype: known.dtype as DType, shape: known.shape as number[] };
    const { api } = this;
    using info = api.make("GetTensorTypeAndShape", "ReleaseTensorTypeAndShapeInfo", value);
    const dtype = DTYPE_OF_CODE[api.number("GetTensorElementType", info)];
    if (dtype === undefined) throw new Error("an output is of a type that is not supported");
    return { dtype, shape: api.dimensions(info, api.number("GetDimensionsCount", info)) };
  }

  /** Makes an OrtValue over memory that it does not own. */
  private over(place: Handle, address: bigint, bytes: number, { dtype, shape }: Held): Handle {
    const dims = BigInt64Array.from(shape, BigInt);
    return this.api.make(
      ...(["CreateTensorWithDataAsOrtValue", "ReleaseValue", place] as const),
      ...[address, bytes, dims, shape.length, DTYPE_CODE[dtype]],
    );
  }

  /**
   * Places a weight on a provider's device, copied in pieces, so that neither side holds it twice. Sessions share only
   * values that they do not own: the result is an OrtValue over the memory of another one.
   */
  private place(weight: Held, bytes: number, read: ReadBytes, provider: ProviderName): ApiTensor {
    if (provider === "cpu") return this.hold({ ...weight, buffer: read(0, bytes) });
    const { api } = this;
    const carrier = this.carrierOf("uint8", 1, provider);
    this.deviceAllocator ??= api.make("CreateAllocator", "ReleaseAllocator", carrier.handle, this.device);
    let owner: Handle | undefined;
    try {
      const dims = BigInt64Array.from(weight.shape, BigInt);
      owner = api.make(
        ...(["CreateTensorAsOrtValue", "ReleaseValue", this.deviceAllocator] as const),
        ...[dims, dims.length, DTYPE_CODE[weight.dtype]],
      );
      const address = api.pointer("GetTensorMutableData", owner);
      for (let at = 0; at < bytes; at += PIECE) {
        const piece: Held = { dtype: "uint8", shape: [Math.min(PIECE, bytes - at)] };
        const length = piece.shape[0] as number;
        this.carryOver(carrier, { ...piece, buffer: read(at, length) }, address + BigInt(at));
      }
      const value = this.over(this.device, address, bytes, weight);
      return { ...weight, value, owner, memory: undefined, provider };
    } catch (error) {
      owner?.free();
      throw error;
    }
  }

  /** Makes a tensor of the memory of another one, from a byte on. */
  private part({ value: whole, provider }: ApiTensor, weight: Held, from: number): ApiTensor {
    const bytes = weight.shape.reduce((product, dim) => product * dim, BYTES[weight.dtype]);
    const address = this.api.pointer("GetTensorMutableData", whole) + BigInt(from);
    const value = this.over(provider === "cpu" ? this.host : this.device, address, bytes, weight);
    return { ...weight, value, memory: undefined, provider };
  }

  /** Copies bytes to an address of a device. */
  private carryOver(carrier: ApiSession, wire: WireTensor, address: bigint): void {
    const from = this.hold(wire);
    using _ = from.value;
    using to = this.over(this.device, address, wire.buffer.byteLength, wire);
    this.runBound(carrier, [["x", from]], (binding) => this.api.check("BindOutput", binding, "y", to)).free();
  }

  /** Moves a tensor to a device permanently. */
  private settle(tensor: ApiTensor, provider: ProviderName): void {
    if (tensor.provider === "cpu" && provider !== "cpu") this.move(tensor, provider);
  }

  private move(tensor: ApiTensor, provider: ProviderName, dtype?: DType): void {
    const moved = this.carry(tensor, provider, provider, dtype);
    this.free(tensor);
    Object.assign(tensor, moved);
  }

  /** Copies a tensor with a session on a provider: its input is copied in, its output placed as wanted. */
  private carry(tensor: ApiTensor, on: ProviderName, to: ProviderName, dtype = tensor.dtype): ApiTensor {
    const session = this.carrierOf(tensor.dtype, tensor.shape.length, on, dtype);
    return this.execute(session, [["x", tensor]], [["y", to]]).get("y") as ApiTensor;
  }

  /** Computes constants in one run. */
  private made(
    group: Constants,
    find: (name: string) => ApiTensor,
    provider: ProviderName,
  ): ReadonlyMap<string, ApiTensor> {
    const maker = this.makers.get(group) ?? this.opened(group.model, provider);
    this.makers.set(group, maker);
    const inputs = group.model.inputs.map(({ name }) => [name, find(name)] as const);
    const wanted = maker.outputs.map((name) => [name, provider] as const);
    return this.execute(maker, inputs, wanted);
  }

  private carrierOf(dtype: DType, rank: number, provider: ProviderName, to = dtype): ApiSession {
    const key = `${provider}/${dtype}/${to}/${rank}`;
    const known = this.carriers.get(key);
    if (known !== undefined) return known;
    const shape = Array.from({ length: rank }, (_, i) => `D${i}`);
    const [x, y] = [
      { name: "x", dtype, shape },
      { name: "y", dtype: to, shape },
    ];
    const [op, attributes] = to === dtype ? ["Identity", {}] : ["Cast", { to: DTYPE_CODE[to] }];
    const made = this.opened(
      {
        name: "carrier",
        opset: 21,
        inputs: [x],
        outputs: [y],
        nodes: [{ name: "/carry", op, domain: "", inputs: [x], outputs: [y], attributes }],
        initializers: new Map(),
      },
      provider,
    );
    this.carriers.set(key, made);
    return made;
  }

  /** Opens a session of a small graph without weights. */
  private opened(model: Parameters<typeof encodeModel>[0], provider: ProviderName): ApiSession {
    const { inputs, outputs } = model;
    const handle = this.session(encodeModel(model, true), provider);
    return { handle, provider, inputs, outputs: outputs.map(({ name }) => name), types: new Map(), ...NOTHING_SHARED };
  }

  /** Creates a session of a graph. @param configure sets further options. */
  private session(bytes: Uint8Array, provider: ProviderName, configure?: (options: Handle) => void): Handle {
    const { api } = this;
    using options = api.make("CreateSessionOptions", "ReleaseSessionOptions");
    api.check("SetSessionLogSeverityLevel", options, ERRORS_ONLY);
    if (provider === "cuda") this.appendCuda(options);
    configure?.(options);
    return api.make("CreateSessionFromArray", "ReleaseSession", this.env, bytes, bytes.byteLength, options);
  }

  /** Adds CUDA to a session's options. All sessions use one arena, which grows by the requested sizes. */
  private appendCuda(options: Handle): void {
    const { api } = this;
    const limit = this.deviceMemory;
    const settings = {
      arena_extend_strategy: "kSameAsRequested",
      ...(limit === undefined ? {} : { gpu_mem_limit: String(limit) }),
    };
    const [keys, values] = [Object.keys(settings), Object.values(settings)];
    if (!this.arena) {
      using arena = api.make("CreateArenaCfg", "ReleaseArenaCfg", limit ?? 0, SAME_AS_REQUESTED, -1, -1);
      api.check(
        ...(["CreateAndRegisterAllocatorV2", this.env, "CUDAExecutionProvider", this.device, arena] as const),
        ...[keys, values, keys.length],
      );
      this.arena = true;
    }
    api.check("AddSessionConfigEntry", options, "session.use_env_allocators", "1");
    api.check("AddSessionConfigEntry", options, "optimization.disable_specified_optimizers", NOT_ON_CUDA);
    using cuda = api.make("CreateCUDAProviderOptions", "ReleaseCUDAProviderOptions");
    api.check("UpdateCUDAProviderOptions", cuda, keys, values, keys.length);
    api.check("SessionOptionsAppendExecutionProvider_CUDA_V2", options, cuda);
  }
}

/** The C API of onnxruntime-node's library, called through koffi: tensors stay on the device. */
export const openApiBinding: OpenBinding = async (deviceMemory) =>
  new ApiBinding(await OrtApi.load(libraryPath()), deviceMemory);
