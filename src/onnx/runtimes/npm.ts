import type { InferenceSession, Tensor as OrtTensor } from "onnxruntime-node";
import { ARRAYS, type DType } from "../types.js";
import type { Binding, Held, InputOf, Loaded, Results } from "./binding.js";
import { disableTelemetry, NOT_ON_CUDA } from "./library.js";
import type { LoadCall, WireTensor } from "./messages.js";

/** onnxruntime-node's own binding. Every output is copied to host memory. */

type Ort = typeof import("onnxruntime-node");

interface NpmTensor extends Held {
  readonly tensor: OrtTensor;
}

interface NpmSession extends Loaded {
  readonly session: InferenceSession;
  readonly profiled: boolean;
}

/** Tells whether the Node API has tensors of a type: bf16 can only occur inside a model. */
function isCarried(type: string): type is Exclude<DType, "bfloat16"> {
  return type !== "bfloat16" && Object.hasOwn(ARRAYS, type);
}

/** Required by graphs for CUDA (cuda.ts). */
const CUDA_OPTIMIZATION = { disable_specified_optimizers: NOT_ON_CUDA };

class NpmBinding implements Binding<NpmTensor, NpmSession> {
  constructor(private readonly ort: Ort) {}

  async load(call: LoadCall): Promise<NpmSession> {
    const config: Record<string, unknown> = {
      intra_op: { allow_spinning: "0" },
      // masked scores become denormal weights, which some processors multiply a hundred times slower; ONNX Runtime
      // applies this in the thread that creates a process's first session, and in its own threads
      set_denormal_as_zero: "1",
      disable_prepacking: call.prepack ? "0" : "1",
    };
    if (call.weightsDir !== undefined) config.model_external_initializers_file_folder_path = call.weightsDir;
    const session = await this.ort.InferenceSession.create(call.bytes, {
      executionProviders: [call.provider],
      graphOptimizationLevel: call.optimization,
      intraOpNumThreads: call.threads,
      interOpNumThreads: 1,
      enableMemPattern: call.memPattern,
      logSeverityLevel: 3,
      ...(call.profile === undefined ? {} : { enableProfiling: true, profileFilePrefix: call.profile }),
      extra: { session: config, ...(call.provider === "cuda" ? { optimization: CUDA_OPTIMIZATION } : {}) },
    });
    const inputs = session.inputMetadata.flatMap((meta): InputOf[] =>
      meta.isTensor ? [{ name: meta.name, dtype: meta.type, shape: meta.shape }] : [],
    );
    return { session, profiled: call.profile !== undefined, inputs, outputs: session.outputNames };
  }

  async release({ session, profiled }: NpmSession): Promise<void> {
    if (profiled) session.endProfiling();
    await session.release();
  }

  hold({ dtype, shape, buffer }: WireTensor, what: string): NpmTensor {
    if (!isCarried(dtype)) throw new Error(`${what}: ONNX Runtime for Node cannot take ${dtype} tensors`);
    return { dtype, shape, tensor: new this.ort.Tensor(dtype, new ARRAYS[dtype](buffer), shape) };
  }

  read({ tensor }: NpmTensor, what: string): WireTensor {
    return toWire(tensor, what, false);
  }

  free(): void {
    // freed by the garbage collector
  }

  async run(
    { session }: NpmSession,
    fed: ReadonlyMap<string, NpmTensor>,
    bound: ReadonlyMap<string, NpmTensor>,
    kept: readonly string[],
    fetched: readonly string[],
  ): Promise<Results<NpmTensor>> {
    const feeds = Object.fromEntries([...fed, ...bound].map(([name, { tensor }]) => [name, tensor]));
    const results = await session.run(feeds, [...new Set([...kept, ...fetched])]);
    const of = (name: string): OrtTensor => results[name] as OrtTensor;
    return {
      fetched: Object.fromEntries(
        fetched.map((name) => [name, toWire(of(name), `output "${name}"`, !kept.includes(name))]),
      ),
      kept: new Map(
        kept.map((name) => {
          const tensor = of(name);
          return [name, { dtype: tensor.type as DType, shape: tensor.dims, tensor }];
        }),
      ),
    };
  }

  close(): void {
    // the library stays loaded in the process
  }
}

/** @param mayTake set where the tensor has no other user, so that its memory may be transferred instead of copied. */
function toWire(tensor: OrtTensor, what: string, mayTake: boolean): WireTensor {
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

/** Opens ONNX Runtime through the package onnxruntime-node. */
export async function openNpmBinding(): Promise<NpmBinding> {
  // Node 24 and newer have Float16Array, in which the JavaScript side wraps float16 data that the native binding reads
  // as empty. Without it in this thread, half floats are passed as Uint16Array, as before.
  Reflect.deleteProperty(globalThis, "Float16Array");
  disableTelemetry();
  const ort = await import("onnxruntime-node");
  ort.env.logLevel = "error";
  return new NpmBinding(ort);
}
