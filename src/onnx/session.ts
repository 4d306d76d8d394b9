import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { SHARE_ENV, Worker } from "node:worker_threads";
import { fail, messageOf, UserError } from "../core/errors.js";
import type { Logger } from "../core/log.js";
import { loadFolder } from "../core/registry.js";
import { encodeModel } from "./format/proto.js";
import type { Precision } from "./precision.js";
import { chooseProvider, type Probe, type ProviderRequest, type SelfCheck } from "./provider.js";
import { type BindingRequest, chooseBinding } from "./runtimes/choose.js";
import type { BindingName, Call, ProviderName, Reply, Tensors, WireTensor } from "./runtimes/messages.js";
import { ARRAYS, BYTES, type Graph, type Tensor, type TypedArray } from "./types.js";

export interface RuntimeOptions {
  /** `auto` (default) takes CUDA where it works, else the CPU. */
  readonly provider?: ProviderRequest;
  /** Binding to ONNX Runtime: `auto` (default) takes the C API for CUDA where koffi is installed, else npm's. */
  readonly binding?: BindingRequest;
  /** Default float32. */
  readonly precision?: Precision;
  /** Limit of device memory in bytes; default: all of it. For the C API alone. */
  readonly deviceMemory?: number;
  /** Graphs that a provider other than the CPU must compute correctly before it is used, besides a MatMul. */
  readonly checks?: readonly SelfCheck[];
  /** Threads inside one operator; default: the physical cores. */
  readonly threads?: number;
  readonly log?: Logger;
}

export interface LoadOptions {
  /** Lets ONNX Runtime copy weights into its own layout (default true). Off, sessions share one weight file's pages. */
  readonly prepack?: boolean;
  /** Graph optimization level, default `all`. */
  readonly optimization?: "all" | "basic" | "disabled" | "extended";
  /** Plans memory ahead (default true). Off lowers the peak of training graphs. */
  readonly memPattern?: boolean;
  /** Path for a JSON profile of every node's time and provider, written when the session is unloaded. */
  readonly profile?: string;
}

/** Rewrites a graph for the provider of its name. Each file under lowerings/ exports one as `lowering`. */
export type Lowering = (graph: Graph, precision: Precision) => Graph;

export interface RunRequest {
  /** Graph input -> tensor. Copied, never detached. */
  readonly feeds: Readonly<Record<string, Tensor>>;
  /** Graph input -> store key. */
  readonly bind?: Readonly<Record<string, string>>;
  /** Graph output -> store key, written once the run has succeeded. */
  readonly keep?: Readonly<Record<string, string>>;
  /** Outputs to return; default all that are not kept. Others are not computed, or stay in the worker. */
  readonly fetch?: readonly string[];
}

interface Pending {
  readonly label: string;
  readonly resolve: (tensors: Tensors) => void;
  readonly reject: (error: Error) => void;
}

/**
 * ONNX Runtime in a worker thread: named sessions, and a store of tensors (weights, adapters, optimizer moments) that
 * persist there between runs. Calls run in the order they were made. An idle runtime does not keep the process alive.
 */
export class Runtime {
  private readonly pending = new Map<number, Pending>();
  private readonly loaded = new Set<string>();
  private nextId = 0;
  /** Reason why calls are no longer possible. */
  private ended: Error | undefined;
  private closing = false;
  private chosen: { provider: ProviderName; reason: string } = { provider: "cpu", reason: "" };
  private readonly exited: Promise<void>;

  private constructor(
    private readonly worker: Worker,
    private readonly threads: number,
    /** The binding to ONNX Runtime. */
    readonly binding: BindingName,
    private readonly precision: Precision,
    private readonly lowerings: ReadonlyMap<string, Lowering>,
  ) {
    worker.unref();
    worker.on("message", (reply: Reply) => this.settle(reply));
    worker.on("error", (error) =>
      this.end(new Error(`The ONNX Runtime worker failed: ${messageOf(error)}`, { cause: error })),
    );
    this.exited = new Promise((resolve) => {
      worker.on("exit", (code) => {
        const message = this.closing
          ? "The runtime is closed"
          : `The ONNX Runtime worker ended unexpectedly (exit code ${code})`;
        this.end(new Error(message));
        resolve();
      });
    });
  }

