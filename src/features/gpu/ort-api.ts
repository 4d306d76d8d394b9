import { existsSync } from "node:fs";
import { fail, messageOf } from "../../core/errors.js";
import { optional } from "../../core/optional.js";
import { disableTelemetry } from "../../onnx/runtimes/library.js";

/** The C API of onnxruntime-node's library, called through koffi (an optional dependency). */

/** An address in this process. */
type Pointer = bigint;

type Koffi = typeof import("koffi")["default"];
type Library = ReturnType<Koffi["load"]>;

/** Size of koffi's stack for calls, its maximum: ONNX Runtime's graph passes are recursive. */
const STACK = 2 ** 24;

/** Requested version of the function table. The table only grows, so newer libraries have it too. */
const API_VERSION = 22;

/** Functions that return a status: index in the table (onnxruntime_c_api.h: struct OrtApi), and parameters. */
const CHECKED = {
  CreateEnv: [3, "int, str, _Out_ void **"],
  CreateSessionFromArray: [8, "void *, const void *, size_t, void *, _Out_ void **"],
  CreateSessionOptions: [10, "_Out_ void **"],
  EnableProfiling: [14, "void *, str"],
  DisableMemPattern: [17, "void *"],
  SetSessionLogSeverityLevel: [22, "void *, int"],
  SetSessionGraphOptimizationLevel: [23, "void *, int"],
  SetIntraOpNumThreads: [24, "void *, int"],
  SetInterOpNumThreads: [25, "void *, int"],
  CreateTensorAsOrtValue: [48, "void *, const int64_t *, size_t, int, _Out_ void **"],
  CreateTensorWithDataAsOrtValue: [49, "void *, void *, size_t, const int64_t *, size_t, int, _Out_ void **"],
  GetTensorMutableData: [51, "void *, _Out_ void **"],
  GetTensorElementType: [60, "void *, _Out_ int *"],
  GetDimensionsCount: [61, "void *, _Out_ size_t *"],
  GetDimensions: [62, "void *, _Out_ int64_t *, size_t"],
  GetTensorTypeAndShape: [65, "void *, _Out_ void **"],
  CreateMemoryInfo: [68, "str, int, int, int, _Out_ void **"],
  CreateCpuMemoryInfo: [69, "int, int, _Out_ void **"],
  AllocatorFree: [76, "void *, void *"],
  GetAllocatorWithDefaultOptions: [78, "_Out_ void **"],
  AddSessionConfigEntry: [130, "void *, str, str"],
  CreateAllocator: [131, "void *, void *, _Out_ void **"],
  RunWithBinding: [133, "void *, void *, void *"],
  CreateIoBinding: [134, "void *, _Out_ void **"],
  BindInput: [136, "void *, str, void *"],
  BindOutput: [137, "void *, str, void *"],
  BindOutputToDevice: [138, "void *, str, void *"],
  GetBoundOutputValues: [140, "void *, void *, _Out_ void **, _Out_ size_t *"],
  AddInitializer: [150, "void *, str, void *"],
  CreateArenaCfg: [156, "size_t, int, int, int, _Out_ void **"],
  SessionOptionsAppendExecutionProvider_CUDA_V2: [204, "void *, void *"],
  CreateCUDAProviderOptions: [205, "_Out_ void **"],
  UpdateCUDAProviderOptions: [206, "void *, const char **, const char **, size_t"],
  CreateAndRegisterAllocatorV2: [259, "void *, str, void *, void *, const char **, const char **, size_t"],
} as const;

/** Functions that release their argument: index in the table. */
const RELEASES = {
  ReleaseEnv: 92,
  ReleaseStatus: 93,
  ReleaseMemoryInfo: 94,
  ReleaseSession: 95,
  ReleaseValue: 96,
  ReleaseTensorTypeAndShapeInfo: 99,
  ReleaseSessionOptions: 100,
  ReleaseAllocator: 132,
  ReleaseIoBinding: 135,
  ReleaseArenaCfg: 157,
  ReleaseCUDAProviderOptions: 208,
} as const;

const GET_ERROR_MESSAGE = 2;
const TABLE_LENGTH = 260;

type Checked = keyof typeof CHECKED;
type Release = keyof typeof RELEASES;

/** Owns an object of the library. It is released once (`using`), and cannot be used afterwards. */
export class Handle {
  constructor(
    private address: Pointer | undefined,
    private readonly release: (pointer: Pointer) => void,
  ) {}

  get pointer(): Pointer {
    if (this.address === undefined) throw new Error("a handle of ONNX Runtime was used after its release");
    return this.address;
  }

  /** Releases the object; further calls do nothing. */
  free(): void {
    const { address } = this;
    this.address = undefined;
    if (address !== undefined) this.release(address);
  }

  [Symbol.dispose](): void {
    this.free();
  }
}

/** Messages of failed allocations, on the host and on a device. */
const NO_MEMORY = /failed to allocate memory|out of memory|available memory of|bad_alloc|bad allocation/i;

/** Types by definition: koffi allows each name once per thread. */
const PROTOTYPES = new Map<string, ReturnType<Koffi["proto"]>>();

