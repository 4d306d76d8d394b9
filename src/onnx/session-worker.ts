/**
 * The thread that owns ONNX Runtime: its sessions, and the store of tensors that stay between runs.
 * A native run blocks its thread, so it must not be the main one (browser, progress, Ctrl-C live there).
 */
import { parentPort } from "node:worker_threads";
import type { InferenceSession, Tensor as OrtTensor } from "onnxruntime-node";
import { messageOf, nearest } from "../core/errors.js";
import type { DType } from "./types.js";

/** A tensor on its way between the threads: the buffer holds exactly its elements. */
export interface WireTensor {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly buffer: ArrayBuffer;
}

export type ProviderName = "cpu" | "cuda" | "webgpu";

export interface LoadCall {
  readonly kind: "load";
  readonly session: string;
  readonly provider: ProviderName;
  readonly threads: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly weightsDir: string | undefined;
  readonly prepack: boolean;
  readonly optimization: "all" | "basic" | "disabled" | "extended";
  readonly memPattern: boolean;
}

export interface RunCall {
  readonly kind: "run";
  readonly session: string;
  readonly feeds: Readonly<Record<string, WireTensor>>;
  /** Graph input -> store key. */
  readonly bind: Readonly<Record<string, string>>;
  /** Graph output -> store key. */
  readonly keep: Readonly<Record<string, string>>;
  /** Outputs to send back; undefined: all that are not kept. */
  readonly fetch: readonly string[] | undefined;
}

export type Call =
  | { readonly kind: "start" }
  | LoadCall
  | { readonly kind: "unload"; readonly session: string }
  | { readonly kind: "put"; readonly key: string; readonly tensor: WireTensor }
  | { readonly kind: "get"; readonly key: string }
  | { readonly kind: "drop"; readonly keys: readonly string[] }
  | RunCall
  | { readonly kind: "close" };

export interface Request {
  readonly id: number;
  readonly call: Call;
}

export type Tensors = Readonly<Record<string, WireTensor>>;

export type Reply =
  | { readonly id: number; readonly tensors: Tensors }
  | { readonly id: number; readonly error: string };

type Ort = typeof import("onnxruntime-node");

let ort: Ort | undefined;
const sessions = new Map<string, InferenceSession>();
const store = new Map<string, OrtTensor>();

const VIEWS = {
  float32: Float32Array,
  float64: Float64Array,
  float16: Uint16Array,
  int64: BigInt64Array,
  int32: Int32Array,
  int8: Int8Array,
  uint8: Uint8Array,
  uint32: Uint32Array,
  bool: Uint8Array,
} as const;

function isCarried(type: string): type is keyof typeof VIEWS {
  return Object.hasOwn(VIEWS, type);
}

function runtime(): Ort {
  if (ort === undefined) throw new Error("the worker was not started");
  return ort;
}

function toOrt(wire: WireTensor, what: string): OrtTensor {
  // bf16 has no tensor type in the Node API: it can only live inside a model
  if (!isCarried(wire.dtype)) throw new Error(`${what}: ONNX Runtime for Node cannot take ${wire.dtype} tensors`);
  return new (runtime().Tensor)(wire.dtype, new VIEWS[wire.dtype](wire.buffer), wire.shape);
}

/** @param mayTake nobody else uses the tensor, so its memory may be handed over instead of copied. */
function fromOrt(tensor: OrtTensor, what: string, mayTake: boolean): WireTensor {
  const { type, data } = tensor;
  if (!isCarried(type) || !ArrayBuffer.isView(data))
    throw new Error(`${what} is of type ${type}, which is not supported`);
  const owns = data.byteOffset === 0 && data.byteLength === data.buffer.byteLength;
  const buffer =
    mayTake && owns && data.buffer instanceof ArrayBuffer
      ? data.buffer
      : new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice().buffer;
  return { dtype: type, shape: [...tensor.dims], buffer: buffer as ArrayBuffer };
}

function sessionOf(name: string): InferenceSession {
  const session = sessions.get(name);
  if (session === undefined) throw new Error(`is not loaded (loaded: ${[...sessions.keys()].join(", ") || "none"})`);
  return session;
}

async function load(call: LoadCall): Promise<void> {
  if (sessions.has(call.session)) throw new Error("is loaded already; unload it first");
  const config: Record<string, unknown> = {
    intra_op: { allow_spinning: "0" },
    // masked scores become denormal weights, which some processors multiply a hundred times slower; ONNX Runtime heeds
    // this in the thread that creates a process's first session, and in its own threads
    set_denormal_as_zero: "1",
    disable_prepacking: call.prepack ? "0" : "1",
  };
  if (call.weightsDir !== undefined) config.model_external_initializers_file_folder_path = call.weightsDir;
  const session = await runtime().InferenceSession.create(call.bytes, {
    executionProviders: [call.provider],
    graphOptimizationLevel: call.optimization,
    intraOpNumThreads: call.threads,
    interOpNumThreads: 1,
    enableMemPattern: call.memPattern,
    logSeverityLevel: 3,
    extra: { session: config },
  });
  sessions.set(call.session, session);
}