  /** Starts the worker and chooses the provider. @throws UserError where a requested provider cannot be used. */
  static async open(options: RuntimeOptions = {}): Promise<Runtime> {
    const threads = options.threads ?? physicalCores();
    if (!Number.isInteger(threads) || threads < 1) fail(`threads must be a positive integer, got ${threads}`);
    const request = options.provider ?? "auto";
    const binding = await chooseBinding(options.binding ?? "auto", request);
    const lowerings = await loadFolder<Lowering>(new URL("./lowerings/", import.meta.url), "lowering");
    // execArgv: flags of the main program (--test, --eval, loaders) are not meant for the worker.
    // env: native code reads the process's own environment, which a thread with a copy of it cannot set.
    const worker = new Worker(new URL("./session-worker.js", import.meta.url), {
      execArgv: [],
      env: SHARE_ENV,
      name: "onnxruntime",
    });
    let runtime = new Runtime(worker, threads, binding, options.precision ?? "float32", lowerings);
    try {
      await runtime.start(options.deviceMemory);
      const probe: Probe = (provider, check) => runtime.probe(provider, check);
      runtime.chosen = await chooseProvider(request, probe, undefined, options.checks);
    } catch (error) {
      await runtime.close();
      throw error;
    }
    const settled = await chooseBinding(options.binding ?? "auto", runtime.provider);
    if (settled !== binding) {
      // CUDA proved unusable: the CPU has its own default binding
      const { chosen } = runtime;
      await runtime.close();
      runtime = await Runtime.open({ provider: chosen.provider, binding: settled, threads });
      runtime.chosen = chosen;
    }
    options.log?.info(
      { provider: runtime.provider, binding: runtime.binding, reason: runtime.providerReason, threads },
      "ONNX Runtime is ready",
    );
    return runtime;
  }

  /** The execution provider in use: cpu, cuda or webgpu. */
  get provider(): ProviderName {
    return this.chosen.provider;
  }

  /** Reason for the choice of provider, for logs and run records. */
  get providerReason(): string {
    return this.chosen.reason;
  }

  /**
   * Returns the keys of a page of PagedAttention, where this runtime has it for heads of a width: CUDA's fast kernel
   * takes pages of multiples of 256, and widths of multiples of 8 up to 256.
   */
  page(width: number): number | undefined {
    const isThere = this.provider === "cuda" && this.binding === "c-api" && this.precision !== "float32";
    return isThere && width % 8 === 0 && width <= 256 ? 256 : undefined;
  }

  /** Rewrites a graph for a provider and a precision, by default this runtime's. */
  lower(graph: Graph, provider = this.provider, precision = this.precision): Graph {
    return this.lowerings.get(provider)?.(graph, precision) ?? graph;
  }

  /** Serializes a graph for `load`, lowered for this runtime's provider. */
  encode(graph: Graph): Uint8Array {
    return encodeModel(this.lower(graph), true);
  }

  /** Creates a session. External weights are looked up in `weightsDir`. @throws Error with the session's name. */
  async load(
    session: string,
    model: { bytes: Uint8Array; weightsDir?: string },
    options: LoadOptions = {},
  ): Promise<void> {
    await this.loadOn(this.provider, session, model, options);
    this.loaded.add(session);
  }

  async unload(session: string): Promise<void> {
    await this.call(`session "${session}"`, { kind: "unload", session });
    this.loaded.delete(session);
  }

  has(session: string): boolean {
    return this.loaded.has(session);
  }

  /** Copies a tensor into the worker's store, replacing any tensor under that key. */
  async put(key: string, tensor: Tensor): Promise<void> {
    const wire = toWire(tensor, `put "${key}"`);
    await this.call("store", { kind: "put", key, tensor: wire }, [wire.buffer]);
  }

  /** Returns a copy of a stored tensor. */
  async get(key: string): Promise<Tensor> {
    const { value } = await this.call("store", { kind: "get", key });
    return fromWire(value as WireTensor);
  }

  /** Frees stored tensors; unknown keys are ignored. */
  async drop(keys: readonly string[]): Promise<void> {
    await this.call("store", { kind: "drop", keys });
  }

  /** Runs a session. @throws Error that names the session, and the input where one is missing or does not fit. */
  async run(session: string, request: RunRequest): Promise<Record<string, Tensor>> {
    const label = `session "${session}"`;
    const feeds: Record<string, WireTensor> = {};
    for (const [name, tensor] of Object.entries(request.feeds))
      feeds[name] = toWire(tensor, `${label}: input "${name}"`);
    const { bind = {}, keep = {}, fetch } = request;
    const tensors = await this.call(
      label,
      { kind: "run", session, feeds, bind, keep, fetch },
      Object.values(feeds).map((wire) => wire.buffer),
    );
    return Object.fromEntries(Object.entries(tensors).map(([name, wire]) => [name, fromWire(wire)]));
  }

  /** Ends the worker after the calls already made. Further calls are refused; closing twice is allowed. */
  async close(): Promise<void> {
    if (this.closing || this.ended !== undefined) {
      await this.exited;
      return;
    }
    const done = this.call("close", { kind: "close" });
    this.closing = true;
    this.worker.ref();
    await done.catch(() => undefined);
    await this.exited;
  }