function prototype(koffi: Koffi, definition: string): ReturnType<Koffi["proto"]> {
  const type = PROTOTYPES.get(definition) ?? koffi.proto(definition);
  PROTOTYPES.set(definition, type);
  return type;
}

export class OrtApi {
  private constructor(
    private readonly koffi: Koffi,
    /** Kept because koffi unloads a library without references. */
    readonly library: Library,
    private readonly table: readonly Pointer[],
  ) {}

  /**
   * @param library path of libonnxruntime.
   * @throws UserError if koffi or the library is missing, or the library is a different one or too old.
   */
  static async load(library: string, version = API_VERSION): Promise<OrtApi> {
    const { default: koffi } = await optional("runtime.binding=c-api needs", "koffi", () => import("koffi"));
    const reinstall = "Install onnxruntime-node again with `npm ci`, or set runtime.binding: npm.";
    if (!existsSync(library)) fail(`ONNX Runtime's library ${library} is missing`, { hint: reinstall });
    // koffi refuses this after the first library: then the process has set it already
    if (koffi.config().sync_stack_size !== STACK) koffi.config({ ...koffi.config(), sync_stack_size: STACK });
    let opened: Library;
    let base: Pointer | null;
    try {
      disableTelemetry();
      opened = koffi.load(library);
      base = opened.func("void *OrtGetApiBase()")() as Pointer | null;
    } catch (error) {
      fail(`${library} cannot be used as ONNX Runtime's library: ${messageOf(error)}`, {
        hint: reinstall,
        cause: error,
      });
    }
    if (base === null) fail(`${library} has no API`, { hint: reinstall });
    const [getApi, getVersion] = koffi.decode(base, "void *", 2) as [Pointer, Pointer];
    const api = koffi.call(getApi, prototype(koffi, "void *OrtGetApi(uint32_t)"), version) as Pointer | null;
    if (api === null) {
      const found = koffi.call(getVersion, prototype(koffi, "str OrtGetVersion()"));
      fail(`${library} is ONNX Runtime ${found}, which has no version ${version} of the C API`, { hint: reinstall });
    }
    return new OrtApi(koffi, opened, koffi.decode(api, "void *", TABLE_LENGTH) as Pointer[]);
  }

  /** Calls a function. @throws Error with ONNX Runtime's message; UserError if memory ran out. */
  check(name: Checked, ...args: readonly unknown[]): void {
    const [place, parameters] = CHECKED[name];
    const status = this.call(place, `void *Ort${name}(${parameters})`, args) as Pointer | null;
    if (status === null) return;
    const message = String(this.call(GET_ERROR_MESSAGE, "str OrtGetErrorMessage(void *)", [status]));
    this.release("ReleaseStatus", status);
    if (!NO_MEMORY.test(message)) throw new Error(message);
    fail(`the memory does not suffice: ${message}`, {
      hint: "Lower training.micro_batch or training.rollout_batch, turn training.gradient_checkpointing on, use a 4-bit base, or shorten prompt and response.",
    });
  }

  /** Calls a function whose last parameter returns a pointer. */
  pointer(name: Checked, ...args: readonly unknown[]): Pointer {
    const out: [Pointer | null] = [null];
    this.check(name, ...args, out);
    if (out[0] === null) throw new Error(`${name} returned nothing`);
    return out[0];
  }

  /** Calls a function whose last parameter returns a number. */
  number(name: Checked, ...args: readonly unknown[]): number {
    const out = [0];
    this.check(name, ...args, out);
    return Number(out[0]);
  }

  /** Calls a function that creates an object, and takes ownership of it. */
  make(name: Checked, release: Release, ...args: readonly unknown[]): Handle {
    return this.own(release, this.pointer(name, ...args));
  }

  /** Takes ownership of an object. */
  own(release: Release, pointer: Pointer): Handle {
    return new Handle(pointer, (address) => this.release(release, address));
  }

  /** Reads the dimensions of a tensor. */
  dimensions(info: Handle, rank: number): number[] {
    const out = new BigInt64Array(Math.max(1, rank));
    this.check("GetDimensions", info, out, rank);
    return Array.from(out.subarray(0, rank), Number);
  }

  /** Reads `count` pointers at an address. */
  pointers(address: Pointer, count: number): readonly Pointer[] {
    return this.koffi.decode(address, "void *", count) as Pointer[];
  }

  address(memory: ArrayBuffer): Pointer {
    return this.koffi.address(memory);
  }

  /** Copies host memory. */
  copy(address: Pointer, bytes: number): ArrayBuffer {
    return this.koffi.view(address, bytes).slice(0);
  }

  private release(name: Release, pointer: Pointer): void {
    this.call(RELEASES[name], `void Ort${name}(void *)`, [pointer]);
  }

  private call(place: number, definition: string, args: readonly unknown[]): unknown {
    const values = args.map((arg) => (arg instanceof Handle ? arg.pointer : arg));
    return this.koffi.call(this.table[place] as Pointer, prototype(this.koffi, definition), ...values);
  }
}