function checkName(kind: "input" | "output", name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  const guess = nearest(name, known);
  throw new Error(
    `has no ${kind} "${name}"${guess === undefined ? "" : `, did you mean "${guess}"?`} (it has: ${known.join(", ")})`,
  );
}

/** Refuses a wrong dtype, rank, fixed dimension, or one symbol that stands for two sizes. */
function checkFeeds(session: InferenceSession, feeds: Readonly<Record<string, OrtTensor>>): void {
  const symbols = new Map<string, { size: number; input: string }>();
  for (const meta of session.inputMetadata) {
    const tensor = feeds[meta.name];
    if (tensor === undefined || !meta.isTensor) continue;
    const expected = `${meta.type} [${meta.shape.join(", ")}]`;
    const got = `${tensor.type} [${tensor.dims.join(", ")}]`;
    const refuse = (why: string): never => {
      throw new Error(`input "${meta.name}": expected ${expected}, got ${got}${why}`);
    };
    if (tensor.type !== meta.type) refuse("");
    // ONNX Runtime reports a scalar and an unknown rank alike, as []
    if (meta.shape.length === 0) continue;
    if (tensor.dims.length !== meta.shape.length) refuse("");
    for (const [axis, dim] of meta.shape.entries()) {
      const size = tensor.dims[axis] as number;
      if (typeof dim === "number") {
        if (dim !== size) refuse("");
      } else if (dim !== "" && dim !== undefined) {
        const bound = symbols.get(dim);
        if (bound === undefined) symbols.set(dim, { size, input: meta.name });
        else if (bound.size !== size) refuse(` (${dim} is ${bound.size} in input "${bound.input}")`);
      }
    }
  }
}

async function run(call: RunCall): Promise<Tensors> {
  const session = sessionOf(call.session);
  const feeds: Record<string, OrtTensor> = {};
  for (const [input, wire] of Object.entries(call.feeds)) {
    checkName("input", input, session.inputNames);
    feeds[input] = toOrt(wire, `input "${input}"`);
  }
  for (const [input, key] of Object.entries(call.bind)) {
    checkName("input", input, session.inputNames);
    if (feeds[input] !== undefined) throw new Error(`input "${input}" is both fed and bound`);
    const stored = store.get(key);
    if (stored === undefined) throw new Error(`input "${input}" is bound to "${key}", which is not in the store`);
    feeds[input] = stored;
  }
  for (const input of session.inputNames) {
    if (feeds[input] === undefined) throw new Error(`input "${input}" is neither fed nor bound`);
  }
  checkFeeds(session, feeds);

  const kept = Object.keys(call.keep);
  const fetched = call.fetch ?? session.outputNames.filter((name) => !kept.includes(name));
  for (const output of [...kept, ...fetched]) checkName("output", output, session.outputNames);
  const wanted = [...new Set([...kept, ...fetched])];
  if (wanted.length === 0) throw new Error("nothing to compute: no output is kept or fetched");

  const results = await session.run(feeds, wanted);
  const tensors: Record<string, WireTensor> = {};
  for (const name of fetched)
    tensors[name] = fromOrt(results[name] as OrtTensor, `output "${name}"`, !kept.includes(name));
  // only now: a run that fails leaves the store as it was
  for (const name of kept) store.set(call.keep[name] as string, results[name] as OrtTensor);
  return tensors;
}

async function handle(call: Call): Promise<Tensors> {
  switch (call.kind) {
    case "start": {
      const module = await import("onnxruntime-node");
      module.env.logLevel = "error";
      ort = module;
      return {};
    }
    case "load":
      await load(call);
      return {};
    case "unload":
      await sessionOf(call.session).release();
      sessions.delete(call.session);
      return {};
    case "put":
      store.set(call.key, toOrt(call.tensor, `"${call.key}"`));
      return {};
    case "get": {
      const tensor = store.get(call.key);
      if (tensor === undefined) throw new Error(`"${call.key}" is not in the store`);
      return { value: fromOrt(tensor, `"${call.key}"`, false) };
    }
    case "drop":
      for (const key of call.keys) store.delete(key);
      return {};
    case "run":
      return await run(call);
    case "close":
      for (const session of sessions.values()) await session.release();
      sessions.clear();
      store.clear();
      return {};
  }
}

function send(reply: Reply, port: NonNullable<typeof parentPort>): void {
  const buffers = "tensors" in reply ? [...new Set(Object.values(reply.tensors).map((tensor) => tensor.buffer))] : [];
  try {
    port.postMessage(reply, buffers);
  } catch (error) {
    // some native memory cannot change hands: then it is copied
    if (!(error instanceof DOMException) || error.name !== "DataCloneError") throw error;
    port.postMessage(reply);
  }
}

async function answer({ id, call }: Request, port: NonNullable<typeof parentPort>): Promise<void> {
  try {
    send({ id, tensors: await handle(call) }, port);
  } catch (error) {
    send({ id, error: messageOf(error) }, port);
  }
  if (call.kind === "close") port.close();
}

if (parentPort !== null) {
  const port = parentPort;
  let queue: Promise<void> = Promise.resolve();
  port.on("message", (request: Request) => {
    queue = queue.then(() => answer(request, port));
  });
}