  private async start(deviceMemory: number | undefined): Promise<void> {
    try {
      await this.call("ONNX Runtime", { kind: "start", binding: this.binding, deviceMemory });
    } catch (error) {
      if (error instanceof UserError) throw error;
      fail(`onnxruntime-node cannot be loaded: ${messageOf(error)}`, {
        hint: loadHint(process.platform, process.arch),
        cause: error,
      });
    }
  }

  /** Runs a self-check on one provider; returns its outputs by name. */
  private async probe(provider: ProviderName, { graph, feeds }: SelfCheck): Promise<Map<string, Float32Array>> {
    const session = `${graph.name} on ${provider}`;
    const bytes = encodeModel(this.lower(graph, provider, "float32"), true);
    await this.loadOn(provider, session, { bytes }, {});
    try {
      const outputs = Object.entries(await this.run(session, { feeds }));
      return new Map(
        outputs.map(([name, { data }]) => {
          if (!(data instanceof Float32Array)) throw new Error(`${session}: ${name} is no float32 tensor`);
          return [name, data];
        }),
      );
    } finally {
      await this.unload(session);
    }
  }

  private async loadOn(
    provider: ProviderName,
    session: string,
    model: { bytes: Uint8Array; weightsDir?: string },
    options: LoadOptions,
  ): Promise<void> {
    const bytes = copyOf(model.bytes);
    const call: Call = {
      kind: "load",
      session,
      provider,
      threads: this.threads,
      bytes,
      weightsDir: model.weightsDir,
      prepack: options.prepack ?? true,
      optimization: options.optimization ?? "all",
      memPattern: options.memPattern ?? true,
      profile: options.profile,
    };
    await this.call(`session "${session}"`, call, [bytes.buffer]);
  }

  private call(label: string, call: Call, transfer: readonly ArrayBuffer[] = []): Promise<Tensors> {
    if (this.ended !== undefined) return Promise.reject(new Error(`${label}: ${this.ended.message}`));
    if (this.closing) return Promise.reject(new Error(`${label}: The runtime is closed`));
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.worker.postMessage({ id, call }, transfer);
      this.pending.set(id, { label, resolve, reject });
      // an idle worker must not keep the process alive, a busy one must
      this.worker.ref();
    });
  }

  private settle(reply: Reply): void {
    const pending = this.pending.get(reply.id);
    if (pending === undefined) return;
    this.pending.delete(reply.id);
    if (this.pending.size === 0 && !this.closing) this.worker.unref();
    if (!("error" in reply)) pending.resolve(reply.tensors);
    else {
      const message = `${pending.label}: ${reply.error}`;
      pending.reject(reply.hint === undefined ? new Error(message) : new UserError(message, { hint: reply.hint }));
    }
  }

  private end(error: Error): void {
    this.ended ??= error;
    this.loaded.clear();
    for (const { label, reject } of this.pending.values())
      reject(new Error(`${label}: ${error.message}`, { cause: error }));
    this.pending.clear();
  }
}

function copyOf(data: TypedArray): Uint8Array<ArrayBuffer> {
  // not data.slice(): on a Buffer that is a view
  const copy = new Uint8Array(data.byteLength);
  copy.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return copy;
}

function toWire(tensor: Tensor, what: string): WireTensor {
  const { dtype, shape, data } = tensor;
  if (!(data instanceof ARRAYS[dtype])) {
    throw new Error(`${what}: a ${dtype} tensor wants a ${ARRAYS[dtype].name}, got ${data.constructor.name}`);
  }
  const elements = shape.reduce((product, dim) => product * dim, 1);
  if (elements * BYTES[dtype] !== data.byteLength) {
    throw new Error(`${what}: shape [${shape.join(", ")}] wants ${elements} elements, got ${data.length}`);
  }
  // a copy to transfer: the caller's array stays usable, and a small view does not drag its buffer along
  return { dtype, shape: [...shape], buffer: copyOf(data).buffer };
}

function fromWire(wire: WireTensor): Tensor {
  return { dtype: wire.dtype, shape: wire.shape, data: new ARRAYS[wire.dtype](wire.buffer) };
}

/** Returns what to do where ONNX Runtime cannot be loaded: its package has no binary for Intel Macs since 1.24. */
export const loadHint = (platform: string, arch: string): string =>
  platform === "darwin" && arch === "x64"
    ? "ONNX Runtime has none for Intel Macs since 1.24: use Docker (docs/cluster.md), or a Mac with Apple silicon."
    : "Install the packages again with `npm ci`, on Linux or Windows (x64 or arm64) or a Mac with Apple silicon.";

/** Counts physical cores. Hyper-threads share one vector unit: a second thread on it only adds waiting. */
function physicalCores(): number {
  const logical = availableParallelism();
  try {
    return readFileSync("/sys/devices/system/cpu/smt/active", "utf8").trim() === "1" ? Math.ceil(logical / 2) : logical;
  } catch {
    return logical;
  }
}
